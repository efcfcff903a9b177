package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// decider is a client that counts what it is asked, and gives the same decision each time.
type decider struct {
	*apptest.Client
	t        *testing.T
	model    apptest.ScriptedModel
	dir      string
	decision string
	asked    int
}

// newDecider is asked for what is outside of the project, and of /tmp, in which tests work.
func newDecider(t *testing.T) *decider {
	c, o := apptest.StartScripted(t, "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c",
		"sandbox_workspace_write.exclude_tmpdir_env_var=true")
	a := &decider{Client: c, t: t, model: o, dir: t.TempDir()}
	c.OnRequest = func(apptest.Message) any {
		a.asked++
		return apptest.Object{"decision": a.decision}
	}
	return a
}

// decides runs a call and tells how its item ended, and how often it was asked for.
func (a *decider) decides(thread, decision string, acts []apptest.ToolCall) (status string, asked int) {
	a.t.Helper()
	before, seen := a.asked, len(a.Seen)
	a.decision = decision
	a.Turn(thread, apptest.ScriptText(acts))
	for _, item := range completedItems(a.t, a.Seen[seen:]) {
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
	touch, escalated := "touch "+outside,
		apptest.Object{"sandbox_permissions": "require_escalated", "justification": "May I?"}
	granular := apptest.Object{"granular": apptest.Object{"sandbox_approval": false, "rules": true, "skill_approval": true,
		"request_permissions": true, "mcp_elicitations": true}}
	asked := apptest.Object{"granular": apptest.Object{"sandbox_approval": true, "rules": true, "skill_approval": true,
		"request_permissions": true, "mcp_elicitations": true}}
	for _, one := range []struct {
		name             string
		policy           any
		sandbox, decides string
		acts             []apptest.ToolCall
		status           string
		asked            int
		made             bool
	}{
		{"untrusted, reads", "untrusted", "read-only", "decline", apptest.ExecCall("ls", nil), "completed", 0, false},
		{"untrusted, declined", "untrusted", "danger-full-access", "decline", apptest.ExecCall(touch, nil), "declined", 1,
			false},
		{"untrusted, accepted", "untrusted", "danger-full-access", "accept",
			apptest.ExecCall(touch, apptest.Object{"tty": true}), "completed", 1, true},
		{"untrusted, accepted, runs outside", "untrusted", "workspace-write", "accept", apptest.ExecCall(touch, nil),
			"completed", 1, true},
		{"untrusted, accepted, runs outside of read-only", "untrusted", "read-only", "accept", apptest.ShellCall(touch),
			"completed", 1, true},
		{"untrusted, accepted for the session", "untrusted", "read-only", "acceptForSession", apptest.ShellCall(touch),
			"completed", 1, true},
		{"granular, by force, accepted, runs outside", asked, "read-only", "accept",
			apptest.ShellCall("rm -f nothing; " + touch), "completed", 1, true},
		{"on-request, by force, accepted, stays inside", "on-request", "read-only", "accept",
			apptest.ShellCall("rm -f nothing; " + touch), "failed", 1, false},
		{"on-request, denied by the kernel", "on-request", "workspace-write", "accept",
			apptest.ExecCall(touch, apptest.Object{"tty": true}), "completed", 1, true},
		{"on-request, denied and declined", "on-request", "read-only", "decline", apptest.ExecCall(touch, nil), "failed", 1,
			false},
		{"on-request, escalated", "on-request", "workspace-write", "accept", apptest.ExecCall(touch, escalated), "completed",
			1, true},
		{"on-request, escalated, declined", "on-request", "workspace-write", "decline", apptest.ExecCall(touch, escalated),
			"declined", 1, false},
		{"on-request, by force", "on-request", "danger-full-access", "decline",
			apptest.ExecCall("rm -rf "+filepath.Dir(outside), nil), "declined", 1, false},
		{"never, escalated", "never", "workspace-write", "accept", apptest.ExecCall(touch, escalated), "declined", 0, false},
		{"never", "never", "read-only", "accept", apptest.ExecCall(touch, nil), "failed", 0, false},
		{"granular, escalated", granular, "workspace-write", "accept", apptest.ExecCall(touch, escalated), "declined", 0,
			false},
		{"granular", granular, "workspace-write", "accept", apptest.ExecCall(touch, nil), "failed", 0, false},
	} {
		id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": one.sandbox, "approvalPolicy": one.policy})
		status, count := a.decides(id, one.decides, one.acts)
		require.Equal(t, []any{one.status, one.asked}, []any{status, count}, one.name)
		_, err := os.Stat(outside)
		require.Equal(t, one.made, err == nil, one.name)
		require.NoError(t, os.RemoveAll(outside))
		require.DirExists(t, filepath.Dir(outside))
		require.Empty(t, a.Terminals(id), one.name)
	}
	a.Close()
}

// TestBinaryRemembersScripts whichever tool runs them: the same text in the same directory, and
// nothing near it. Under untrusted that runs outside of the sandbox, so asking for that is no other
// question. Under on-request a script that was accepted inside is asked for again.
func TestBinaryRemembersScripts(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	require.NoError(t, os.Mkdir(filepath.Join(a.dir, "sub"), 0o755))
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	asks := func(want int, decision string, acts []apptest.ToolCall) {
		t.Helper()
		_, asked := a.decides(id, decision, acts)
		require.Equal(t, want, asked)
	}
	const script = "touch made; echo made"
	asks(1, "acceptForSession", apptest.ShellCall(script))
	asks(0, "decline", apptest.ExecCall(script, nil))
	asks(0, "decline", apptest.ExecCall(script, apptest.Object{"tty": true}))
	asks(1, "decline", apptest.ExecCall(script, apptest.Object{"shell": "/bin/sh"}))
	asks(1, "decline", apptest.ExecCall(script+" ", nil))
	asks(1, "decline", apptest.ExecCall(script, apptest.Object{"workdir": "sub"}))
	asks(0, "decline", apptest.ExecCall(script, apptest.Object{"sandbox_permissions": "require_escalated"}))
	asks(1, "acceptForSession", apptest.ExecCall(script, apptest.Object{"shell": "/bin/sh"}))
	asks(0, "decline", apptest.ExecCall(script, apptest.Object{"shell": "/bin/sh"}))
	asks(0, "decline", apptest.ShellCall(script))
	other := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	_, asked := a.decides(other, "decline", apptest.ShellCall(script))
	require.Equal(t, 1, asked, "another thread's word is not this one's")

	id = a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	const force = "rm -f made; touch made"
	asks(1, "acceptForSession", apptest.ShellCall(force))
	asks(0, "decline", apptest.ShellCall(force))
	asks(1, "decline", apptest.ExecCall(force, apptest.Object{"sandbox_permissions": "require_escalated"}))
	a.Close()
}

// TestBinaryPatchesByCommandsThatStay are patches, asked for as such, whatever they are wrapped in.
func TestBinaryPatchesByCommandsThatStay(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "read-only"})
	status, asked := a.decides(id, "decline", apptest.ExecCall(apptest.PatchCommand, apptest.Object{"tty": true}))
	require.Equal(t, []any{"declined", 1}, []any{status, asked})
	require.NoDirExists(t, filepath.Join(a.dir, "notes"))
	status, asked = a.decides(id, "accept",
		apptest.ExecCall(apptest.PatchCommand, apptest.Object{"sandbox_permissions": "require_escalated"}))
	require.Equal(t, []any{"completed", 1}, []any{status, asked})
	require.FileExists(t, filepath.Join(a.dir, "notes", "new"))
	for _, m := range a.Seen {
		require.NotEqual(t, "item/commandExecution/requestApproval", m.Method)
	}
	a.Close()
}

