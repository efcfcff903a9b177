package digest_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"appserver/core/pure/digest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

func TestTranscriptHasAllThatFits(t *testing.T) {
	items := []protocol.ResponseItem{
		user("<environment_context>x"), said(protocol.RoleDeveloper, "Be brief."), user("Fix it."),
		item(&protocol.Reasoning{Summary: []protocol.ReasoningText{{Text: "Look first."}}}), item(&protocol.Reasoning{}),
		shell("a", "go test ./..."), answer("a", "ok"),
		function("b", "update_plan", `{"plan":[]}`), shell("c", "ls"), answer("b", "Plan updated"), answer("c", "a.go"),
		answer("x", "stray"),
		custom("d", "lookup", ""), item(&protocol.Unknown{Tag: "web_search", Raw: json.RawMessage(`{"q":1}`)}),
		item(&protocol.Message{Role: protocol.RoleAssistant, Content: []protocol.ContentItem{
			{Type: protocol.ContentOutputText, Text: "Done."}, {Type: protocol.ContentInputImage, ImageURL: "data:"}}}),
		item(nil),
	}
	require.Equal(t, `## Surroundings
<environment_context>x

## developer
Be brief.

## User
Fix it.

## Reasoning
Look first.

shell: go test ./...

Output:
ok

update_plan: {"plan":[]}

shell: ls

Output of update_plan: {"plan":[]}
Plan updated

Output of shell: ls
a.go

Output:
stray

lookup: 

## web_search
{"q":1}

## Assistant
Done.
[image]`, digest.Transcript(items, 1000))
}

func TestTranscriptShortensTheLongestOutputsFirst(t *testing.T) {
	long, longer := strings.Repeat("a", 3000), strings.Repeat("b", 9000)
	items := []protocol.ResponseItem{
		user(strings.Repeat("u", 1000)), assistant(strings.Repeat("x", 1000)), answer("b", longer), answer("a", long),
		answer("c", "short"),
	}
	text := digest.Transcript(items, 9000)
	require.Contains(t, text, strings.Repeat("u", 1000))
	require.Contains(t, text, strings.Repeat("x", 1000))
	require.Contains(t, text, long, "the longest one alone has to give")
	require.Regexp(t, `b{1000,}\n\[… \d+ bytes left out …\]\nb{1000,}`, text)
	require.Greater(t, len(text), 8900, "no more than needed is left out")

	text = digest.Transcript(items, 5000)
	require.InDelta(t, strings.Count(text, "a"), 2*strings.Count(text, "b"), 100, "by their places")
	require.Contains(t, text, "short")
	require.Greater(t, len(text), 4900)
}

func TestTranscriptShortensOldOutputsBeforeRecentOnes(t *testing.T) {
	var items []protocol.ResponseItem
	for i := range 20 {
		id := numbered("call", i)
		items = append(items, shell(id, numbered("make ", i)), answer(id, strings.Repeat(string(rune('a'+i)), 1000)))
	}
	shown := func(limit int) (sizes []int) {
		text := digest.Transcript(items, limit)
		for i := range 20 {
			letter := string(rune('a' + i))
			sizes = append(sizes, strings.Count(text, letter+letter+letter)*3)
		}
		return sizes
	}
	for _, limit := range []int{18_000, 12_000, 8_000} {
		sizes := shown(limit)
		require.IsNonDecreasing(t, sizes, limit)
		require.Less(t, sizes[0], sizes[19], limit)
	}
	require.Greater(t, shown(18_000)[19], 990, "a recent output is whole")
	require.Greater(t, shown(12_000)[19], 900)
}

func TestTranscriptKeepsTheOutcomeOfACall(t *testing.T) {
	items := []protocol.ResponseItem{
		shell("a", "go test ./..."), answer("a", "Exit code: 1\nWall time: 1.0 seconds\nOutput:\n"+strings.Repeat("=== RUN x\n", 300)+
			"a_test.go:7: want 3, got 4\n"+strings.Repeat("=== RUN x\n", 300)),
		shell("b", "make"), answer("b", "Exit code: 0\nWall time: 1.0 seconds\nOutput:\n"+strings.Repeat("line\n", 900)),
		shell("c", "make all"), answer("c", "The command was ended: it took longer than its timeout.\n"+strings.Repeat("line\n", 900)),
		answer("d", strings.Repeat("no outcome ", 100)),
	}
	for _, limit := range []int{10_000, 3_000, 1_500, 400} {
		text := digest.Transcript(items, limit)
		require.Contains(t, text, "[exit 1: a_test.go:7: want 3, got 4]\n", limit)
		require.Contains(t, text, "[exit 0]\n", limit)
		require.Contains(t, text, "[timed out: line]\n", limit)
		require.LessOrEqual(t, len(text), limit)
	}
	require.NotContains(t, digest.Transcript(items, 40_000), "[exit", "a whole output has its exit code")
}

