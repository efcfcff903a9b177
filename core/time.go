package core

import "time"

// parseTime parses a timestamp of a rollout. It returns the zero time for an invalid one.
func parseTime(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}

// Timestamp returns a time in the format of rollouts.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
