package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

// changedPaths returns the paths in the end of a turn, in order.
func changedPaths(end apptest.Message) (paths []string) {
	for _, f := range gjson.GetBytes(end.Params, "metadata.diff.files.#.path").Array() {
		paths = append(paths, f.Str)
	}
	return paths
}

// addFileCall returns a call that adds a file by a patch.
func addFileCall(name, text string) []apptest.ToolCall {
	return apptest.OneCall("apply_patch",
		apptest.Object{"input": "*** Begin Patch\n*** Add File: " + name + "\n+" + text + "\n*** End Patch\n"})
}

// openCall returns a call that opens the gate, and ends when a condition of the shell holds. Changes of a command in
// the background count while a call runs, and not between two calls.
func (g gate) openCall(condition string) []apptest.ToolCall {
	return apptest.ShellCall("echo go > " + string(g) + "; until " + condition + "; do sleep 0.01; done")
}

// TestChangesAreTrackedOnce changes files by background commands and by later calls of the same
// answer. Each change is notified once, and all can be reverted.
func TestChangesAreTrackedOnce(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	atFirst, g := p.Files(), newGate(t)
	background := apptest.ExecCall(g.waitCommand()+"; echo a > a.txt; sleep 600", apptest.Object{"yield_time_ms": 250})
	turn := c.BeginTurn(id,
		apptest.ScriptText(append(append(background, apptest.ShellCall("echo b > b.txt")...), addFileCall("c.txt", "c")...),
			g.openCall("[ -s a.txt ]"), apptest.ShellCall("echo more >> a.txt")))
	end := c.UntilMethod("turn/completed")
	require.Equal(t, []string{"a.txt", "b.txt", "c.txt"}, changedPaths(end))
	require.Len(t, c.Terminals(id), 1)
	c.RevertTo(id, turn, "both")
	require.Equal(t, atFirst, p.Files())
	c.Close()
}

// TestTerminalInputChangesAreTracked attributes changes to the turn that writes to the terminal.
func TestTerminalInputChangesAreTracked(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, o := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	_, end := p.RunChanges(c, id,
		apptest.ScriptText(apptest.ExecCall("bash --norc --noprofile", apptest.Object{"tty": true, "yield_time_ms": 250})))
	require.Empty(t, changedPaths(end))
	before, first, second := p.Files(), newGate(t), newGate(t)
	turn, end := p.RunChanges(c, id, apptest.ScriptText(
		apptest.StdinCall(first.waitCommand()+"; echo typed > doc.txt; rm gone.txt\n"), first.openCall("[ ! -e gone.txt ]"),
		apptest.StdinCall(second.waitCommand()+"; echo more > new.txt\n"), second.openCall("[ -s new.txt ]")))
	require.Contains(t, o.Outputs()[0], "session ID")
	require.Equal(t, []string{"doc.txt", "gone.txt", "new.txt"}, changedPaths(end))
	c.RevertTo(id, turn, "files")
	require.Equal(t, before, p.Files())
	turn, end = p.RunChanges(c, id, apptest.ScriptText(apptest.StdinUntilEnd("echo last > last.txt; exit\n")))
	require.Equal(t, []string{"last.txt"}, changedPaths(end))
	require.Empty(t, c.Terminals(id))
	c.RevertTo(id, turn, "files")
	require.Equal(t, before, p.Files())
	c.Close()
}

// TestDiffFollowsItem notifies the diff of a call after its item and before the end of the turn. It
// equals the files.
func TestDiffFollowsItem(t *testing.T) {
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	p.RunChanges(c, id, apptest.ScriptText(apptest.ShellCall("echo a > a.txt"), addFileCall("b.txt", "b"),
		apptest.ExecCall("echo c > c.txt", nil), apptest.ShellCall("rm b.txt a.txt c.txt")))
	var received []string
	for _, m := range c.Seen {
		switch m.Method {
		case "item/completed":
			if kind := gjson.GetBytes(m.Params, "item.type").Str; kind == "commandExecution" || kind == "fileChange" {
				received = append(received, kind)
			}
		case "turn/diff/updated", "turn/completed":
			received = append(received, m.Method)
		}
	}
	require.Equal(t, []string{"commandExecution", "turn/diff/updated", "fileChange", "turn/diff/updated",
		"commandExecution", "turn/diff/updated", "commandExecution", "turn/diff/updated", "turn/completed"}, received)
	c.Close()
}

