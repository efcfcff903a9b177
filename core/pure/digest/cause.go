package digest

import (
	"strings"

	"github.com/tidwall/gjson"

	"appserver/platform/pattern"
)

// causeLimit is the length of the cause of a failure, in bytes.
const causeLimit = 200

// causeScan is the length of each end of an output that is searched for a cause, in bytes.
const causeScan = 256 << 10

// errorLine matches a line that reports an error: a failed test, an error or a panic with its message, an
// assertion, or a message with its file and line.
var errorLine = pattern.New(`\bFAIL(ED|URE)?\b|\b([Ee]rror|ERROR|[Ff]atal|FATAL|panic|PANIC)(\[\w+\])?:|` +
	`\b\w*(Error|Exception)\b: |\bpanicked at\b|\bundefined\b|\bcommand not found\b|^E  +\S|^not ok\b|` +
	`^\S*[^\s:]:\d+(:\d+)?: |^\s+\S+\.\w+:\d+: `)

const traceback = "Traceback (most recent call last)"

// causeIn returns the cause of a failure from the output that reports it: the last line of the first traceback, the
// first line that reports an error, or else the last line. It is "" if the output has none.
func causeIn(output string) string { return causeOf(bodyOf(output), causeScan) }

// causeOf does the same as causeIn, for the output of a command without its head. It searches scan bytes of each end.
func causeOf(body string, scan int) string {
	within, lastLine := false, ""
	for line := range strings.Lines(searched(body, scan)) {
		plain := strings.TrimSpace(line)
		switch {
		case plain == "":
		case strings.HasPrefix(plain, traceback):
			within = true
		case within && line[0] != ' ' && line[0] != '\t', !within && errorLine().MatchString(line):
			return headLine(plain, causeLimit)
		}
		if plain != "" {
			lastLine = plain
		}
	}
	return headLine(lastLine, causeLimit)
}

// searched returns the parts of a long text that are searched.
func searched(text string, scan int) string {
	if len(text) <= 2*scan {
		return text
	}
	return text[:scan] + "\n" + text[len(text)-scan:]
}

// bodyOf returns the output of a command, without the lines that report its exit code.
func bodyOf(output string) string {
	if strings.HasPrefix(output, "{") {
		return gjson.Get(output, "output").String()
	}
	head := output[:min(len(output), outputHead)]
	if at := strings.Index(head, "\nOutput:"); at >= 0 {
		return output[at+len("\nOutput:"):]
	}
	for _, f := range failures {
		if strings.HasPrefix(output, f.prefix) {
			_, rest, _ := strings.Cut(output, "\n")
			return rest
		}
	}
	for strings.HasPrefix(output, "Exit code: ") || strings.HasPrefix(output, "Wall time: ") {
		_, output, _ = strings.Cut(output, "\n")
	}
	return output
}
