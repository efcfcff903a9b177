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
)

// TestCrashInTheMidstOfACapture: kills at moments all over a capture leave nothing that is in the
// way of the next server: no lock, no half capture, no temporary file in the worktree.
func TestCrashInTheMidstOfACapture(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	for i := range 2000 {
		require.NoError(t, os.MkdirAll(filepath.Join(p.Dir, "d"), 0o755))
		p.Write(filepath.Join("d", strings.Repeat("x", 1+i/100)+strings.Repeat("y", 1+i%100)), strings.Repeat("text\n", i))
	}
	home := o.Home(t)
	var id string
	for i := range 6 {
		c := apptest.StartServer(t, home)
		c.Initialize()
		id = p.StartTrusted(c)
		c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall("echo never > doc.txt")))
		select { // the moment of the kill, not one to wait for something
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

// TestCrashBetweenTheStepsOfARevert: kills at moments all over a revert leave whole files, and the
// same revert again brings the files and the conversation where they should be.
func TestCrashBetweenTheStepsOfARevert(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	for i := range 300 {
		p.Write("f"+strings.Repeat("x", i%50)+strings.Repeat("y", i/50), "as it was\n")
	}
	home, atFirst := o.Home(t), p.Files()
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
				continue // goes with the next capture
			}
			require.Contains(t, []string{atFirst[name], after[name]}, text, "%s is whole", name)
		}
		c = apptest.StartServer(t, home)
		c.Initialize()
		if len(c.ReadThread(id).Turns) == 0 {
			require.Equal(t, atFirst, p.Files(), "a thread that knows of it has its files")
			break
		}
	}
	if len(c.ReadThread(id).Turns) > 0 {
		c.RevertTo(id, turn, "both")
	}
	require.Equal(t, atFirst, p.Files())
	require.Empty(t, c.ReadThread(id).Turns)
	c.Close()
}

// TestCrashBeforeAReviewEnds: what its reviewer changed is known, and can be taken back; a session
// that ran beside it is gone.
func TestCrashBeforeAReviewEnds(t *testing.T) {
	t.Parallel()
	o, p := apptest.NewScriptedModel(t), apptest.NewRepository(t)
	home := o.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := p.StartTrusted(c)
	b := apptest.NewProcessTree()
	t.Cleanup(func() { b.Kill(t) })
	c.RunScript(id, apptest.ExecCall(b.Script(), apptest.Object{"yield_time_ms": 250}))
	before := p.Files()
	instructions := apptest.ScriptText(apptest.ShellCall("echo reviewed > doc.txt"),
		apptest.ShellCall("echo begun; sleep 600"))
	c.Call("review/start",
		apptest.Object{"threadId": id, "target": apptest.Object{"type": "custom", "instructions": instructions}})
	c.UntilOutput("begun\n")
	c.Kill()
	require.Eventually(t, func() bool { return len(b.Alive(t)) == 0 }, apptest.Timeout, 10*time.Millisecond)
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