// TestReviewChangesAreTracked attributes changes of a reviewer's command to the review, and reverts
// them.
func TestReviewChangesAreTracked(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	before := p.Files()
	p.RunChanges(c, id, apptest.ScriptText(apptest.ExecCall("sleep 600", apptest.Object{"yield_time_ms": 250})))
	instructions := apptest.ScriptText(apptest.ShellCall("echo reviewed > doc.txt"),
		apptest.ExecCall("echo x > x.txt; echo $$", apptest.Object{"tty": true}),
		addFileCall("never.txt", "n"), apptest.StdinCall("x"))
	turn := gjson.GetBytes(c.Call("review/start",
		apptest.Object{"threadId": id, "target": apptest.Object{"type": "custom", "instructions": instructions}}),
		"turn.id").Str
	end := c.UntilMethod("turn/completed")
	require.Equal(t, "completed", gjson.GetBytes(end.Params, "turn.status").Str)
	require.Equal(t, []string{"doc.txt", "x.txt"}, changedPaths(end))
	require.Len(t, c.Terminals(id), 1, "a reviewer changes no terminals")
	c.RevertTo(id, turn, "files")
	require.Equal(t, before, p.Files())
	c.Close()
}

// TestUserCommandChangesAreNotTheTurns runs a command of the user during a turn that changes
// nothing.
func TestUserCommandChangesAreNotTheTurns(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "workspace-write", "approvalPolicy": "never"})
	c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": "echo mine > mine.txt; echo mine >> doc.txt"})
	end := c.UntilMethod("turn/completed")
	require.Empty(t, changedPaths(end))
	mine := p.Files()
	turn, end := p.RunChanges(c, id, apptest.ScriptText(apptest.ShellCall("echo theirs > theirs.txt")))
	require.Equal(t, []string{"theirs.txt"}, changedPaths(end))
	c.RevertTo(id, turn, "files")
	require.Equal(t, mine, p.Files())
	c.Close()
}

// TestPatchAndBackgroundCommandConflict patches a file that a background command writes as well.
// The patch is rejected, or a later revert has a conflict. No text is lost.
func TestPatchAndBackgroundCommandConflict(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, o := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := c.StartThread(apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	fifo := filepath.Join(t.TempDir(), "go")
	require.NoError(t, posix.Mkfifo(fifo, 0o600))
	script := "while read line < " + fifo + "; do echo $line > doc.txt; echo $line > " + fifo +
		"; done"
	c.RunScript(id, apptest.ExecCall(script, apptest.Object{"yield_time_ms": 250}))
	send := func(line string) {
		require.NoError(t, os.WriteFile(fifo, []byte(line+"\n"), 0))
		text, err := os.ReadFile(fifo)
		require.NoError(t, err)
		require.Equal(t, line+"\n", string(text))
	}
	send("of the command")
	change := func(from, to string) []apptest.ToolCall {
		return apptest.OneCall("apply_patch",
			apptest.Object{"input": "*** Begin Patch\n*** Update File: doc.txt\n@@\n-" + from + "\n+" + to +
				"\n*** End Patch\n"})
	}
	c.RunScript(id, change("two", "patched"))
	require.Contains(t, o.LastOutput(), "No file was changed")
	turn := c.RunScript(id, change("of the command", "patched"))
	send("once more")
	require.Equal(t, "checkpointConflict",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": turn, "mode": "both"}).Data.Kind)
	require.Equal(t, "once more\n", p.Files()["doc.txt"])
	p.Write("doc.txt", "patched\n")
	c.RevertTo(id, turn, "files")
	require.Equal(t, "of the command\n", p.Files()["doc.txt"])
	require.Len(t, c.Terminals(id), 1, "a revert killed a command")
	c.Close()
}

// TestTwoThreadsInOneWorktree reverts each thread's changes in any order if they are separate. A
// thread whose file another one changed later reverts nothing.
func TestTwoThreadsInOneWorktree(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	params := apptest.Object{"cwd": p.Dir, "sandbox": "danger-full-access", "approvalPolicy": "never"}
	one, two := c.StartThread(params), c.StartThread(params)
	atFirst := p.Files()
	first := c.RunScript(one, addFileCall("one.txt", "1"), apptest.ShellCall("echo one > doc.txt"))
	second := c.RunScript(two, addFileCall("two.txt", "2"), apptest.ShellCall("echo two > doc.txt"))
	rejected := c.Request("thread/checkpoint/revert", apptest.Object{"threadId": one, "turnId": first, "mode": "files"})
	require.Equal(t, `["`+filepath.Join(p.Dir, "doc.txt")+`"]`, gjson.Get(rejected.Line, "error.data.paths").Raw)
	require.Equal(t, "1\n", p.Files()["one.txt"])
	c.RevertTo(two, second, "both")
	require.Equal(t, "one\n", p.Files()["doc.txt"])
	c.RevertTo(one, first, "both")
	require.Equal(t, atFirst, p.Files())
	c.Close()
}
