package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryKeepsCallsAndOutputsTogether while the user's own command ends beside a call: models
// refuse histories in which anything comes between.
func TestBinaryKeepsCallsAndOutputsTogether(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	p, g := newRepository(t), newGate(t)
	id := p.trusting(c)
	c.beginTurn(id, does(append(runsShell("echo waiting; "+g.waits()), runsShell("echo second")...)))
	c.untilOutput("waiting\n")
	c.call("thread/shellCommand", object{"threadId": id, "command": "echo of the user"})
	c.untilCommand()
	g.open(t)
	require.Equal(t, "completed", c.awaitTurn().Status)
	c.done(id, runsShell("echo third"))
	for _, request := range o.asked() {
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
	require.Contains(t, o.asked()[len(o.asked())-1].Body, "of the user")
	c.close()
}

// TestBinaryRunsTheUsersCommandBesideAQuestion: it neither answers nor waits for that, and the
// turn ends with both.
func TestBinaryRunsTheUsersCommandBesideAQuestion(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "untrusted"})
	c.beginTurn(id, does(runsShell("echo theirs > theirs.txt")))
	question := c.untilMethod("item/commandExecution/requestApproval")
	c.call("thread/shellCommand", object{"threadId": id, "command": "echo mine > mine.txt"})
	c.untilCommand()
	require.FileExists(t, filepath.Join(p.dir, "mine.txt"))
	require.NoFileExists(t, filepath.Join(p.dir, "theirs.txt"))
	require.Contains(t, string(c.call("thread/read", object{"threadId": id})), "waitingOnApproval")
	c.send(object{"id": question.ID, "result": object{"decision": "accept"}})
	end := c.untilMethod("turn/completed")
	require.Equal(t, []string{"theirs.txt"}, changed(end), "what the user did meanwhile is not the turn's")
	c.close()
}

// TestBinaryTracksWhatWasDenied: what a command did before the sandbox was in its way is told and
// taken back, whatever the user decides.
func TestBinaryTracksWhatWasDenied(t *testing.T) {
	t.Parallel()
	for _, decision := range []string{"accept", "decline", "cancel"} {
		for name, runs := range map[string]func(string) []act{"shell": runsShell, "exec_command": func(s string) []act { return runsExec(s, object{"tty": true}) }} {
			t.Run(decision+" "+name, func(t *testing.T) {
				t.Parallel()
				a := newDecider(t)
				a.decision = decision
				p, outside := newRepository(t), filepath.Join(t.TempDir(), "made")
				id := a.startThread(object{"cwd": p.dir, "sandbox": "workspace-write"})
				atFirst := p.files()
				turn := a.beginTurn(id, does(runs("echo more >> doc.txt; touch "+outside)))
				end := a.untilMethod("turn/completed")
				require.Equal(t, 1, a.asked)
				require.Equal(t, []string{"doc.txt"}, changed(end))
				require.Equal(t, map[string]int64{"accept": 2, "decline": 1, "cancel": 1}[decision], gjson.GetBytes(end.Params, "metadata.diff.totalAdditions").Int())
				_, err := os.Stat(outside)
				require.Equal(t, decision == "accept", err == nil)
				a.revertTo(id, turn, "both")
				require.Equal(t, atFirst, p.files())
				a.close()
			})
		}
	}
}

// TestBinaryTakesTheThreadsSettingsOfCheckpoints, whatever the file says by now: as long as the
// thread is loaded it has what it began with.
func TestBinaryTakesTheThreadsSettingsOfCheckpoints(t *testing.T) {
	t.Parallel()
	o, p := newObedient(t), newRepository(t)
	home := o.home(t)
	c := startServer(t, home)
	c.initialize()
	write := func(key string, value any) {
		c.call("config/value/write", object{"keyPath": key, "value": value, "mergeStrategy": "replace"})
	}
	points := func(id string) int {
		return len(c.get("thread/checkpoint/list", object{"threadId": id}).Get("data").Array())
	}
	before := p.trusting(c)
	write("checkpoints.enabled", false)
	off := p.trusting(c)
	own := c.startThread(object{"cwd": p.dir, "sandbox": "danger-full-access", "approvalPolicy": "never", "config": object{"checkpoints.enabled": true, "checkpoints.keep": 1}})
	atFirst := p.files()
	for id, want := range map[string]int{before: 2, off: 0, own: 1} {
		c.done(id, runsShell("echo 1 > doc.txt"))
		turn := c.done(id, runsShell("echo 2 > doc.txt; rm gone.txt"))
		require.Equal(t, want, points(id))
		revert := object{"threadId": id, "turnId": turn, "mode": "files"}
		if want == 0 {
			require.Equal(t, "checkpointsOff", c.refused("thread/checkpoint/revert", revert).Data.Kind)
			p.write("gone.txt", "gone\n")
		} else {
			c.call("thread/checkpoint/revert", revert)
		}
		p.write("doc.txt", atFirst["doc.txt"])
		require.Equal(t, atFirst, p.files())
	}
	c.close()
	c = startServer(t, home)
	c.initialize()
	require.Zero(t, points(before), "off for who does not say otherwise")
	write("checkpoints.enabled", true)
	require.Equal(t, 3, points(before))
	require.Equal(t, 1, points(own))
	c.close()
}

// TestBinaryInterruptEndsItsOwn: of a turn's command, the user's own and a session, the interrupt
// ends the first two.
func TestBinaryInterruptEndsItsOwn(t *testing.T) {
	t.Parallel()
	c, _ := startObedient(t)
	p := newRepository(t)
	id := p.trusting(c)
	var broods [3]brood
	for i := range broods {
		broods[i] = newBrood()
		t.Cleanup(func() { broods[i].end(t) })
	}
	c.done(id, runsExec(broods[0].script(), object{"yield_time_ms": 250}))
	other := c.startTrusted()
	left := newBrood()
	t.Cleanup(func() { left.end(t) })
	otherTurn := c.beginTurn(other, does(runsShell(left.script())))
	c.untilOutput("hatched\n")
	turn := c.beginTurn(id, does(runsShell(broods[1].script())))
	c.untilOutput("hatched\n")
	c.call("thread/shellCommand", object{"threadId": id, "command": broods[2].script()})
	c.untilOutput("hatched\n")
	c.call("turn/interrupt", object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	require.Empty(t, broods[1].alive(t))
	require.Empty(t, broods[2].alive(t))
	require.NotEmpty(t, broods[0].alive(t), "a session goes on")
	require.NotEmpty(t, left.alive(t), "another thread's command, too")
	c.call("turn/interrupt", object{"threadId": other, "turnId": otherTurn})
	c.awaitTurn()
	c.close()
	require.Empty(t, broods[0].alive(t))
}
