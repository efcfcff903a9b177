package digest

import "strings"

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

// Outcome returns the outcome that an output reports, as "exit 1: a.go:3: undefined: x", or "".
func Outcome(output string) string { return outcomeOf(output) }

// OnlyOutcome returns an output that reports the outcome of another one and has nothing else, or "" if that one
// reports none.
func OnlyOutcome(output string) string {
	head := ""
	switch digits := reportedExit(output); {
	case digits != "":
		head = "Exit code: " + digits
	case failure(output) == "":
		return ""
	default:
		head, _, _ = strings.Cut(output[:min(len(output), outputHead)], "\nOutput:")
		if !terminalKilled(output) {
			head, _, _ = strings.Cut(head, "\n")
		}
	}
	if how := failure(output); how != "" && how != notRun {
		return head + "\nOutput:\n" + causeIn(output)
	}
	return head
}
