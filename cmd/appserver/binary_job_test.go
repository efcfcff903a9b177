package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// commandItem is a command as items show it.
type commandItem struct {
	Type, ID, Status, AggregatedOutput string
	ExitCode                           *int
}

// untilCommand reads up to the end of a command.
func (c *client) untilCommand() commandItem {
	c.t.Helper()
	return untilItem[commandItem](c, "commandExecution")
}

// untilItem reads up to the end of an item of a type.
func untilItem[T any](c *client, kind string) (item T) {
	c.t.Helper()
	c.until(func(m message) bool {
		if m.Method != "item/completed" || gjson.GetBytes(m.Params, "item.type").Str != kind {
			return false
		}
		return json.Unmarshal([]byte(gjson.GetBytes(m.Params, "item").Raw), &item) == nil
	})
	return item
}

// TestBinaryKeepsConversations is the main job: a turn with a real command, the end
// of the process, another process that resumes. The model is told the same history,
// message by message.
func TestBinaryKeepsConversations(t *testing.T) {
	t.Parallel()
	p := newProvider(t, callsShell("call_a", "echo written by the agent > note.txt; cat note.txt"), says("It is written."), says("I wrote a note."))
	home, project := p.home(t), t.TempDir()
	c := startServer(t, home)
	c.initialize()
	c.onAsk = func(message) any { return object{"decision": "accept"} }
	id := c.startThread(object{"cwd": project})
	ended := c.turn(id, "write a note")
	require.Equal(t, "completed", ended.Status)
	require.Equal(t, "It is written.", ended.Items[0].Text)
	require.FileExists(t, filepath.Join(project, "note.txt"))
	c.call("thread/name/set", object{"threadId": id, "name": "Notes"})
	shown := c.readThread(id)
	c.close()

	c = startServer(t, home)
	c.initialize()
	resumed := c.threadOf("thread/resume", object{"threadId": id})
	require.Equal(t, shown, resumed, "the thread is shown as it was")
	require.Equal(t, "Notes", resumed.Name)
	require.Equal(t, "I wrote a note.", c.turn(id, "what did you do?").Items[0].Text)
	c.close()

	asked := p.asked()
	require.Len(t, asked, 3)
	before, after := asked[1].Messages, asked[2].Messages
	require.Greater(t, len(after), len(before)+1)
	require.Equal(t, raws(before), raws(after[:len(before)]), "the history of before the restart")
	require.JSONEq(t, `{"role":"assistant","content":"It is written."}`, string(after[len(before)]))
	require.Equal(t, chatMessage{"user", "what did you do?"}, asked[2].last(t))
	require.Contains(t, asked[1].last(t).Content, "written by the agent\n", "the model sees the command's output")
}

func raws(messages []json.RawMessage) (texts []string) {
	for _, m := range messages {
		texts = append(texts, string(m))
	}
	return texts
}

// TestBinaryAsksBeforeItRuns gives each decision on a command that writes a file.
func TestBinaryAsksBeforeItRuns(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	project := t.TempDir()
	id := c.startThread(object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "workspace-write"})
	asked := 0
	run := func(decision, file string) (turn, command string, exists bool) {
		c.onAsk = func(m message) any {
			asked++
			require.Equal(t, "item/commandExecution/requestApproval", m.Method)
			require.NoFileExists(t, filepath.Join(project, file), "it must not run before the answer")
			return object{"decision": decision}
		}
		c.beginTurn(id, "run: touch "+file)
		command = c.untilCommand().Status
		turn = c.awaitTurn().Status
		_, err := os.Stat(filepath.Join(project, file))
		return turn, command, err == nil
	}
	for _, d := range []struct {
		decision, file, turn, command string
		runs                          bool
		asked                         int
	}{
		{"accept", "a", "completed", "completed", true, 1},
		{"decline", "b", "completed", "declined", false, 2},
		{"cancel", "c", "interrupted", "declined", false, 3},
		{"acceptForSession", "d", "completed", "completed", true, 4},
		{"decline", "d", "completed", "completed", true, 4},
	} {
		turn, command, runs := run(d.decision, d.file)
		require.Equal(t, d.turn, turn, d)
		require.Equal(t, d.command, command, d)
		require.Equal(t, d.runs, runs, d)
		require.Equal(t, d.asked, asked, d)
	}
	c.close()
}

// TestBinaryStreamsOutput has a command that goes on only after its output was seen.
func TestBinaryStreamsOutput(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	fifo := filepath.Join(t.TempDir(), "go")
	id := c.startTrusted()
	c.beginTurn(id, "run: echo first; mkfifo "+fifo+"; echo ready; read line < "+fifo+"; echo $line")
	seen := ""
	for !strings.Contains(seen, "ready\n") {
		var p struct{ Delta string }
		require.NoError(t, json.Unmarshal(c.untilMethod("item/commandExecution/outputDelta").Params, &p))
		seen += p.Delta
	}
	require.Equal(t, "first\nready\n", seen)
	require.NoError(t, os.WriteFile(fifo, []byte("second\n"), 0))
	item := c.untilCommand()
	require.Equal(t, "first\nready\nsecond\n", item.AggregatedOutput)
	require.Equal(t, 0, *item.ExitCode)
	require.Equal(t, "completed", c.awaitTurn().Status)
	c.close()
}

// TestBinaryKeepsSecretsFromCommands runs env with the server's keys set.
func TestBinaryKeepsSecretsFromCommands(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeConfig(t, home, "[model_providers.mine]\nbase_url = \"http://localhost/v1\"\nenv_key = \"MINE\"\n[model_providers.mine.env_http_headers]\nX-Mine = \"HEADER_OF_MINE\"\n")
	cmd := offlineCommand(t, home)
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "MINE", "HEADER_OF_MINE", "CODEX_API_KEY"} {
		cmd.Env = append(cmd.Env, name+"=hunter2")
	}
	cmd.Env = append(cmd.Env, "HARMLESS=kept")
	c := dial(t, cmd)
	c.initialize()
	id := c.startTrusted()
	c.beginTurn(id, "run: env; cat /proc/$$/environ")
	item := c.untilCommand()
	require.Contains(t, item.AggregatedOutput, "HARMLESS=kept")
	require.NotContains(t, item.AggregatedOutput, "hunter2")
	c.awaitTurn()
	c.close()
	require.NotContains(t, contents(t, home), "hunter2", "a secret was written")
}
