package e2e

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestRevertsCombine combines thread/revert with checkpoint reverts. A reverted turn keeps its
// checkpoint; files can be reverted to it without the conversation, and both can be reverted beyond
// it.
func TestRevertsCombine(t *testing.T) { apptest.OnBothWires(t, testRevertsCombine) }

func testRevertsCombine(t *testing.T, on apptest.WireAPI) {
	t.Parallel()
	c, o := apptest.StartScriptedOn(t, on)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	atFirst := p.Files()
	first := c.RunScript(id, apptest.ShellCall("echo 1 > doc.txt"))
	afterFirst := p.Files()
	second := c.RunScript(id, apptest.ShellCall("echo 2 > doc.txt; echo 2 > two.txt"))
	afterSecond := p.Files()
	c.Call("thread/revert", apptest.Object{"threadId": id, "beforeTurnId": second})
	require.Equal(t, afterSecond, p.Files(), "thread/revert leaves files")
	list := c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id})
	require.Equal(t, second, list.Get("data.0.id").Str)
	require.False(t, list.Get("data.0.inThread").Bool())
	require.Contains(t, c.CallJSON("thread/diff/read", apptest.Object{"threadId": id, "turnId": second}).Get("diff").Str,
		"two.txt")
	require.Equal(t, "turnNotFound",
		c.CallRejected("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": second, "mode": "both"}).Data.Kind)
	require.Equal(t, afterSecond, p.Files())
	c.RevertTo(id, second, "files")
	require.Equal(t, afterFirst, p.Files())

	third := c.RunScript(id, apptest.ShellCall("cat doc.txt; echo 3 > three.txt"))
	require.Contains(t, o.LastOutput(), "1\n", "the model sees the current files")
	require.NotContains(t, o.Requests()[len(o.Requests())-1].Body, "two.txt")
	answer := c.RevertTo(id, first, "both")
	require.Equal(t, fmt.Sprintf(`[%q,%q]`, first, third), answer.Get("removedTurnIds").Raw)
	require.Equal(t, atFirst, p.Files())
	require.Empty(t, c.ReadThread(id).Turns)
	fourth := c.RunScript(id, apptest.ShellCall("echo 4 > doc.txt"))
	c.RevertTo(id, fourth, "both")
	require.Equal(t, atFirst, p.Files())
	c.Close()
}

// TestContextEditsAndFileRevertsAreIndependent undoes context edits without files, and reverts
// files without context edits. Edits of reverted turns cannot be undone.
func TestContextEditsAndFileRevertsAreIndependent(t *testing.T) {
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	atFirst := p.Files()
	first := c.RunScript(id, apptest.ShellCall("echo 1 > doc.txt"))
	afterFirst := p.Files()
	second := c.RunScript(id, apptest.ShellCall("echo 2 > doc.txt"))
	items := func() gjson.Result { return c.CallJSON("context/getItems", apptest.Object{"threadId": id}) }
	edited := items().Get(`items.#(turnId=="` + second + `").id`).Str
	c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": []string{edited}, "included": false})
	revision := items().Get("revision").Int()
	require.Positive(t, revision)
	c.RevertTo(id, second, "files")
	require.Equal(t, afterFirst, p.Files())
	require.Equal(t, revision, items().Get("revision").Int(), "a revert of files changed the context")
	c.Call("context/undo", apptest.Object{"threadId": id})
	require.True(t, items().Get(`items.#(id=="`+edited+`").included`).Bool())
	require.Equal(t, afterFirst, p.Files(), "an undo changed files")
	c.Call("context/redo", apptest.Object{"threadId": id})
	c.RevertTo(id, second, "both")
	require.False(t, items().Get(`items.#(id=="`+edited+`")`).Exists())
	c.Request("context/undo", apptest.Object{"threadId": id})
	require.False(t, items().Get(`items.#(id=="`+edited+`")`).Exists(), "an undo restored a reverted turn")
	require.Equal(t, afterFirst, p.Files())
	c.RevertTo(id, first, "both")
	require.Equal(t, atFirst, p.Files())
	c.Close()
}

// TestInterruptDuringCaptureEndsTurn interrupts a turn while its worktree is captured. The turn
// ends at once, and the next one has a checkpoint.
func TestInterruptDuringCaptureEndsTurn(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	for i := range 1000 {
		dir := filepath.Join(p.Dir, fmt.Sprint("d", i%40))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(rand.Text()), 0o644))
	}
	id := p.StartTrusted(c)
	for range 3 {
		turn := c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall("echo never > never.txt")))
		c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
		require.Equal(t, "interrupted", c.AwaitTurn().Status)
	}
	if _, err := os.Stat(filepath.Join(p.Dir, "never.txt")); err == nil {
		require.NoError(t, os.Remove(filepath.Join(p.Dir, "never.txt")))
	}
	atFirst := p.Files()
	turn := c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall("echo x > doc.txt; rm d1/1")))
	require.Equal(t, []string{"d1/1", "doc.txt"}, changedPaths(c.UntilMethod("turn/completed")))
	require.Equal(t, turn, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data.0.id").Str)
	c.RevertTo(id, turn, "files")
	require.Equal(t, atFirst, p.Files())
	require.Empty(t, p.Git("fsck", "--no-dangling", "--no-progress"))
	c.Close()
}

