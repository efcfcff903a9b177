package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// decider is a client that counts what it is asked, and gives the same decision each time.
type decider struct {
	*client
	t        *testing.T
	model    obedient
	dir      string
	decision string
	asked    int
}

// newDecider is asked for what is outside of the project, and of /tmp, in which tests work.
func newDecider(t *testing.T) *decider {
	c, o := startObedient(t, "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true")
	a := &decider{client: c, t: t, model: o, dir: t.TempDir()}
	c.onAsk = func(message) any {
		a.asked++
		return object{"decision": a.decision}
	}
	return a
}

// decides runs a call and tells how its item ended, and how often it was asked for.
func (a *decider) decides(thread, decision string, acts []act) (status string, asked int) {
	a.t.Helper()
	before, seen := a.asked, len(a.seen)
	a.decision = decision
	a.turn(thread, does(acts))
	for _, item := range completedItems(a.t, a.seen[seen:]) {
		if kind := gjson.Get(item, "type").Str; kind == "commandExecution" || kind == "fileChange" {
			status = gjson.Get(item, "status").Str
		}
	}
	return status, a.asked - before
}

// TestBinaryAsksForCommandsThatStay as for those of the shell, under each policy.
func TestBinaryAsksForCommandsThatStay(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	touch, escalated := "touch "+outside, object{"sandbox_permissions": "require_escalated", "justification": "May I?"}
	granular := object{"granular": object{"sandbox_approval": false, "rules": true, "skill_approval": true, "request_permissions": true, "mcp_elicitations": true}}
	asked := object{"granular": object{"sandbox_approval": true, "rules": true, "skill_approval": true, "request_permissions": true, "mcp_elicitations": true}}
	for _, one := range []struct {
		name             string
		policy           any
		sandbox, decides string
		acts             []act
		status           string
		asked            int
		made             bool
	}{
		{"untrusted, reads", "untrusted", "read-only", "decline", runsExec("ls", nil), "completed", 0, false},
		{"untrusted, declined", "untrusted", "danger-full-access", "decline", runsExec(touch, nil), "declined", 1, false},
		{"untrusted, accepted", "untrusted", "danger-full-access", "accept", runsExec(touch, object{"tty": true}), "completed", 1, true},
		{"untrusted, accepted, runs outside", "untrusted", "workspace-write", "accept", runsExec(touch, nil), "completed", 1, true},
		{"untrusted, accepted, runs outside of read-only", "untrusted", "read-only", "accept", runsShell(touch), "completed", 1, true},
		{"untrusted, accepted for the session", "untrusted", "read-only", "acceptForSession", runsShell(touch), "completed", 1, true},
		{"granular, by force, accepted, runs outside", asked, "read-only", "accept", runsShell("rm -f nothing; " + touch), "completed", 1, true},
		{"on-request, by force, accepted, stays inside", "on-request", "read-only", "accept", runsShell("rm -f nothing; " + touch), "failed", 1, false},
		{"on-request, denied by the kernel", "on-request", "workspace-write", "accept", runsExec(touch, object{"tty": true}), "completed", 1, true},
		{"on-request, denied and declined", "on-request", "read-only", "decline", runsExec(touch, nil), "failed", 1, false},
		{"on-request, escalated", "on-request", "workspace-write", "accept", runsExec(touch, escalated), "completed", 1, true},
		{"on-request, escalated, declined", "on-request", "workspace-write", "decline", runsExec(touch, escalated), "declined", 1, false},
		{"on-request, by force", "on-request", "danger-full-access", "decline", runsExec("rm -rf "+filepath.Dir(outside), nil), "declined", 1, false},
		{"never, escalated", "never", "workspace-write", "accept", runsExec(touch, escalated), "declined", 0, false},
		{"never", "never", "read-only", "accept", runsExec(touch, nil), "failed", 0, false},
		{"granular, escalated", granular, "workspace-write", "accept", runsExec(touch, escalated), "declined", 0, false},
		{"granular", granular, "workspace-write", "accept", runsExec(touch, nil), "failed", 0, false},
	} {
		id := a.startThread(object{"cwd": a.dir, "sandbox": one.sandbox, "approvalPolicy": one.policy})
		status, count := a.decides(id, one.decides, one.acts)
		require.Equal(t, []any{one.status, one.asked}, []any{status, count}, one.name)
		_, err := os.Stat(outside)
		require.Equal(t, one.made, err == nil, one.name)
		require.NoError(t, os.RemoveAll(outside))
		require.DirExists(t, filepath.Dir(outside))
		require.Empty(t, a.terminals(id), one.name)
	}
	a.close()
}

