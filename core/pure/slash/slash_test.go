package slash_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/slash"
	"appserver/protocol"
)

const thread = "0190a6f8-1111-7aaa-8bbb-00000000000a"

// methods returns the types of the params of every method.
func methods() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, m := range protocol.Methods() {
		types[m.Name] = m.Params
	}
	return types
}

func TestEveryCommandHasAMethod(t *testing.T) {
	seen, types := map[string]bool{}, methods()
	for _, c := range slash.Commands() {
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		require.NotEmpty(t, c.Description)
		text := strings.NewReplacer("[N]", "3", "CATEGORY", "reasoning").Replace(c.Usage)
		typed, found := slash.Find(text)
		require.True(t, found, text)
		require.Equal(t, c.SlashCommand, typed.SlashCommand)
		params, err := typed.Params(thread)
		require.NoError(t, err, text)
		require.Equal(t, reflect.PointerTo(types[c.Method]), reflect.TypeOf(params), "%s is served by %s", text, c.Method)
	}
	require.Len(t, slash.List(), len(seen))
}

func TestCommandsBecomeParams(t *testing.T) {
	request := protocol.ContextRequest{ThreadID: thread}
	for text, want := range map[string]any{
		"/clear":               &protocol.ThreadContextTrimParams{ThreadID: thread},
		"/clear 0":             &protocol.ThreadContextTrimParams{ThreadID: thread, KeepLastNTurns: new(uint32(0))},
		"\t/CLEAR\u00a0 007\n": &protocol.ThreadContextTrimParams{ThreadID: thread, KeepLastNTurns: new(uint32(7))},
		"/clear 4294967295":    &protocol.ThreadContextTrimParams{ThreadID: thread, KeepLastNTurns: new(uint32(1<<32 - 1))},
		"/compact":             &protocol.ThreadCompactStartParams{ThreadID: thread},
		"/new":                 &protocol.ThreadArchiveAndNewParams{ThreadID: thread},
		"/prune toolOutput": &protocol.ContextPruneParams{ContextRequest: request,
			Prune: protocol.Prune{Categories: []protocol.ContextCategory{protocol.CategoryToolOutput}}},
		"/prune user_message": &protocol.ContextPruneParams{ContextRequest: request,
			Prune: protocol.Prune{Categories: []protocol.ContextCategory{protocol.CategoryUserMessage}}},
		"/undo":    &protocol.ContextUndoParams{ContextRequest: request},
		"/restore": &protocol.ContextRestoreParams{ContextRequest: request},
		"/context": &protocol.ContextGetUsageParams{ThreadID: thread},
	} {
		typed, found := slash.Find(text)
		require.True(t, found, text)
		got, err := typed.Params(thread)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
}

func TestFindReturnsFalseForOtherTexts(t *testing.T) {
	for _, text := range []string{"", " ", "/", "//clear", "/ clear", "clear", "/clear3", "/clear/3", "/clear:", "/cléar",
		"see /clear", "/unknown 3", "\\/clear", "/Kontext"} {
		_, found := slash.Find(text)
		require.False(t, found, "%q", text)
	}
}

func TestInvalidArgumentsAreUsageErrors(t *testing.T) {
	usages := map[string]string{
		"/clear [N]": "/clear x|/clear -1|/clear +1|/clear 1.5|/clear 0x1|/clear 1_0|/clear ３|/clear " +
			"4294967296|/clear 1 2|/clear\n3\nfix the page",
		"/compact":        "/compact now|/compact 3",
		"/new":            "/new page, please",
		"/prune CATEGORY": "/prune|/prune all|/prune tooloutput|/prune toolOutput,reasoning|/prune toolOutput reasoning",
		"/undo":           "/undo 2",
		"/restore":        "/restore backup",
		"/context":        "/context 1",
	}
	for usage, texts := range usages {
		for text := range strings.SplitSeq(texts, "|") {
			typed, found := slash.Find(text)
			require.True(t, found, text)
			_, err := typed.Params(thread)
			var wrong *slash.UsageError
			require.ErrorAs(t, err, &wrong, text)
			require.Equal(t, usage, wrong.Usage)
			require.Contains(t, err.Error(), "usage: "+usage+",", text)
		}
	}
}

// FuzzFind checks that each text is no command, or a command that parses alike when it is written
// again.
func FuzzFind(f *testing.F) {
	for _, text := range []string{"", "/", "/clear", " /CLEAR\t3 ", "/prune Tool_Output", "/context\nof this", "/new\x00",
		"/\xff", "/compact\u2003now", "/cleaR"} {
		f.Add(text)
	}
	types := methods()
	f.Fuzz(func(t *testing.T, text string) {
		typed, found := slash.Find(text)
		if !found {
			return
		}
		require.True(t, strings.HasPrefix(strings.TrimSpace(text), "/"))
		call := typed.Call()
		require.NotNil(t, call.Args)
		again, found := slash.Find(strings.Join(append([]string{"/" + call.Command}, call.Args...), " "))
		require.True(t, found)
		require.Equal(t, call, again.Call())
		params, err := typed.Params(thread)
		_, errAgain := again.Params(thread)
		require.Equal(t, err, errAgain)
		if err == nil {
			require.Equal(t, reflect.PointerTo(types[typed.Method]), reflect.TypeOf(params))
		}
	})
}
