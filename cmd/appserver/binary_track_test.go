package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// changed are the paths, in order, that the end of a turn names.
func changed(end message) (paths []string) {
	for _, f := range gjson.GetBytes(end.Params, "metadata.diff.files.#.path").Array() {
		paths = append(paths, f.Str)
	}
	return paths
}

// addsFile has a patch add a file.
func addsFile(name, text string) []act {
	return call("apply_patch", object{"input": "*** Begin Patch\n*** Add File: " + name + "\n+" + text + "\n*** End Patch\n"})
}

// TestBinaryCountsWhatACallLeavesBehind: commands that stay, and calls right behind them in the
// same answer, change files. Each is told once, and all of it can be taken back.
func TestBinaryCountsWhatACallLeavesBehind(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	atFirst := p.files()
	stays := runsExec("echo a > a.txt; sleep 600", object{"yield_time_ms": 250})
	turn := c.beginTurn(id, does(append(append(stays, runsShell("echo b > b.txt")...), addsFile("c.txt", "c")...), runsShell("echo more >> a.txt")))
	end := c.untilMethod("turn/completed")
	require.Equal(t, []string{"a.txt", "b.txt", "c.txt"}, changed(end))
	require.Len(t, c.terminals(id), 1)
	c.revertTo(id, turn, "both")
	require.Equal(t, atFirst, p.files())
	c.close()
}

// TestBinaryCountsWhatIsTyped on a terminal, in the turn that types it.
func TestBinaryCountsWhatIsTyped(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	_, end := p.changes(c, id, does(runsExec("bash --norc --noprofile", object{"tty": true, "yield_time_ms": 250})))
	require.Empty(t, changed(end))
	before := p.files()
	turn, end := p.changes(c, id, does(types("echo typed > doc.txt; rm gone.txt\n"), types("echo more > new.txt\n")))
	require.Contains(t, o.outputs()[0], "session ID")
	require.Equal(t, []string{"doc.txt", "gone.txt", "new.txt"}, changed(end))
	c.revertTo(id, turn, "files")
	require.Equal(t, before, p.files())
	turn, end = p.changes(c, id, does(types("echo last > last.txt; exit\n")))
	require.Equal(t, []string{"last.txt"}, changed(end))
	require.Empty(t, c.terminals(id))
	c.revertTo(id, turn, "files")
	require.Equal(t, before, p.files())
	c.close()
}

// TestBinaryTellsChangesInOrder: the diff of a call comes behind the end of its item and before
// the end of the turn, and holds what the disk does.
func TestBinaryTellsChangesInOrder(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	p.changes(c, id, does(runsShell("echo a > a.txt"), addsFile("b.txt", "b"), runsExec("echo c > c.txt", nil), runsShell("rm b.txt a.txt c.txt")))
	var told []string
	for _, m := range c.seen {
		switch m.Method {
		case "item/completed":
			if kind := gjson.GetBytes(m.Params, "item.type").Str; kind == "commandExecution" || kind == "fileChange" {
				told = append(told, kind)
			}
		case "turn/diff/updated", "turn/completed":
			told = append(told, m.Method)
		}
	}
	require.Equal(t, []string{"commandExecution", "turn/diff/updated", "fileChange", "turn/diff/updated",
		"commandExecution", "turn/diff/updated", "commandExecution", "turn/diff/updated", "turn/completed"}, told)
	c.close()
}

// TestBinaryTracksReviews: what a reviewer's command writes is the review's, and can be taken back.
func TestBinaryTracksReviews(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	before := p.files()
	p.changes(c, id, does(runsExec("sleep 600", object{"yield_time_ms": 250})))
	instructions := does(runsShell("echo reviewed > doc.txt"), runsExec("echo x > x.txt; echo $$", object{"tty": true, "yield_time_ms": 250}), addsFile("never.txt", "n"), types("x"))
	turn := gjson.GetBytes(c.call("review/start", object{"threadId": id, "target": object{"type": "custom", "instructions": instructions}}), "turn.id").Str
	end := c.untilMethod("turn/completed")
	require.Equal(t, "completed", gjson.GetBytes(end.Params, "turn.status").Str)
	require.Equal(t, []string{"doc.txt", "x.txt"}, changed(end))
	require.Len(t, c.terminals(id), 1, "a reviewer leaves none behind, and ends none")
	c.revertTo(id, turn, "files")
	require.Equal(t, before, p.files())
	c.close()
}