// TestBinaryRemembersScripts whichever tool runs them: the same text in the same directory, and
// nothing near it. Under untrusted that runs outside of the sandbox, so asking for that is no other
// question. Under on-request a script that was accepted inside is asked for again.
func TestBinaryRemembersScripts(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	require.NoError(t, os.Mkdir(filepath.Join(a.dir, "sub"), 0o755))
	id := a.startThread(object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	asks := func(want int, decision string, acts []act) {
		t.Helper()
		_, asked := a.decides(id, decision, acts)
		require.Equal(t, want, asked)
	}
	const script = "touch made; echo made"
	asks(1, "acceptForSession", runsShell(script))
	asks(0, "decline", runsExec(script, nil))
	asks(0, "decline", runsExec(script, object{"tty": true}))
	asks(1, "decline", runsExec(script, object{"shell": "/bin/sh"}))
	asks(1, "decline", runsExec(script+" ", nil))
	asks(1, "decline", runsExec(script, object{"workdir": "sub"}))
	asks(0, "decline", runsExec(script, object{"sandbox_permissions": "require_escalated"}))
	asks(1, "acceptForSession", runsExec(script, object{"shell": "/bin/sh"}))
	asks(0, "decline", runsExec(script, object{"shell": "/bin/sh"}))
	asks(0, "decline", runsShell(script))
	other := a.startThread(object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	_, asked := a.decides(other, "decline", runsShell(script))
	require.Equal(t, 1, asked, "another thread's word is not this one's")

	id = a.startThread(object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	const force = "rm -f made; touch made"
	asks(1, "acceptForSession", runsShell(force))
	asks(0, "decline", runsShell(force))
	asks(1, "decline", runsExec(force, object{"sandbox_permissions": "require_escalated"}))
	a.close()
}

// TestBinaryPatchesByCommandsThatStay are patches, asked for as such, whatever they are wrapped in.
func TestBinaryPatchesByCommandsThatStay(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	id := a.startThread(object{"cwd": a.dir, "sandbox": "read-only"})
	status, asked := a.decides(id, "decline", runsExec(aPatch, object{"tty": true}))
	require.Equal(t, []any{"declined", 1}, []any{status, asked})
	require.NoDirExists(t, filepath.Join(a.dir, "notes"))
	status, asked = a.decides(id, "accept", runsExec(aPatch, object{"sandbox_permissions": "require_escalated"}))
	require.Equal(t, []any{"completed", 1}, []any{status, asked})
	require.FileExists(t, filepath.Join(a.dir, "notes", "new"))
	for _, m := range a.seen {
		require.NotEqual(t, "item/commandExecution/requestApproval", m.Method)
	}
	a.close()
}

// TestBinaryRunsOutsideInTheBackground what the kernel kept from its work: the second run can go on
// as a session, has the number of the first, and an interrupt while the question is open runs nothing.
func TestBinaryRunsOutsideInTheBackground(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	id := a.startThread(object{"cwd": a.dir, "sandbox": "workspace-write"})
	script := runsExec("touch "+outside+" || exit; cat; echo over", object{"tty": true, "yield_time_ms": 1000})
	a.decision = "accept"
	a.done(id, script)
	require.FileExists(t, outside)
	require.Len(t, a.terminals(id), 1)
	require.Equal(t, session(a.model.lastOutput()), a.terminals(id)[0].ProcessID)
	a.done(id, types("\x04"))
	require.Contains(t, a.model.lastOutput(), "exited with code 0")
	require.Contains(t, a.model.lastOutput(), "over")
	require.Empty(t, a.terminals(id))
	require.NoError(t, os.Remove(outside))

	a.onAsk = nil
	turn := a.beginTurn(id, does(script))
	question := a.untilMethod("item/commandExecution/requestApproval")
	a.call("turn/interrupt", object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", a.awaitTurn().Status)
	a.send(object{"id": question.ID, "result": object{"decision": "accept"}})
	require.Empty(t, a.terminals(id))
	require.NoFileExists(t, outside)
	a.close()
}

// TestBinaryReviewsKeepTheSandbox: what the user let the agent run outside for the session is not
// let out for a reviewer, whom nobody is asked for.
func TestBinaryReviewsKeepTheSandbox(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	id := a.startThread(object{"cwd": a.dir, "sandbox": "workspace-write"})
	status, asked := a.decides(id, "acceptForSession", call("shell", object{"command": "touch " + outside, "sandbox_permissions": "require_escalated"}))
	require.Equal(t, []any{"completed", 1}, []any{status, asked})
	require.NoError(t, os.Remove(outside))
	a.call("review/start", object{"threadId": id, "target": object{"type": "custom", "instructions": does(runsShell("touch " + outside))}})
	require.Equal(t, "failed", a.untilCommand().Status)
	a.awaitTurn()
	require.NoFileExists(t, outside)
	require.Equal(t, 1, a.asked)
	a.close()
}
