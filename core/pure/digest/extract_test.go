package digest_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"appserver/core/pure/digest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// work returns a stretch with something for every section.
func work() []protocol.ResponseItem {
	return []protocol.ResponseItem{
		user("<environment_context>x"),
		user("Fix the parser.\nNever touch the lexer."),
		assistant("We will use a table instead of a switch."),
		shell("a", "go test ./..."), answer("a", "Exit code: 1\n"),
		custom("b", "apply_patch", patch),
		user("Now the docs."),
		assistant("The docs are\nwritten. Shall I push?"),
	}
}

func TestExtractHasASectionForEachKindOfFact(t *testing.T) {
	require.Equal(t, `Before: a lexer was written.

4 messages and 2 tool calls were left out.

Requests:
- Fix the parser. Never touch the lexer.
- Now the docs.

Rules of the user:
- Never touch the lexer.

Decisions:
- We will use a table instead of a switch.

Commands that failed:
- go test ./... (exit 1)

Files changed:
- new.go
- dir/old.go
- dir/moved.go
- gone.go

Open questions:
- Shall I push?

State:
- The docs are written. Shall I push?`, digest.Extract("Before: a lexer was written.\n", work(), 4000))
}

func TestExtractDoesNotSayTwiceWhatLasts(t *testing.T) {
	first := digest.Extract("", work(), 4000)
	second := digest.Extract(first, work(), 4000)
	require.True(t, strings.HasPrefix(second, first))
	require.Equal(t, 1, strings.Count(second, "- dir/old.go"))
	require.Equal(t, 1, strings.Count(second, "- Never touch"))
	require.Equal(t, 2, strings.Count(second, "- Now the docs."), "requests are of their time")
}

func TestExtractIsNeverEmptyForItems(t *testing.T) {
	require.Equal(t, "0 messages and 1 tool call were left out.",
		digest.Extract("", []protocol.ResponseItem{function("a", "x", "")}, 100))
	require.Equal(t, "1 message and 0 tool calls were left out.\n\nState:\n- Hi",
		digest.Extract("", []protocol.ResponseItem{assistant("Hi")}, 100))
	require.Empty(t, digest.Extract("", nil, 100))
	require.Equal(t, "former", digest.Extract("former", nil, 100))
	require.Empty(t, digest.Extract("former", work(), 0))
	require.Equal(t, "4", digest.Extract("", work(), 1))
}

func TestExtractKeepsConstraintsLongest(t *testing.T) {
	items := []protocol.ResponseItem{}
	for i := range 30 {
		items = append(items, user(numbered("Do the step ", i)), shell("", numbered("make ", i)),
			assistant(numbered("Decided on ", i)))
	}
	items = append(items, user("Never push."))
	last := 0
	for limit := 1; limit < 3000; limit += 7 {
		text := digest.Extract("", items, limit)
		if strings.Contains(text, "Requests:") || strings.Contains(text, "Other commands:") ||
			strings.Contains(text, "Decisions:") {
			require.Contains(t, text, "Rules of the user:\n- Never push.", "%d bytes", limit)
			last++
		}
	}
	require.Positive(t, last)
}

func TestExtractLosesTheOldestOfASectionFirst(t *testing.T) {
	items := []protocol.ResponseItem{}
	for i := range 100 {
		items = append(items, user(numbered("step ", i)), shell("", numbered("make ", i)))
	}
	text := digest.Extract("", items, 600)
	require.Contains(t, text, "- step 99\n")
	require.Contains(t, text, "- make 99")
	require.NotContains(t, text, "- step 1\n")
	require.Regexp(t, `Requests:\n- \[… \d+ earlier left out …\]\n- step`, text)
	require.Regexp(t, `Other commands:\n- \[… \d+ earlier left out …\]\n- make`, text)
	requests, commands := strings.Count(text, "- step"), strings.Count(text, "- make")
	require.Greater(t, requests, commands, "they share the room by their weights")
	require.Greater(t, commands, 5)
}

func TestExtractCutsTheFormerSummaryWithAMark(t *testing.T) {
	former := strings.Repeat("The first half of it.\n", 100) + strings.Repeat("The other half.\n", 100)
	var items []protocol.ResponseItem
	for i := range 200 {
		items = append(items, user(numbered("a request of some length, number ", i)))
	}
	text := digest.Extract(former, items, 2000)
	require.True(t, strings.HasPrefix(text, "The first half of it.\n"))
	require.Regexp(t, `it\.\n\[… \d+ bytes left out …\]\nThe other half`, text)
	kept, _, _ := strings.Cut(text, "messages and")
	require.Greater(t, len(kept), 800, "half of the limit, but for the mark and lines that are whole")
	again := digest.Extract(text, items, 2000)
	require.Equal(t, 1, strings.Count(again, "bytes left out"), "marks are joined")
	require.True(t, strings.HasPrefix(again, kept[:400]), "the beginning lasts")
}

