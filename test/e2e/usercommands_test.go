package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestUserCommandDoesNotSplitCallAndOutput ends a command of the user while a call of the model
// runs. No message is between the call and its output, because models reject such histories.
func TestUserCommandDoesNotSplitCallAndOutput(t *testing.T) {
	t.Parallel()
	c, o := apptest.StartScripted(t)
	p, g := apptest.NewRepository(t), newGate(t)
	id := p.StartTrusted(c)
	c.BeginTurn(id, apptest.ScriptText(append(apptest.ShellCall("echo waiting; "+g.waitCommand()),
		apptest.ShellCall("echo second")...)))
	c.UntilOutput("waiting\n")
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo of the user"})
	c.UntilCommand()
	g.open(t)
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.RunScript(id, apptest.ShellCall("echo third"))
	for _, request := range o.Requests() {
		open := 0
		for _, m := range gjson.Get(request.Body, "messages").Array() {
			if m.Get("role").Str == "tool" {
				open--
			} else {
				require.Zero(t, open, "between a call and its output: %s", m.Raw)
			}
			open += len(m.Get("tool_calls").Array())
		}
		require.Zero(t, open)
	}
	require.Contains(t, o.Requests()[len(o.Requests())-1].Body, "of the user")
	c.Close()
}

// TestUserCommandRunsDuringApproval runs a command of the user while an approval is pending.
// Neither waits for the other, and the turn ends after both.
func TestUserCommandRunsDuringApproval(t *testing.T) {
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "untrusted"})
	c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall("echo theirs > theirs.txt")))
	question := c.UntilMethod("item/commandExecution/requestApproval")
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo mine > mine.txt"})
	c.UntilCommand()
	require.FileExists(t, filepath.Join(p.Dir, "mine.txt"))
	require.NoFileExists(t, filepath.Join(p.Dir, "theirs.txt"))
	require.Contains(t, string(c.Call("thread/read", apptest.Object{"threadId": id})), "waitingOnApproval")
	c.Send(apptest.Object{"id": question.ID, "result": apptest.Object{"decision": "accept"}})
	end := c.UntilMethod("turn/completed")
	require.Equal(t, []string{"theirs.txt"}, changedPaths(end), "the user's change is in the turn's diff")
	c.Close()
}

// TestDeniedCommandChangesAreTracked runs a command that writes before the sandbox stops it. The
// change is notified and can be reverted, for each decision of the user.
func TestDeniedCommandChangesAreTracked(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for _, decision := range []string{"accept", "decline", "cancel"} {
		for name, runs := range map[string]func(string) []apptest.ToolCall{"shell": apptest.ShellCall,
			"exec_command": func(s string) []apptest.ToolCall { return apptest.ExecCall(s, apptest.Object{"tty": true}) }} {
			t.Run(decision+" "+name, func(t *testing.T) {
				t.Parallel()
				a := newDecider(t)
				a.decision = decision
				p, outside := apptest.NewRepository(t), filepath.Join(t.TempDir(), "made")
				id := a.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "workspace-write"})
				atFirst := p.Files()
				turn := a.BeginTurn(id, apptest.ScriptText(runs("echo more >> doc.txt; touch "+outside)))
				end := a.UntilMethod("turn/completed")
				require.Equal(t, 1, a.questions)
				require.Equal(t, []string{"doc.txt"}, changedPaths(end))
				require.Equal(t, map[string]int64{"accept": 2, "decline": 1, "cancel": 1}[decision],
					gjson.GetBytes(end.Params, "metadata.diff.totalAdditions").Int())
				_, err := os.Stat(outside)
				require.Equal(t, decision == "accept", err == nil)
				a.RevertTo(id, turn, "both")
				require.Equal(t, atFirst, p.Files())
				a.Close()
			})
		}
	}
}

// TestLoadedThreadKeepsCheckpointSettings changes the checkpoint settings in the file. A loaded
// thread keeps the settings of its start.
func TestLoadedThreadKeepsCheckpointSettings(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	home := o.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	write := func(key string, value any) {
		c.Call("config/value/write", apptest.Object{"keyPath": key, "value": value, "mergeStrategy": "replace"})
	}
	points := func(id string) int {
		return len(c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data").Array())
	}
	before := p.StartTrusted(c)
	write("checkpoints.enabled", false)
	off := p.StartTrusted(c)
	own := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never",
		"config": apptest.Object{"checkpoints.enabled": true, "checkpoints.keep": 1}})
	atFirst := p.Files()
	for id, want := range map[string]int{before: 2, off: 0, own: 1} {
		c.RunScript(id, apptest.ShellCall("echo 1 > doc.txt"))
		turn := c.RunScript(id, apptest.ShellCall("echo 2 > doc.txt; rm gone.txt"))
		require.Equal(t, want, points(id))
		revert := apptest.Object{"threadId": id, "turnId": turn, "mode": "files"}
		if want == 0 {
			require.Equal(t, "checkpointsOff", c.CallRejected("thread/checkpoint/revert", revert).Data.Kind)
			p.Write("gone.txt", "gone\n")
		} else {
			c.Call("thread/checkpoint/revert", revert)
		}
		p.Write("doc.txt", atFirst["doc.txt"])
		require.Equal(t, atFirst, p.Files())
	}
	c.Close()
	c = apptest.StartServer(t, home)
	c.Initialize()
	require.Zero(t, points(before), "the setting in the file applies to unloaded threads")
	write("checkpoints.enabled", true)
	require.Equal(t, 3, points(before))
	require.Equal(t, 1, points(own))
	c.Close()
}

// TestInterruptSparesBackgroundSessions interrupts a turn with a command, a command of the user and
// a session. It kills the first two only.
func TestInterruptSparesBackgroundSessions(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	var trees [3]apptest.ProcessTree
	for i := range trees {
		trees[i] = apptest.NewProcessTree()
		t.Cleanup(func() { trees[i].Kill(t) })
	}
	c.RunScript(id, apptest.ExecCall(trees[0].Script(), apptest.Object{"yield_time_ms": 250}))
	other := c.StartTrusted()
	left := apptest.NewProcessTree()
	t.Cleanup(func() { left.Kill(t) })
	otherTurn := c.BeginTurn(other, apptest.ScriptText(apptest.ShellCall(left.Script())))
	c.UntilOutput("children started\n")
	turn := c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall(trees[1].Script())))
	c.UntilOutput("children started\n")
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": trees[2].Script()})
	c.UntilOutput("children started\n")
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	require.Empty(t, trees[1].Alive(t))
	require.Empty(t, trees[2].Alive(t))
	require.NotEmpty(t, trees[0].Alive(t), "the session was killed")
	require.NotEmpty(t, left.Alive(t), "the other thread's command was killed")
	c.Call("turn/interrupt", apptest.Object{"threadId": other, "turnId": otherTurn})
	c.AwaitTurn()
	c.Close()
	require.Empty(t, trees[0].Alive(t))
}
