package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestCrashInTheMidstOfACapture: kills at moments all over a capture leave nothing that is in the
// way of the next server: no lock, no half capture, no temporary file in the worktree.
func TestCrashInTheMidstOfACapture(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	for i := range 2000 {
		require.NoError(t, os.MkdirAll(filepath.Join(p.dir, "d"), 0o755))
		p.write(filepath.Join("d", strings.Repeat("x", 1+i/100)+strings.Repeat("y", 1+i%100)), strings.Repeat("text\n", i))
	}
	home := o.home(t)
	var id string
	for i := range 6 {
		c := startServer(t, home)
		c.initialize()
		id = p.trusting(c)
		c.beginTurn(id, does(runsShell("echo never > doc.txt")))
		select { // the moment of the kill, not one to wait for something
		case <-c.exited:
		case <-time.After(time.Duration(i) * 15 * time.Millisecond):
		}
		c.kill()
		p.write("doc.txt", "one\ntwo\nthree\n")
	}
	before := p.files()
	c := startServer(t, home)
	c.initialize()
	id = p.trusting(c)
	turn := c.done(id, runsShell("echo changed > doc.txt; rm gone.txt"))
	c.revertTo(id, turn, "both")
	require.Equal(t, before, p.files())
	require.Empty(t, p.git("fsck", "--no-dangling", "--no-progress"))
	require.NotContains(t, p.git("status", "--porcelain"), ".appserver")
	c.close()
}

// TestCrashBetweenTheStepsOfARevert: kills at moments all over a revert leave whole files, and the
// same revert again brings the files and the conversation where they should be.
func TestCrashBetweenTheStepsOfARevert(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	for i := range 300 {
		p.write("f"+strings.Repeat("x", i%50)+strings.Repeat("y", i/50), "as it was\n")
	}
	home, atFirst := o.home(t), p.files()
	c := startServer(t, home)
	c.initialize()
	id := p.trusting(c)
	turn := c.done(id, runsShell("for f in f*; do echo changed > $f; done; rm gone.txt; mkdir n; echo n > n/n"))
	after := p.files()
	for i := range 8 {
		c.ask("thread/checkpoint/revert", object{"threadId": id, "turnId": turn, "mode": "both"})
		select {
		case <-c.exited:
		case <-time.After(time.Duration(i) * 20 * time.Millisecond):
		}
		c.kill()
		for name, text := range p.files() {
			if strings.HasPrefix(name, ".appserver-restore-") {
				continue // goes with the next capture
			}
			require.Contains(t, []string{atFirst[name], after[name]}, text, "%s is whole", name)
		}
		c = startServer(t, home)
		c.initialize()
		if len(c.readThread(id).Turns) == 0 {
			require.Equal(t, atFirst, p.files(), "a thread that knows of it has its files")
			break
		}
	}
	if len(c.readThread(id).Turns) > 0 {
		c.revertTo(id, turn, "both")
	}
	require.Equal(t, atFirst, p.files())
	require.Empty(t, c.readThread(id).Turns)
	c.close()
}

// TestCrashBeforeAReviewEnds: what its reviewer changed is known, and can be taken back; a session
// that ran beside it is gone.
func TestCrashBeforeAReviewEnds(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	home := o.home(t)
	c := startServer(t, home)
	c.initialize()
	id := p.trusting(c)
	b := newBrood()
	t.Cleanup(func() { b.end(t) })
	c.done(id, runsExec(b.script(), object{"yield_time_ms": 250}))
	before := p.files()
	instructions := does(runsShell("echo reviewed > doc.txt"), runsShell("echo begun; sleep 600"))
	c.call("review/start", object{"threadId": id, "target": object{"type": "custom", "instructions": instructions}})
	c.untilOutput("begun\n")
	c.kill()
	require.Eventually(t, func() bool { return len(b.alive(t)) == 0 }, patience, 10*time.Millisecond)
	c = startServer(t, home)
	c.initialize()
	list := c.get("thread/checkpoint/list", object{"threadId": id})
	require.Equal(t, int64(1), list.Get("data.0.changedFiles").Int())
	c.call("thread/resume", object{"threadId": id})
	c.revertTo(id, list.Get("data.0.turnId").Str, "both")
	require.Equal(t, before, p.files())
	require.Len(t, c.readThread(id).Turns, 1)
	require.Equal(t, "completed", c.readThread(id).Turns[0].Status)
	require.NotContains(t, gjson.GetBytes(c.call("context/getPrompt", object{"threadId": id}), "messages").Raw, "reviewed")
	c.close()
}