func TestTranscriptShortensTheUsersWordsLast(t *testing.T) {
	items := []protocol.ResponseItem{
		user(strings.Repeat("u", 1000)), assistant(strings.Repeat("x", 1000)), shell("a", strings.Repeat("s", 1000)),
		answer("a", strings.Repeat("o", 1000)),
	}
	whole := func(limit int) (kept string) {
		text := digest.Transcript(items, limit)
		for _, letter := range []string{"u", "x", "s", "o"} {
			if strings.Contains(text, strings.Repeat(letter, 1000)) {
				kept += letter
			}
		}
		return kept
	}
	require.Equal(t, "uxso", whole(4200))
	require.Equal(t, "uxs", whole(3500))
	require.Equal(t, "ux", whole(2800))
	require.Equal(t, "u", whole(2000))
	require.Equal(t, "", whole(1000))
}

func TestTranscriptDropsTheOldestButForTheUsersWords(t *testing.T) {
	var items []protocol.ResponseItem
	for i := range 100 {
		items = append(items, user(numbered("request ", i)), shell("", numbered("make ", i)),
			answer("", strings.Repeat("o", 300)))
	}
	text := digest.Transcript(items, 5000)
	require.Regexp(t, `^\[… \d+ older items left out …\]\n\n## User\nrequest 0\n\n## User\nrequest 1\n`, text)
	require.Equal(t, 100, strings.Count(text, "## User"))
	require.Contains(t, text, "make 99")
	require.NotContains(t, text, "make 0\n")

	text = digest.Transcript(items, 300)
	require.NotContains(t, text, "make")
	require.Contains(t, text, "request 99")
	require.NotContains(t, text, "request 0\n")
}

func TestTranscriptCutsBetweenCharacters(t *testing.T) {
	for _, character := range []string{"é", "e\u0301\u0302", "👩‍👩‍👧", "👍🏽", "字"} {
		for limit := 200; limit < 260; limit++ {
			text := digest.Transcript([]protocol.ResponseItem{answer("a", strings.Repeat(character, 500))}, limit)
			head, rest, cut := strings.Cut(strings.TrimPrefix(text, "Output:\n"), "\n[…")
			require.True(t, cut)
			_, tail, _ := strings.Cut(rest, "…]\n")
			require.Empty(t, strings.ReplaceAll(head, character, ""), "%q at %d", head, limit)
			require.Empty(t, strings.ReplaceAll(tail, character, ""), "%q at %d", tail, limit)
		}
	}
}

func requireTranscript(t require.TestingT, items []protocol.ResponseItem, limit int) {
	text := digest.Transcript(items, limit)
	require.LessOrEqual(t, len(text), max(0, limit))
	require.True(t, utf8.ValidString(text), "%q", text)
	require.Equal(t, text, digest.Transcript(items, limit), "the same again")
}

func TestTranscriptKeepsItsLimit(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		requireTranscript(t, stretch().Draw(t, "items"), rapid.IntRange(-1, 3000).Draw(t, "limit"))
	})
}

func TestTranscriptOfManyShortItemsKeepsItsLimit(t *testing.T) {
	items := make([]protocol.ResponseItem, 0, 3000)
	for range 1000 {
		items = append(items, shell("a", "ls"), answer("a", "b"), assistant("c"))
	}
	requireTranscript(t, items, 500)
	require.Contains(t, digest.Transcript(items, 500), "[… 29")
}

func FuzzTranscript(f *testing.F) {
	f.Add("Fix it.", "ls", `{"command":"ls"}`, "Exit code: 0\nOutput:\na", 200)
	f.Add(strings.Repeat("👩‍👩‍👧", 100), "\xff\xfe", `{"command":["bash","-lc","x"]}`, strings.Repeat("e\u0301", 500), 777)
	f.Add("", "", "", "", -1)
	f.Fuzz(func(t *testing.T, words, script, arguments, output string, limit int) {
		items := []protocol.ResponseItem{
			user(words), assistant(words), shell("a", script), answer("a", output), function("b", words, arguments),
			answer("b", script), user(output), item(&protocol.Unknown{Tag: words, Raw: json.RawMessage(output)}),
		}
		requireTranscript(t, items, limit)
		found := digest.Extract(script, items, limit)
		require.LessOrEqual(t, len(found), max(0, limit))
		require.True(t, utf8.ValidString(found))
		require.LessOrEqual(t, len(digest.Earlier([]string{words, output}, limit)), max(0, limit))
	})
}
