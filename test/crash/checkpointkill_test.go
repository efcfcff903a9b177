package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestCrashDuringCaptureLeavesNoLocks kills servers at several moments of a capture. There is no
// lock, no partial capture and no temporary file in the worktree that stops the next server.
func TestCrashDuringCaptureLeavesNoLocks(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	model, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	for i := range 2000 {
		require.NoError(t, os.MkdirAll(filepath.Join(p.Dir, "d"), 0o755))
		p.Write(filepath.Join("d", strings.Repeat("x", 1+i/100)+strings.Repeat("y", 1+i%100)), strings.Repeat("text\n", i))
	}
	home := model.Home(t)
	var id string
	for i := range 6 {
		c := apptest.StartServer(t, home)
		c.Initialize()
		id = p.StartTrusted(c)
		c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall("echo never > doc.txt")))
		select { // a chosen moment of the kill
		case <-c.Exited:
		case <-time.After(time.Duration(i) * 15 * time.Millisecond):
		}
		c.Kill()
		p.Write("doc.txt", "one\ntwo\nthree\n")
	}
	before := p.Files()
	c := apptest.StartServer(t, home)
	c.Initialize()
	id = p.StartTrusted(c)
	turn := c.RunScript(id, apptest.ShellCall("echo changed > doc.txt; rm gone.txt"))
	c.RevertTo(id, turn, "both")
	require.Equal(t, before, p.Files())
	require.Empty(t, p.Git("fsck", "--no-dangling", "--no-progress"))
	require.NotContains(t, p.Git("status", "--porcelain"), ".appserver")
	c.Close()
}

// TestCrashDuringRevertKeepsFilesWhole kills servers at several moments of a revert. All files are
// whole, and the repeated revert restores the files and the conversation.
func TestCrashDuringRevertKeepsFilesWhole(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	model, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	for i := range 300 {
		p.Write("f"+strings.Repeat("x", i%50)+strings.Repeat("y", i/50), "original\n")
	}
	home, initial := model.Home(t), p.Files()
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := p.StartTrusted(c)
	turn := c.RunScript(id, apptest.ShellCall("for f in f*; do echo changed > $f; done; rm gone.txt; mkdir n; echo n > n/n"))
	after := p.Files()
	for i := range 8 {
		c.SendRequest("thread/checkpoint/revert", apptest.Object{"threadId": id, "turnId": turn, "mode": "both"})
		select {
		case <-c.Exited:
		case <-time.After(time.Duration(i) * 20 * time.Millisecond):
		}
		c.Kill()
		for name, text := range p.Files() {
			if strings.HasPrefix(name, ".appserver-restore-") {
				continue // the next capture deletes it
			}
			require.Contains(t, []string{initial[name], after[name]}, text, "%s is not whole", name)
		}
		c = apptest.StartServer(t, home)
		c.Initialize()
		if len(c.ReadThread(id).Turns) == 0 {
			require.Equal(t, initial, p.Files(), "the conversation is reverted, but the files are not")
			break
		}
	}
	if len(c.ReadThread(id).Turns) > 0 {
		c.RevertTo(id, turn, "both")
	}
	require.Equal(t, initial, p.Files())
	require.Empty(t, c.ReadThread(id).Turns)
	c.Close()
}

// TestCrashDuringReviewKeepsItsChanges kills the server during a review. The reviewer's changes are
// recorded and can be reverted, and the process tree of an earlier command is killed.
func TestCrashDuringReviewKeepsItsChanges(t *testing.T) {
	t.Parallel()
	model, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	home := model.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := p.StartTrusted(c)
	tree := apptest.NewProcessTree()
	t.Cleanup(func() { tree.Kill(t) })
	c.RunScript(id, apptest.ExecCall(tree.Script(), apptest.Object{"yield_time_ms": 250}))
	before := p.Files()
	instructions := apptest.ScriptText(apptest.ShellCall("echo reviewed > doc.txt"),
		apptest.ShellCall("echo started; sleep 600"))
	c.Call("review/start",
		apptest.Object{"threadId": id, "target": apptest.Object{"type": "custom", "instructions": instructions}})
	c.UntilOutput("started\n")
	c.Kill()
	require.Eventually(t, func() bool { return len(tree.Alive(t)) == 0 }, apptest.Timeout, 10*time.Millisecond)
	c = apptest.StartServer(t, home)
	c.Initialize()
	list := c.CallJSON("thread/checkpoint/list", apptest.Object{"threadId": id})
	require.Equal(t, int64(1), list.Get("data.0.changedFiles").Int())
	c.Call("thread/resume", apptest.Object{"threadId": id})
	c.RevertTo(id, list.Get("data.0.turnId").Str, "both")
	require.Equal(t, before, p.Files())
	require.Len(t, c.ReadThread(id).Turns, 1)
	require.Equal(t, "completed", c.ReadThread(id).Turns[0].Status)
	require.NotContains(t, gjson.GetBytes(c.Call("context/getPrompt", apptest.Object{"threadId": id}), "messages").Raw,
		"reviewed")
	c.Close()
}