func TestExtractCountsEarlierOmissions(t *testing.T) {
	former := strings.Repeat("a", 500) + "\n[… 1000 bytes left out …]\n" + strings.Repeat("b", 500)
	text := digest.Extract(former, nil, 200)
	head, rest, _ := strings.Cut(text, "\n[… ")
	number, tail, _ := strings.Cut(rest, " bytes left out …]\n")
	require.Equal(t, fmt.Sprint(2000-len(head)-len(tail)), number)
}

// What a summary says is still in the one that came twenty rounds later, where there
// is room for all.
func TestExtractKeepsTheFormerSummaryOverManyRounds(t *testing.T) {
	former := "The task: port the tokenizer."
	for round := range 20 {
		text := digest.Extract(former,
			[]protocol.ResponseItem{user(numbered("request", round)), assistant(numbered("answer", round))}, 8000)
		for _, word := range strings.Fields(former) {
			require.Contains(t, text, word)
		}
		former = text
	}
	for round := range 20 {
		require.Contains(t, former, numbered("request", round))
		require.Contains(t, former, numbered("answer", round))
	}
}

// Without room for all, the beginning lasts.
func TestExtractKeepsTheBeginningOverManyRoundsWithoutRoom(t *testing.T) {
	former := "The task: port the tokenizer."
	for round := range 50 {
		former = digest.Extract(former, []protocol.ResponseItem{
			user(numbered("do the next long step of the work, number ", round)), assistant(strings.Repeat("It is done. ", 30)),
		}, 1200)
		require.LessOrEqual(t, len(former), 1200)
		require.True(t, strings.HasPrefix(former, "The task: port the tokenizer."), former)
		require.Contains(t, former, numbered("number ", round))
		require.LessOrEqual(t, strings.Count(former, "bytes left out"), 1, former)
	}
}

func TestExtractKeepsItsLimit(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		former, items := text().Draw(t, "former"), stretch().Draw(t, "items")
		limit := rapid.IntRange(-1, 1500).Draw(t, "limit")
		found := digest.Extract(former, items, limit)
		require.LessOrEqual(t, len(found), max(0, limit))
		require.True(t, utf8.ValidString(found), "%q", found)
		require.Equal(t, found, digest.Extract(former, items, limit), "the same again")
		require.True(t, found != "" || limit <= 0 || len(items) == 0 || limit < 4, "empty at %d bytes", limit)
	})
}

func TestEarlierPrefersTheNewestAndTheFirst(t *testing.T) {
	messages := []string{"one\nand a half", "<environment_context>", "", "two", "three", "four"}
	messages = append(messages, strings.Repeat("five ", 8))
	for limit, want := range map[int]string{
		1000: "\n- one and a half\n- two\n- three\n- four\n- five five five five five five five five",
		98:   "\n- one and a half\n- two\n- three\n- four\n- five five five five five five five five",
		97:   "\n- one and a half\n[… 3 left out …]\n- five five five five five five five…",
		70:   "\n[… 3 left out …]\n- four\n- five five five…",
		50:   "\n[… 4 left out …]\n- fi…",
		40:   "\n- five five five f…",
		28:   "\n- five…",
	} {
		require.Equal(t, "Previous requests:"+want, digest.Earlier(messages, limit), limit)
	}
	for limit := -1; limit < 28; limit++ {
		require.Empty(t, digest.Earlier(messages, limit))
	}
	require.Empty(t, digest.Earlier(nil, 100))
	require.Empty(t, digest.Earlier([]string{" ", "<turn_aborted>", "<skill>"}, 100))
}

func TestEarlierCountsMissingOnes(t *testing.T) {
	var messages []string
	for i := range 100 {
		messages = append(messages, numbered("request ", i))
	}
	require.Equal(t, "Previous requests:\n- request 0\n[… 96 left out …]\n- request 97\n- request 98\n- request 99",
		digest.Earlier(messages, 100))
	messages[99] = strings.Repeat("long ", 30)
	found := digest.Earlier(messages, 200)
	require.Contains(t, found, "long long")
	require.Contains(t, found, "request 0")
}

func TestEarlierKeepsItsLimit(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		messages := rapid.SliceOfN(text(), 0, 20).Draw(t, "messages")
		limit := rapid.IntRange(-1, 1000).Draw(t, "limit")
		found := digest.Earlier(messages, limit)
		require.LessOrEqual(t, len(found), max(0, limit))
		require.True(t, utf8.ValidString(found))
	})
}
