package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// TestSkillsReachModel lists the skills for the model, and sends the named ones. A user names a
// skill by a mention or by an input item.
func TestSkillsReachModel(t *testing.T) {
	p := apptest.NewProvider(t, apptest.TextAnswer("One."), apptest.TextAnswer("Two."), apptest.TextAnswer("Three."))
	home, work := p.Home(t), t.TempDir()
	path := apptest.WriteSkill(t, filepath.Join(work, ".agents", "skills", "release"), apptest.SkillText)
	apptest.WriteSkill(t, filepath.Join(home, "skills", "quiet"), "---\ndescription: Not unasked\n---\nHush.\n")
	require.NoError(t, os.MkdirAll(filepath.Join(home, "skills", "quiet", "agents"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "skills", "quiet", "agents", "openai.yaml"),
		[]byte("policy: {allow_implicit_invocation: false}\n"), 0o600))
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"cwd": work})

	c.Turn(thread, "now $release it, with $HOME and $quiet")
	c.Call("turn/start", apptest.Object{"threadId": thread, "input": []apptest.Object{
		{"type": "skill", "name": "release", "path": path}, {"type": "text", "text": "again"},
		{"type": "skill", "name": "gone", "path": "/gone/SKILL.md"},
	}})
	c.AwaitTurn()
	require.NoError(t, os.Remove(path))
	c.Turn(thread, "and $release once more")

	requests := p.Requests()
	require.Len(t, requests, 3)
	sent := "<skill>\n<name>release</name>\n<path>" + path + "</path>\n" + apptest.SkillText + "</skill>"
	first := strings.Join(requests[0].Texts(t), "\n\n")
	require.Contains(t, first, "<skills_instructions>Skills\n")
	require.Contains(t, first, "- release: How to release ("+path+")")
	list, _, _ := strings.Cut(first[strings.Index(first, "<skills_instructions>"):], "</skills_instructions>")
	require.NotContains(t, list, "quiet")
	inOrder(t, first, sent, "Hush.")
	second := requests[1].Texts(t)
	inOrder(t, strings.Join(second, "\n\n"), sent, "<name>gone</name>", "This skill does not exist here")
	third := requests[2].Texts(t)
	require.Equal(t, "<skills_instructions>The earlier lists of skills no longer apply. There are no skills."+
		"</skills_instructions>\n\nand $release once more", third[len(third)-1], "the skill was removed")

	shown, err := json.Marshal(c.ReadThread(thread))
	require.NoError(t, err)
	require.NotContains(t, string(shown), "Run the tests.", "the shown item has the original input")
	c.Close()
}

// TestClientToolsSurviveRestart offers the tools of a thread after a restart.
func TestClientToolsSurviveRestart(t *testing.T) {
	p := apptest.NewProvider(t, apptest.TextAnswer("One."), apptest.ToolAnswer("c1", "ticket", `{"id":"7"}`),
		apptest.TextAnswer("It is open."))
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartThread(apptest.Object{"dynamicTools": []apptest.Object{{"type": "function", "name": "ticket",
		"description": "Fetches a ticket", "inputSchema": apptest.Object{"type": "object"}}}})
	c.Turn(thread, "hello")
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.OnRequest = func(m apptest.Message) any {
		require.Equal(t, "item/tool/call", m.Method)
		require.JSONEq(t, `{"id":"7"}`, string(memberOf(t, m.Params, "arguments")))
		return apptest.Object{"contentItems": []apptest.Object{{"type": "inputText", "text": "open"}}, "success": true}
	}
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	c.Turn(thread, "look it up")
	requests := p.Requests()
	require.Len(t, requests, 3)
	for _, r := range requests {
		require.Contains(t, r.Body, `"name":"ticket"`)
	}
	require.Equal(t, "open", requests[2].LastMessage(t).Content)
	c.Close()
}

func memberOf(t *testing.T, raw json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &members))
	return members[name]
}
