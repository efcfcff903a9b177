package e2e

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// patchCall returns a call of apply_patch.
func patchCall(patch string) []apptest.ToolCall {
	return apptest.OneCall("apply_patch", apptest.Object{"input": patch})
}

// TestPatchesOfOtherFormsAreTrackedAndReverted patches files with byte order marks, other encodings and other names.
// The question, the item, the diff of the turn and the revert have the same files.
func TestPatchesOfOtherFormsAreTrackedAndReverted(t *testing.T) {
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	const name, utf16 = "e\u0301/cafe\u0301.txt", "\xff\xfea\x00\n\x00b\x00\n\x00"
	require.NoError(t, os.Mkdir(filepath.Join(p.Dir, filepath.Dir(name)), 0o755))
	for name, text := range map[string]string{name: "\uFEFFone\r\ntwo", "utf16.txt": utf16, "latin.txt": "caf\xe9\ntwo\n"} {
		p.Write(name, text)
	}
	p.Git("add", ".")
	before := p.Files()
	var asked apptest.PatchItem
	c.OnRequest = func(m apptest.Message) any {
		asked = untilPatchStarted(c)
		return apptest.Object{"decision": "accept"}
	}
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	turn := c.BeginTurn(id, apptest.ScriptText(patchCall("```diff\n"+
		"*** Update File: `é\\café.txt`\n@@ -1,2 +1,2 @@\n-one\n+ONE\n two\n"+
		"*** Update File: utf16.txt\n@@\n-b\n+ü\n*** Update File: latin.txt\n@@\n-two\n+2\n```\n")))
	item := untilPatch(c)
	require.Equal(t, "completed", item.Status)
	end := c.UntilMethod("turn/completed")
	after := p.Files()
	require.Equal(t, "\uFEFFONE\r\ntwo", after[name])
	require.Equal(t, "\xff\xfea\x00\n\x00\xfc\x00\n\x00", after["utf16.txt"])
	require.Equal(t, "caf\xe9\n2\n", after["latin.txt"])
	var paths []string
	for i, change := range item.Changes {
		require.Equal(t, asked.Changes[i], change)
		rel, err := filepath.Rel(p.Dir, change.Path)
		require.NoError(t, err)
		paths = append(paths, rel)
	}
	require.ElementsMatch(t, changedPaths(end), paths)
	require.Contains(t, paths, name)
	c.RevertTo(id, turn, "files")
	require.Equal(t, before, p.Files())
	c.Close()
}

// untilPatchStarted returns the last patch that the client has seen.
func untilPatchStarted(c *apptest.Client) (item apptest.PatchItem) {
	for _, m := range c.Notifications("item/started") {
		require.NoError(c.T, json.Unmarshal([]byte(gjson.GetBytes(m.Params, "item").Raw), &item))
	}
	return item
}

// TestPatchOfCutAnswerIsNotAppliedInPart sends a patch without its end, once in an answer that reached a limit.
func TestPatchOfCutAnswerIsNotAppliedInPart(t *testing.T) {
	t.Parallel()
	const arguments = `{"input":"*** Begin Patch\n*** Add File: n\n+one\n"}`
	call := func(reason string) func(io.Writer) {
		one := apptest.Object{"index": 0, "id": "call_1", "type": "function",
			"function": apptest.Object{"name": "apply_patch", "arguments": arguments}}
		return apptest.StreamAnswer(apptest.ChatChunk(apptest.Object{"tool_calls": []apptest.Object{one}}, nil) +
			apptest.ChatChunk(apptest.Object{}, reason) + "data: [DONE]\n\n")
	}
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		for _, applied := range []bool{false, true} {
			reason := map[bool]string{false: "length", true: "tool_calls"}[applied]
			p := on.NewProvider(t, call(reason), apptest.TextAnswer("done"))
			c := apptest.StartServer(t, p.Home(t))
			c.Initialize()
			dir := t.TempDir()
			id := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
			require.Equal(t, "completed", c.Turn(id, "go").Status)
			_, err := os.Stat(filepath.Join(dir, "n"))
			require.Equal(t, applied, err == nil, reason)
			sent := p.Requests()[1].LastMessage(t)
			require.Equal(t, !applied, strings.Contains(sent.Content, "cut off"), sent.Content)
			c.Close()
		}
	})
}
