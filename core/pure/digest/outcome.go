package digest

import (
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

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

// failures are the beginnings of outputs that report a failure without an exit code.
var failures = []struct{ prefix, failure string }{
	{"The command was ended: it took longer", "timed out"},
	{"The command did not finish", "did not finish"},
	{"The user declined this command", notRun},
	{"The user declined this patch", notRun},
	{"The patch was not applied", notRun},
	{"apply_patch verification failed", notRun},
	{"This command was not run", notRun},
}

const notRun = "not run"

// failure returns the failure that an output reports, such as "exit 1", or "".
func failure(output string) string {
	for _, f := range failures {
		if strings.HasPrefix(output, f.prefix) {
			return f.failure
		}
	}
	if code := exitCode(output); code != 0 && code >= math.MinInt32 && code <= math.MaxInt32 {
		return "exit " + strconv.Itoa(code)
	}
	if terminalKilled(output) {
		return "did not finish"
	}
	return ""
}

// terminalKilled reports whether an output of a terminal reports that its command ended without an exit code.
func terminalKilled(output string) bool {
	head, _, found := strings.Cut(output[:min(len(output), outputHead)], "\nOutput:")
	return found && strings.HasPrefix(head, "Wall time: ") && strings.Contains(head, "\nProcess ended: ")
}

// outputHead is the part of an output in which other programs report the exit code, in bytes.
const outputHead = 400

// exitCode returns the exit code that an output reports, or 0.
func exitCode(output string) int {
	code, _ := strconv.Atoi(reportedExit(output)) // 0 where it is no number
	return code
}

// reportedExit returns the digits of the exit code in the head of an output, or in its metadata if it is JSON, as
// other programs write it. It returns "" if there is none.
func reportedExit(output string) string {
	if strings.HasPrefix(output, "{") {
		return gjson.Get(output, "metadata.exit_code").Raw
	}
	head, _, _ := strings.Cut(output[:min(len(output), outputHead)], "\nOutput:")
	for line := range strings.Lines(head) {
		for _, prefix := range []string{"Exit code: ", "Process exited with code "} {
			if digits, ok := strings.CutPrefix(line, prefix); ok {
				return strings.TrimSpace(digits)
			}
		}
	}
	return ""
}
