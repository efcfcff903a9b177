package digest

// outcomeOf returns the outcome that an output reports: its exit code, or how it failed, with the cause of a
// failure. It is "" if the output reports none.
func outcomeOf(output string) string {
	how := failure(output)
	switch {
	case how == "" && reportedExit(output) != "":
		return "exit 0"
	case how == "" || how == notRun:
		return how
	}
	if cause := causeIn(output); cause != "" {
		how += ": " + cause
	}
	return how
}
