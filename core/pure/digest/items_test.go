package digest_test

import (
	"encoding/json"
	"strconv"
	"testing"

	"appserver/core/pure/digest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func item(v protocol.ResponseItemVariant) protocol.ResponseItem {
	return protocol.ResponseItem{ResponseItemVariant: v}
}

func said(role, text string) protocol.ResponseItem {
	return item(&protocol.Message{Role: role,
		Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}}})
}

func user(text string) protocol.ResponseItem { return said(protocol.RoleUser, text) }

func assistant(text string) protocol.ResponseItem { return said(protocol.RoleAssistant, text) }

func function(id, name, arguments string) protocol.ResponseItem {
	return item(&protocol.FunctionCall{CallID: id, Name: name, Arguments: arguments})
}

func shell(id, script string) protocol.ResponseItem {
	arguments, err := json.Marshal(map[string]string{"command": script})
	if err != nil {
		panic(err)
	}
	return function(id, "shell", string(arguments))
}

func custom(id, name, input string) protocol.ResponseItem {
	return item(&protocol.CustomToolCall{CallID: id, Name: name, Input: input})
}

func answer(id, text string) protocol.ResponseItem {
	return item(&protocol.FunctionCallOutput{CallID: id, Output: protocol.ToolOutput{Text: text}})
}

func numbered(prefix string, n int) string { return prefix + strconv.Itoa(n) }

// text draws what people, models and programs write, good and bad.
func text() *rapid.Generator[string] {
	pieces := rapid.SampledFrom([]string{
		"You must never push. ", "We decided to use Go instead of C. ", "Shall we?", "不要修改文件。", "必ず テスト", "e\u0301\u0301",
		"👩‍👩‍👧",
		"```", "\n", "\n\n", "- ", "go test ./...", "[… 12 bytes left out …]", "\xff", "\x00", "…", "<environment_context>",
		"*** Begin Patch\n*** Update File: a.go\n", "Exit code: 1\n", "word ", "Requests:\n", "# ", "(", "'", `"`,
	})
	return rapid.Custom(func(t *rapid.T) string {
		all := ""
		for _, piece := range rapid.SliceOfN(pieces, 0, 30).Draw(t, "pieces") {
			all += piece
		}
		return all
	})
}

// stretch draws items of all kinds.
func stretch() *rapid.Generator[[]protocol.ResponseItem] {
	ids := rapid.SampledFrom([]string{"a", "b", "c", ""})
	one := rapid.Custom(func(t *rapid.T) protocol.ResponseItem {
		id, text := ids.Draw(t, "id"), text().Draw(t, "text")
		switch rapid.IntRange(0, 10).Draw(t, "kind") {
		case 0, 1:
			return user(text)
		case 2:
			return assistant(text)
		case 3:
			return said(protocol.RoleDeveloper, text)
		case 4:
			return shell(id, text)
		case 5:
			return function(id, "exec_command", text)
		case 6:
			return custom(id, "apply_patch", text)
		case 7:
			return item(&protocol.LocalShellCall{CallID: id,
				Action: protocol.LocalShellAction{Command: []string{"sh", "-c", text}}})
		case 8:
			return item(&protocol.Reasoning{Summary: []protocol.ReasoningText{{Text: text}}})
		case 9:
			return item(&protocol.Unknown{Tag: text, Raw: json.RawMessage(`{"a":1}`)})
		}
		return answer(id, text)
	})
	return rapid.SliceOfN(one, 0, 20)
}

// lists returns the lists of facts.
func lists(f digest.Facts) [][]string {
	return [][]string{f.FilesChanged, f.CommandsRun, f.Decisions, f.OpenQuestions, f.UserConstraints}
}

func TestEmptyListsAreNotNull(t *testing.T) {
	want := `{"filesChanged":[],"commandsRun":[],"decisions":[],"openQuestions":[],"userConstraints":[]}`
	for _, f := range []digest.Facts{digest.Of(nil), digest.Of(nil).Missing("a"), digest.Facts{}.Missing("")} {
		written, err := json.Marshal(f)
		require.NoError(t, err)
		require.JSONEq(t, want, string(written))
		require.True(t, f.Empty())
	}
	require.False(t, digest.Of([]protocol.ResponseItem{shell("a", "make")}).Empty())
}

func TestOnlyOutcomeReportsTheSameOutcome(t *testing.T) {
	for output, want := range map[string]string{
		"Exit code: 0\nWall time: 1.0 seconds\nOutput:\nok":                             "Exit code: 0",
		"Exit code: 1\nWall time: 1.0 seconds\nOutput:\na.go:3: undefined: x\nFAIL":     "Exit code: 1\nOutput:\na.go:3: undefined: x",
		`{"output":"no","metadata":{"exit_code":2}}`:                                    "Exit code: 2\nOutput:\nno",
		"The command was ended: it took longer than its timeout.\nOutput:\nslow":        "The command was ended: it took longer than its timeout.\nOutput:\nslow",
		"Wall time: 1.0 seconds\nProcess ended: signal: killed\nOutput:\nout of memory": "Wall time: 1.0 seconds\nProcess ended: signal: killed\nOutput:\nout of memory",
		"The user declined this command. It was not run.":                               "The user declined this command. It was not run.",
		"any text": "",
		"":         "",
	} {
		short := digest.OnlyOutcome(output)
		require.Equal(t, want, short)
		require.Equal(t, digest.Outcome(output), digest.Outcome(short), output)
	}
}
