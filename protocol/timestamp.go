package protocol

import "time"

// Timestamp returns a time in the format of rollouts: RFC 3339 in UTC with milliseconds.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ParseTimestamp parses a timestamp of a rollout. It returns the zero time for an invalid one.
func ParseTimestamp(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return at
}