// TestBinaryTracksBesideTheUser: what the user's own command changes beside a turn that changes
// nothing is not the turn's.
func TestBinaryTracksBesideTheUser(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "workspace-write", "approvalPolicy": "never"})
	c.call("thread/shellCommand", object{"threadId": id, "command": "echo mine > mine.txt; echo mine >> doc.txt"})
	end := c.untilMethod("turn/completed")
	require.Empty(t, changed(end))
	mine := p.files()
	turn, end := p.changes(c, id, does(runsShell("echo theirs > theirs.txt")))
	require.Equal(t, []string{"theirs.txt"}, changed(end))
	c.revertTo(id, turn, "files")
	require.Equal(t, mine, p.files())
	c.close()
}

// TestBinaryMeetsACommandThatGoesOn: a patch of a file that a command in the background writes,
// too, says that it does not fit, or is followed by a conflict: nobody's text is lost by a revert.
func TestBinaryMeetsACommandThatGoesOn(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	fifo := filepath.Join(t.TempDir(), "go")
	script := "mkfifo " + fifo + "; while read line < " + fifo + "; do echo $line > doc.txt; echo $line > " + fifo + "; done"
	c.done(id, runsExec(script, object{"yield_time_ms": 250}))
	tell := func(line string) {
		require.NoError(t, os.WriteFile(fifo, []byte(line+"\n"), 0))
		text, err := os.ReadFile(fifo)
		require.NoError(t, err)
		require.Equal(t, line+"\n", string(text))
	}
	tell("of the command")
	change := func(from, to string) []act {
		return call("apply_patch", object{"input": "*** Begin Patch\n*** Update File: doc.txt\n@@\n-" + from + "\n+" + to + "\n*** End Patch\n"})
	}
	c.done(id, change("two", "patched"))
	require.Contains(t, o.lastOutput(), "no file was changed")
	turn := c.done(id, change("of the command", "patched"))
	tell("once more")
	require.Equal(t, "checkpointConflict", c.refused("thread/checkpoint/revert", object{"threadId": id, "turnId": turn, "mode": "both"}).Data.Kind)
	require.Equal(t, "once more\n", p.files()["doc.txt"])
	p.write("doc.txt", "patched\n")
	c.revertTo(id, turn, "files")
	require.Equal(t, "of the command\n", p.files()["doc.txt"])
	require.Len(t, c.terminals(id), 1, "a revert ends no command")
	c.close()
}

// TestBinaryTwoThreadsInOneWorktree: each takes back its own, in any order where they do not
// meet, and a thread whose file the other has changed since takes nothing back.
func TestBinaryTwoThreadsInOneWorktree(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	params := object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"}
	one, two := c.startThread(params), c.startThread(params)
	atFirst := p.files()
	first := c.done(one, addsFile("one.txt", "1"), runsShell("echo one > doc.txt"))
	second := c.done(two, addsFile("two.txt", "2"), runsShell("echo two > doc.txt"))
	refused := c.request("thread/checkpoint/revert", object{"threadId": one, "turnId": first, "mode": "files"})
	require.Equal(t, `["`+filepath.Join(p.dir, "doc.txt")+`"]`, gjson.Get(refused.line, "error.data.paths").Raw)
	require.Equal(t, "1\n", p.files()["one.txt"])
	c.revertTo(two, second, "both")
	require.Equal(t, "one\n", p.files()["doc.txt"])
	c.revertTo(one, first, "both")
	require.Equal(t, atFirst, p.files())
	c.close()
}
