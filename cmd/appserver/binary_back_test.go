package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryWaysBackMeet: a turn that thread/revert took out keeps its checkpoint and its changes;
// files go back to it, the conversation does not, and both go back beyond it.
func TestBinaryWaysBackMeet(t *testing.T) { onBothWires(t, waysBackMeet) }

func waysBackMeet(t *testing.T, on wireAPI) {
	t.Parallel()
	c, o := startObedientOn(t, on)
	p := newRepository(t)
	id := p.trusting(c)
	atFirst := p.files()
	first := c.done(id, runsShell("echo 1 > doc.txt"))
	afterFirst := p.files()
	second := c.done(id, runsShell("echo 2 > doc.txt; echo 2 > two.txt"))
	afterSecond := p.files()
	c.call("thread/revert", object{"threadId": id, "beforeTurnId": second})
	require.Equal(t, afterSecond, p.files(), "thread/revert leaves files")
	list := c.get("thread/checkpoint/list", object{"threadId": id})
	require.Equal(t, second, list.Get("data.0.id").Str)
	require.False(t, list.Get("data.0.inThread").Bool())
	require.Contains(t, c.get("thread/diff/read", object{"threadId": id, "turnId": second}).Get("diff").Str, "two.txt")
	require.Equal(t, "turnNotFound", c.refused("thread/checkpoint/revert", object{"threadId": id, "turnId": second, "mode": "both"}).Data.Kind)
	require.Equal(t, afterSecond, p.files())
	c.revertTo(id, second, "files")
	require.Equal(t, afterFirst, p.files())

	third := c.done(id, runsShell("cat doc.txt; echo 3 > three.txt"))
	require.Contains(t, o.lastOutput(), "1\n", "the model sees what is there")
	require.NotContains(t, o.asked()[len(o.asked())-1].Body, "two.txt")
	answer := c.revertTo(id, first, "both")
	require.Equal(t, fmt.Sprintf(`[%q,%q]`, first, third), answer.Get("removedTurnIds").Raw)
	require.Equal(t, atFirst, p.files())
	require.Empty(t, c.readThread(id).Turns)
	fourth := c.done(id, runsShell("echo 4 > doc.txt"))
	c.revertTo(id, fourth, "both")
	require.Equal(t, atFirst, p.files())
	c.close()
}

// TestBinaryEditsOfTheContextMeetReverts: what was edited in the context is undone without the
// files, files go back without the context, and edits of turns that left cannot be undone.
func TestBinaryEditsOfTheContextMeetReverts(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := p.trusting(c)
	atFirst := p.files()
	first := c.done(id, runsShell("echo 1 > doc.txt"))
	afterFirst := p.files()
	second := c.done(id, runsShell("echo 2 > doc.txt"))
	items := func() gjson.Result { return c.get("context/getItems", object{"threadId": id}) }
	edited := items().Get(`items.#(turnId=="` + second + `").id`).Str
	c.call("context/setInclusion", object{"threadId": id, "ids": []string{edited}, "included": false})
	revision := items().Get("revision").Int()
	require.Positive(t, revision)
	c.revertTo(id, second, "files")
	require.Equal(t, afterFirst, p.files())
	require.Equal(t, revision, items().Get("revision").Int(), "files alone edit no context")
	c.call("context/undo", object{"threadId": id})
	require.True(t, items().Get(`items.#(id=="`+edited+`").included`).Bool())
	require.Equal(t, afterFirst, p.files(), "and an edit undone changes no file")
	c.call("context/redo", object{"threadId": id})
	c.revertTo(id, second, "both")
	require.False(t, items().Get(`items.#(id=="`+edited+`")`).Exists())
	c.request("context/undo", object{"threadId": id})
	require.False(t, items().Get(`items.#(id=="`+edited+`")`).Exists(), "a turn that left does not come back so")
	require.Equal(t, afterFirst, p.files())
	c.revertTo(id, first, "both")
	require.Equal(t, atFirst, p.files())
	c.close()
}

// TestBinaryInterruptsCaptures: a turn that is interrupted while its worktree is captured ends at
// once, and the next one has its checkpoint.
func TestBinaryInterruptsCaptures(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	for i := range 4000 {
		dir := filepath.Join(p.dir, fmt.Sprint("d", i%40))
		require.NoError(t, os.MkdirAll(dir, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(rand.Text()), 0o644))
	}
	id := p.trusting(c)
	for range 3 {
		turn := c.beginTurn(id, does(runsShell("echo never > never.txt")))
		c.call("turn/interrupt", object{"threadId": id, "turnId": turn})
		require.Equal(t, "interrupted", c.awaitTurn().Status)
	}
	if _, err := os.Stat(filepath.Join(p.dir, "never.txt")); err == nil {
		require.NoError(t, os.Remove(filepath.Join(p.dir, "never.txt")))
	}
	atFirst := p.files()
	turn := c.beginTurn(id, does(runsShell("echo x > doc.txt; rm d1/1")))
	require.Equal(t, []string{"d1/1", "doc.txt"}, changed(c.untilMethod("turn/completed")))
	require.Equal(t, turn, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data.0.id").Str)
	c.revertTo(id, turn, "files")
	require.Equal(t, atFirst, p.files())
	require.Empty(t, p.git("fsck", "--no-dangling", "--no-progress"))
	c.close()
}

// TestBinaryRevertsBeforeTheCheckpointIsThere: a turn that wrote nothing does not wait for its
// checkpoint; a revert to it does.
func TestBinaryRevertsBeforeTheCheckpointIsThere(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t, "-c", "compat.turn_completed_floor_ms=0")
	p := newRepository(t)
	noise := make([]byte, 32<<20) // takes longer than the model
	_, err := rand.Read(noise)
	require.NoError(t, err)
	p.write("noise", string(noise))
	id, before := p.trusting(c), p.files()
	for _, mode := range []string{"files", "both"} {
		turn := c.turn(id, "only talk").ID
		require.Equal(t, mode, c.revertTo(id, turn, mode).Get("mode").Str)
	}
	require.Len(t, c.readThread(id).Turns, 1)
	require.Equal(t, before, p.files())
	c.close()
}