// TestRevertWaitsForCapture reverts to a turn whose capture still runs. The turn did not wait for
// it; the revert does.
func TestRevertWaitsForCapture(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t, "-c", "compat.turn_completed_floor_ms=0")
	p := apptest.NewRepository(t)
	noise := make([]byte, 32<<20) // the capture takes longer than the model
	_, err := rand.Read(noise)
	require.NoError(t, err)
	p.Write("noise", string(noise))
	id, before := p.StartTrusted(c), p.Files()
	for _, mode := range []string{"files", "both"} {
		turn := c.Turn(id, "only talk").ID
		require.Equal(t, mode, c.RevertTo(id, turn, mode).Get("mode").Str)
	}
	require.Len(t, c.ReadThread(id).Turns, 1)
	require.Equal(t, before, p.Files())
	c.Close()
}

// TestFailingCaptureWarnsOnce limits file sizes so that captures of a large file fail. The turns
// run with one warning, and captures work again when the file is removed.
func TestFailingCaptureWarnsOnce(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	noise := make([]byte, 4<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	p.Write("noise", string(noise))
	c := apptest.StartProcess(t,
		apptest.ThroughShell(apptest.ServerCommand(t, o.Home(t)),
			`trap '' XFSZ; ulimit -f 1024; exec "$@"`)) // 512 KiB or 1 MiB a file
	c.Initialize()
	id := p.StartTrusted(c)
	c.RunScript(id, apptest.ShellCall("echo 1 > one.txt"))
	require.FileExists(t, filepath.Join(p.Dir, "one.txt"))
	c.RunScript(id, apptest.ShellCall("echo 2 > two.txt"))
	warned := 0
	for _, m := range c.Seen {
		if m.Method == "warning" && strings.Contains(gjson.GetBytes(m.Params, "message").Str, "only in part") {
			warned++
		}
	}
	require.Equal(t, 1, warned)
	require.Empty(t, c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id}).Get("data").Array())
	require.NoError(t, os.Remove(filepath.Join(p.Dir, "noise")))
	before := p.Files()
	turn, _ := p.RunChanges(c, id, apptest.ScriptText(apptest.ShellCall("echo 3 > doc.txt")))
	c.RevertTo(id, turn, "files")
	require.Equal(t, before, p.Files())
	require.Empty(t, p.Git("fsck", "--no-dangling", "--no-progress"))
	c.Close()
}

// TestRevertOnFullDiskChangesNothing runs out of space during a revert. Files and conversation do
// not change, and the revert works later.
func TestRevertOnFullDiskChangesNothing(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	large := strings.Repeat("0123456789abcde\n", 4<<20/16)
	p.Write("large.txt", large)
	home := o.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := p.StartTrusted(c)
	turn := c.RunScript(id, apptest.ShellCall("echo a > doc.txt; echo b > large.txt; rm gone.txt"))
	after := p.Files()
	c.Close()

	c = apptest.StartProcess(t, apptest.ThroughShell(apptest.ServerCommand(t, home),
		`trap '' XFSZ; ulimit -f 1024; exec "$@"`))
	c.Initialize()
	require.NotNil(t, c.Request("thread/checkpoint/revert",
		apptest.Object{"threadId": id, "turnId": turn, "mode": "both"}).Error)
	require.Equal(t, after, p.Files())
	require.Len(t, c.ReadThread(id).Turns, 1)
	left, err := filepath.Glob(filepath.Join(p.Dir, ".appserver-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	c.Close()
	c = apptest.StartServer(t, home)
	c.Initialize()
	c.RevertTo(id, turn, "both")
	require.Equal(t, large, p.Files()["large.txt"])
	require.Equal(t, "gone\n", p.Files()["gone.txt"])
	c.Close()
}

// TestArchiveWithBackgroundCommandKeepsChanges archives a thread with a running command. Its
// recorded changes can be reverted after unarchiving.
func TestArchiveWithBackgroundCommandKeepsChanges(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	atFirst, g := p.Files(), newGate(t)
	background := apptest.ExecCall(g.waitCommand()+"; echo a > a.txt; sleep 600", apptest.Object{"yield_time_ms": 250})
	turn := c.RunScript(id, background, g.openCall("[ -s a.txt ]"), addFileCall("b.txt", "b"))
	diff := c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str
	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Equal(t, diff, c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str)
	collectGarbage(p)
	c.Call("thread/unarchive", apptest.Object{"threadId": id})
	require.Equal(t, diff, c.CallJSON("thread/diff/read", apptest.Object{"threadId": id}).Get("diff").Str)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Empty(t, c.Terminals(id))
	c.RevertTo(id, turn, "both")
	require.Equal(t, atFirst, p.Files())
	c.Close()
}

// TestCrashDuringTerminalInputKeepsEarlierChanges kills the server while a command on a terminal
// writes. The changes of earlier calls can be reverted; those of the terminal have no known author.
func TestCrashDuringTerminalInputKeepsEarlierChanges(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	home := o.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := p.StartTrusted(c)
	atFirst := p.Files()
	turn := c.BeginTurn(id,
		apptest.ScriptText(apptest.ShellCall("echo 1 > doc.txt"),
			apptest.ExecCall("bash --norc --noprofile", apptest.Object{"tty": true, "yield_time_ms": 250}),
			apptest.OneCall("write_stdin",
				apptest.Object{"session_id": apptest.LastSession, "chars": "echo 2 > typed.txt; echo ty''ped\n",
					"yield_time_ms": 30_000})))
	c.Until(func(m apptest.Message) bool {
		return m.Method == "item/commandExecution/outputDelta" &&
			strings.Contains(gjson.GetBytes(m.Params, "delta").Str, "typed\r\n")
	})
	c.Kill()
	c = apptest.StartServer(t, home)
	c.Initialize()
	resumed := c.CallThread("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "interrupted", resumed.Turns[0].Status)
	require.Empty(t, c.Terminals(id))
	c.RevertTo(id, turn, "both")
	atFirst["typed.txt"] = "2\n"
	require.Equal(t, atFirst, p.Files())
	c.Close()
}
