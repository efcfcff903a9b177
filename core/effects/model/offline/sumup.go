package offline

import (
	"fmt"
	"strings"

	"appserver/platform/excerpt"
)

// Bounds of an offline summary: how many of the user's messages it quotes, the newest, and
// how much of each, in runes.
const (
	summedMessages = 20
	summedRunes    = 200
)

// sumUp returns the offline summary of a compaction's transcript: the former summary, the number of
// messages, and the first lines of the user's messages.
func sumUp(transcript string) *Step {
	former, rest, found := strings.Cut(transcript, "\n\n# Conversation\n\n")
	if !found {
		former, rest = "", transcript
	}
	_, former, _ = strings.Cut(former, "\n\n") // without its heading
	said := openings(rest, "## User\n")
	var b strings.Builder
	if former != "" {
		b.WriteString(former + "\n\n")
	}
	fmt.Fprintf(&b, "The offline provider sums up %d messages of the user and %d answers.", len(said),
		len(openings(rest, "## Assistant\n")))
	for _, line := range said[max(len(said)-summedMessages, 0):] {
		b.WriteString("\n- " + line)
	}
	return &Step{Text: b.String()}
}

// openings returns the first lines of the passages under a heading.
func openings(transcript, heading string) (lines []string) {
	for _, passage := range strings.Split("\n"+transcript, "\n"+heading)[1:] {
		line, _, _ := strings.Cut(strings.TrimSpace(passage), "\n")
		lines = append(lines, excerpt.FirstRunes(line, summedRunes))
	}
	return lines
}
