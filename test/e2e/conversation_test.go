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

// TestConversationSurvivesRestart runs a turn with a command, exits, and resumes in another
// process. The model gets the same history, message by message.
func TestConversationSurvivesRestart(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.ShellAnswer("call_a", "echo written by the agent > note.txt; cat note.txt"),
		apptest.TextAnswer("It is written."), apptest.TextAnswer("I wrote a note."))
	home, project := p.Home(t), t.TempDir()
	c := apptest.StartServer(t, home)
	c.Initialize()
	c.OnRequest = func(apptest.Message) any { return apptest.Object{"decision": "accept"} }
	id := c.StartThread(apptest.Object{"cwd": project})
	ended := c.Turn(id, "write a note")
	require.Equal(t, "completed", ended.Status)
	require.Equal(t, "It is written.", ended.Items[0].Text)
	require.FileExists(t, filepath.Join(project, "note.txt"))
	c.Call("thread/name/set", apptest.Object{"threadId": id, "name": "Notes"})
	shown := c.ReadThread(id)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, shown, resumed, "the thread is unchanged")
	require.Equal(t, "Notes", resumed.Name)
	require.Equal(t, "I wrote a note.", c.Turn(id, "what did you do?").Items[0].Text)
	c.Close()

	requests := p.Requests()
	require.Len(t, requests, 3)
	before, after := requests[1].Messages, requests[2].Messages
	require.Greater(t, len(after), len(before)+1)
	require.Equal(t, apptest.RawStrings(before), apptest.RawStrings(after[:len(before)]),
		"the history from before the restart")
	require.JSONEq(t, `{"role":"assistant","content":"It is written."}`, string(after[len(before)]))
	require.Equal(t, apptest.ChatMessage{Role: "user", Content: "what did you do?"}, requests[2].LastMessage(t))
	require.Contains(t, requests[1].LastMessage(t).Content, "written by the agent\n", "the model sees the command's output")
}

// TestCommandApprovalDecisions gives each decision on a command that writes a file.
func TestCommandApprovalDecisions(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	project := t.TempDir()
	id := c.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "workspace-write"})
	questions := 0
	run := func(decision, file string) (turn, command string, exists bool) {
		c.OnRequest = func(m apptest.Message) any {
			questions++
			require.Equal(t, "item/commandExecution/requestApproval", m.Method)
			require.NoFileExists(t, filepath.Join(project, file), "it ran before the response")
			return apptest.Object{"decision": decision}
		}
		c.BeginTurn(id, "run: touch "+file)
		command = c.UntilCommand().Status
		turn = c.AwaitTurn().Status
		_, err := os.Stat(filepath.Join(project, file))
		return turn, command, err == nil
	}
	for _, d := range []struct {
		decision, file, turn, command string
		runs                          bool
		questions                     int
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
		require.Equal(t, d.questions, questions, d)
	}
	c.Close()
}

// TestCommandOutputIsStreamed runs a command that continues only after its output was read.
func TestCommandOutputIsStreamed(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	fifo := filepath.Join(t.TempDir(), "go")
	id := c.StartTrusted()
	c.BeginTurn(id, "run: echo first; mkfifo "+fifo+"; echo ready; read line < "+fifo+"; echo $line")
	seen := ""
	for !strings.Contains(seen, "ready\n") {
		var p struct{ Delta string }
		require.NoError(t, json.Unmarshal(c.UntilMethod("item/commandExecution/outputDelta").Params, &p))
		seen += p.Delta
	}
	require.Equal(t, "first\nready\n", seen)
	require.NoError(t, os.WriteFile(fifo, []byte("second\n"), 0))
	item := c.UntilCommand()
	require.Equal(t, "first\nready\nsecond\n", item.AggregatedOutput)
	require.Equal(t, 0, *item.ExitCode)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Close()
}

// TestCommandsDoNotSeeSecrets runs env while the server's keys are set.
func TestCommandsDoNotSeeSecrets(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		"[model_providers.mine]\nbase_url = \"http://localhost/v1\"\nenv_key = \"MINE\"\n[model_providers.mine.env_http_headers]\nX-Mine = \"HEADER_OF_MINE\"\n")
	cmd := apptest.OfflineCommand(t, home)
	for _, name := range []string{"OPENAI_API_KEY", "GITHUB_TOKEN", "DB_PASSWORD", "MINE", "HEADER_OF_MINE",
		"CODEX_API_KEY"} {
		cmd.Env = append(cmd.Env, name+"=hunter2")
	}
	cmd.Env = append(cmd.Env, "HARMLESS=kept")
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	id := c.StartTrusted()
	c.BeginTurn(id, "run: env; cat /proc/$$/environ")
	item := c.UntilCommand()
	require.Contains(t, item.AggregatedOutput, "HARMLESS=kept")
	require.NotContains(t, item.AggregatedOutput, "hunter2")
	c.AwaitTurn()
	c.Close()
	require.NotContains(t, contents(t, home), "hunter2", "a secret was written")
}