// TestBinaryRunsOutsideInTheBackground what the kernel kept from its work: the second run can go on
// as a session, has the number of the first, and an interrupt while the question is open runs nothing.
func TestBinaryRunsOutsideInTheBackground(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write"})
	script := apptest.ExecCall("touch "+outside+" || exit; cat; echo over",
		apptest.Object{"tty": true, "yield_time_ms": 1000})
	a.decision = "accept"
	a.RunScript(id, script)
	require.FileExists(t, outside)
	require.Len(t, a.Terminals(id), 1)
	require.Equal(t, apptest.LastSessionID(a.model.LastOutput()), a.Terminals(id)[0].ProcessID)
	a.RunScript(id, apptest.StdinCall("\x04"))
	require.Contains(t, a.model.LastOutput(), "exited with code 0")
	require.Contains(t, a.model.LastOutput(), "over")
	require.Empty(t, a.Terminals(id))
	require.NoError(t, os.Remove(outside))

	a.OnRequest = nil
	turn := a.BeginTurn(id, apptest.ScriptText(script))
	question := a.UntilMethod("item/commandExecution/requestApproval")
	a.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", a.AwaitTurn().Status)
	a.Send(apptest.Object{"id": question.ID, "result": apptest.Object{"decision": "accept"}})
	require.Empty(t, a.Terminals(id))
	require.NoFileExists(t, outside)
	a.Close()
}

// TestBinaryReviewsKeepTheSandbox: what the user let the agent run outside for the session is not
// let out for a reviewer, whom nobody is asked for.
func TestBinaryReviewsKeepTheSandbox(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write"})
	status, asked := a.decides(id, "acceptForSession",
		apptest.OneCall("shell", apptest.Object{"command": "touch " + outside, "sandbox_permissions": "require_escalated"}))
	require.Equal(t, []any{"completed", 1}, []any{status, asked})
	require.NoError(t, os.Remove(outside))
	a.Call("review/start",
		apptest.Object{"threadId": id,
			"target": apptest.Object{"type": "custom",
				"instructions": apptest.ScriptText(apptest.ShellCall("touch " + outside))}})
	require.Equal(t, "failed", a.UntilCommand().Status)
	a.AwaitTurn()
	require.NoFileExists(t, outside)
	require.Equal(t, 1, a.asked)
	a.Close()
}
