package core_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// conversation returns a thread with messages of the user, and "ok" of the agent after each.
func conversation(t *testing.T, texts ...string) *machine {
	m := newMachine(t.Errorf)
	lines := []string{`start`}
	for _, text := range texts {
		lines = append(lines, fmt.Sprintf("turn-start %q", text), `piece text "ok"`, `sample-done`)
	}
	for _, line := range lines {
		_, err := runBlock(m, line)
		require.NoError(t, err, line)
	}
	return m
}

// found returns the matches with their snippets, page by page.
func found(t *testing.T, m *machine, term string, limit uint32) (all []string) {
	in := core.SearchOccurrences{To: m.caller(), Term: term, Limit: &limit}
	for {
		page := asked[protocol.ThreadSearchOccurrencesResponse](t, m, in)
		require.LessOrEqual(t, len(page.Data), int(limit))
		for _, o := range page.Data {
			units := utf16.Encode([]rune(o.Snippet))
			match := string(utf16.Decode(units[o.SnippetMatchRange.Start:o.SnippetMatchRange.End]))
			all = append(all, match+" in "+o.Snippet)
			turns := asked[protocol.ThreadTurnsListResponse](t, m, core.ListTurns{To: m.caller(), Cursor: &o.TurnCursor})
			require.Equal(t, o.TurnID, turns.Data[0].ID)
		}
		if page.NextCursor == nil {
			return all
		}
		in.To, in.Cursor = m.caller(), page.NextCursor
	}
}

// TestOccurrences expects the snippets of the reference implementation.
func TestOccurrences(t *testing.T) {
	var count strings.Builder
	for i := range 100 {
		fmt.Fprintf(&count, "%03d|", i)
	}
	m := conversation(t,
		count.String()+"NEEDLE"+count.String(),
		"aa\nbb  \t cc\n\nXNL dd",
		count.String()+"é😀é😀FFF😀",
		"STRASSE Straße, aaaa",
	)
	for term, want := range map[string][]string{
		"needle":  {"NEEDLE in ... |088|089|090|091|092|093|094|095|096|097|098|099|NEEDLE000|001|002|003|004|005|006|007|008|009|010|011|012|013|014|015|016|017|018|019|020|021|022|023| ..."},
		"xnl":     {"XNL in aa\nbb  \t cc\n\nXNL dd"},
		"C\n":     {"c\n in aa\nbb  \t cc\n\nXNL dd"},
		"fff":     {"FFF in ... |089|090|091|092|093|094|095|096|097|098|099|é😀é😀FFF😀"},
		"strasse": {"STRASSE in STRASSE Straße, aaaa", "Straße in STRASSE Straße, aaaa"},
		"AA":      {"aa in aa\nbb  \t cc\n\nXNL dd", "aa in STRASSE Straße, aaaa", "aa in STRASSE Straße, aaaa"},
		"ok":      {"ok in ok", "ok in ok", "ok in ok", "ok in ok"},
		"absent":  nil,
	} {
		for _, limit := range []uint32{1, 2, 250} {
			require.Equal(t, want, found(t, m, term, limit), "%s, %d a page", term, limit)
		}
	}
	require.Len(t, asked[protocol.ThreadSearchOccurrencesResponse](t, m,
		core.SearchOccurrences{To: m.caller(), Term: "0"}).Data, 50)
}

func TestCursorsOfOccurrencesAreForOneText(t *testing.T) {
	m := conversation(t, "one one one")
	limit := uint32(1)
	next := asked[protocol.ThreadSearchOccurrencesResponse](t, m,
		core.SearchOccurrences{To: m.caller(), Term: "one", Limit: &limit}).NextCursor
	junk := "junk"
	for _, in := range []core.SearchOccurrences{{Term: "on", Cursor: next}, {Term: "one", Cursor: &junk}} {
		in.To = m.caller()
		require.IsType(t, core.Refusal{}, m.take(in).Messages[0])
	}
}