// TestBinaryGoesOnWhereCapturesFail: a server that cannot write what a capture takes tells so,
// once, runs the turn, and captures again when it can.
func TestBinaryGoesOnWhereCapturesFail(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	noise := make([]byte, 4<<20)
	_, err := rand.Read(noise)
	require.NoError(t, err)
	p.write("noise", string(noise))
	c := dial(t, throughShell(serverCommand(t, o.home(t)), `trap '' XFSZ; ulimit -f 1024; exec "$@"`)) // 512 KiB or 1 MiB a file
	c.initialize()
	id := p.trusting(c)
	c.done(id, runsShell("echo 1 > one.txt"))
	require.FileExists(t, filepath.Join(p.dir, "one.txt"))
	c.done(id, runsShell("echo 2 > two.txt"))
	warned := 0
	for _, m := range c.seen {
		if m.Method == "warning" && strings.Contains(gjson.GetBytes(m.Params, "message").Str, "in part only") {
			warned++
		}
	}
	require.Equal(t, 1, warned)
	require.Empty(t, c.get("thread/checkpoint/list", object{"threadId": id}).Get("data").Array())
	require.NoError(t, os.Remove(filepath.Join(p.dir, "noise")))
	before := p.files()
	turn, _ := p.changes(c, id, does(runsShell("echo 3 > doc.txt")))
	c.revertTo(id, turn, "files")
	require.Equal(t, before, p.files())
	require.Empty(t, p.git("fsck", "--no-dangling", "--no-progress"))
	c.close()
}

// TestBinaryCannotRevertOntoAFullDisk: a revert whose files cannot be written leaves all of them,
// and the conversation, as they were, and works later.
func TestBinaryCannotRevertOntoAFullDisk(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	large := strings.Repeat("0123456789abcde\n", 4<<20/16)
	p.write("large.txt", large)
	home := o.home(t)
	c := startServer(t, home)
	c.initialize()
	id := p.trusting(c)
	turn := c.done(id, runsShell("echo a > doc.txt; echo b > large.txt; rm gone.txt"))
	after := p.files()
	c.close()

	c = dial(t, throughShell(serverCommand(t, home), `trap '' XFSZ; ulimit -f 1024; exec "$@"`))
	c.initialize()
	require.NotNil(t, c.request("thread/checkpoint/revert", object{"threadId": id, "turnId": turn, "mode": "both"}).Error)
	require.Equal(t, after, p.files())
	require.Len(t, c.readThread(id).Turns, 1)
	left, err := filepath.Glob(filepath.Join(p.dir, ".appserver-*"))
	require.NoError(t, err)
	require.Empty(t, left)
	c.close()
	c = startServer(t, home)
	c.initialize()
	c.revertTo(id, turn, "both")
	require.Equal(t, large, p.files()["large.txt"])
	require.Equal(t, "gone\n", p.files()["gone.txt"])
	c.close()
}

// TestBinaryArchivesWhatRuns: a thread that is archived with a command in the background keeps what
// that changed while it was looked at, and takes it back once it is out of the archive.
func TestBinaryArchivesWhatRuns(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := p.trusting(c)
	atFirst := p.files()
	turn := c.done(id, runsExec("echo a > a.txt; sleep 600", object{"yield_time_ms": 250}), addsFile("b.txt", "b"))
	told := c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str
	c.call("thread/archive", object{"threadId": id})
	require.Equal(t, told, c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str)
	p.collect()
	c.call("thread/unarchive", object{"threadId": id})
	require.Equal(t, told, c.get("thread/diff/read", object{"threadId": id}).Get("diff").Str)
	c.call("thread/resume", object{"threadId": id})
	require.Empty(t, c.terminals(id))
	c.revertTo(id, turn, "both")
	require.Equal(t, atFirst, p.files())
	c.close()
}

// TestCrashWhileSomethingIsTyped: what the turn's calls before it changed can be taken back, and
// what was typed is nobody's.
func TestCrashWhileSomethingIsTyped(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	home := o.home(t)
	c := startServer(t, home)
	c.initialize()
	id := p.trusting(c)
	atFirst := p.files()
	turn := c.beginTurn(id, does(runsShell("echo 1 > doc.txt"), runsExec("bash --norc --noprofile", object{"tty": true, "yield_time_ms": 250}),
		call("write_stdin", object{"session_id": lastSession, "chars": "echo 2 > typed.txt; echo ty''ped\n", "yield_time_ms": 30_000})))
	c.until(func(m message) bool {
		return m.Method == "item/commandExecution/outputDelta" && strings.Contains(gjson.GetBytes(m.Params, "delta").Str, "typed\r\n")
	})
	c.kill()
	c = startServer(t, home)
	c.initialize()
	resumed := c.threadOf("thread/resume", object{"threadId": id})
	require.Equal(t, "interrupted", resumed.Turns[0].Status)
	require.Empty(t, c.terminals(id))
	c.revertTo(id, turn, "both")
	atFirst["typed.txt"] = "2\n"
	require.Equal(t, atFirst, p.files())
	c.close()
}
