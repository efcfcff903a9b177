package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const aSkill = "---\nname: release\ndescription: How to release\n---\nRun the tests.\n"

// texts are the messages of a request, as text where they are that.
func (r chatRequest) texts(t *testing.T) (texts []string) {
	t.Helper()
	for _, raw := range r.Messages {
		var m struct{ Content json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &m))
		text := ""
		if json.Unmarshal(m.Content, &text) != nil {
			text = string(m.Content)
		}
		texts = append(texts, text)
	}
	return texts
}

// TestBinarySkillsReachTheModel: it is told which there are, and sent those that the user
// names, by a mention or by an input of their own, in turns and while one runs.
func TestBinarySkillsReachTheModel(t *testing.T) {
	p := newProvider(t, says("One."), says("Two."), says("Three."))
	home, work := p.home(t), t.TempDir()
	path := writeSkill(t, filepath.Join(work, ".agents", "skills", "release"), aSkill)
	writeSkill(t, filepath.Join(home, "skills", "quiet"), "---\ndescription: Not unasked\n---\nHush.\n")
	require.NoError(t, os.MkdirAll(filepath.Join(home, "skills", "quiet", "agents"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "skills", "quiet", "agents", "openai.yaml"), []byte("policy: {allow_implicit_invocation: false}\n"), 0o600))
	c := startServer(t, home)
	c.initialize()
	thread := c.startThread(object{"cwd": work})

	c.turn(thread, "now $release it, with $HOME and $quiet")
	c.call("turn/start", object{"threadId": thread, "input": []object{
		{"type": "skill", "name": "release", "path": path}, {"type": "text", "text": "again"}, {"type": "skill", "name": "gone", "path": "/gone/SKILL.md"},
	}})
	c.awaitTurn()
	require.NoError(t, os.Remove(path))
	c.turn(thread, "and $release once more")

	asked := p.asked()
	require.Len(t, asked, 3)
	sent := "<skill>\n<name>release</name>\n<path>" + path + "</path>\n" + aSkill + "</skill>"
	first := asked[0].texts(t)
	require.Contains(t, first[0], "- release: How to release ("+path+")")
	require.NotContains(t, first[0], "quiet")
	require.Equal(t, sent, first[len(first)-2])
	require.Contains(t, first[len(first)-1], "Hush.")
	second := asked[1].texts(t)
	require.Equal(t, sent, second[len(second)-2])
	require.Contains(t, second[len(second)-1], "<name>gone</name>")
	require.Contains(t, second[len(second)-1], "There is no such skill here")
	third := asked[2].texts(t)
	require.Equal(t, "and $release once more", third[len(third)-1], "it is gone")
	require.NotContains(t, third[0], "How to release")

	shown, err := json.Marshal(c.readThread(thread))
	require.NoError(t, err)
	require.NotContains(t, string(shown), "Run the tests.", "people are shown what they said")
	c.close()
}

// TestBinaryClientToolsOutliveTheServer: they are the thread's, and the model is offered
// them after a restart, too.
func TestBinaryClientToolsOutliveTheServer(t *testing.T) {
	p := newProvider(t, says("One."), callsTool("c1", "ticket", `{"id":"7"}`), says("It is open."))
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	thread := c.startThread(object{"dynamicTools": []object{{"type": "function", "name": "ticket", "description": "Fetches a ticket", "inputSchema": object{"type": "object"}}}})
	c.turn(thread, "hello")
	c.close()

	c = startServer(t, home)
	c.initialize()
	c.onAsk = func(m message) any {
		require.Equal(t, "item/tool/call", m.Method)
		require.JSONEq(t, `{"id":"7"}`, string(memberOf(t, m.Params, "arguments")))
		return object{"contentItems": []object{{"type": "inputText", "text": "open"}}, "success": true}
	}
	c.call("thread/resume", object{"threadId": thread})
	c.turn(thread, "look it up")
	asked := p.asked()
	require.Len(t, asked, 3)
	for _, r := range asked {
		require.Contains(t, r.Body, `"name":"ticket"`)
	}
	require.Equal(t, "open", asked[2].last(t).Content)
	c.close()
}

func memberOf(t *testing.T, raw json.RawMessage, name string) json.RawMessage {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(raw, &members))
	return members[name]
}
