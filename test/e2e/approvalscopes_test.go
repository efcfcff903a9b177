package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// decider is a client that counts approval requests and answers each with the same decision.
type decider struct {
	*apptest.Client
	t         *testing.T
	model     apptest.ScriptedModel
	dir       string
	decision  string
	questions int
}

// newDecider returns a decider. It is asked about files outside of the project and of /tmp, where
// tests run.
func newDecider(t *testing.T) *decider {
	c, o := apptest.StartScripted(t, "-c", "sandbox_workspace_write.exclude_slash_tmp=true", "-c",
		"sandbox_workspace_write.exclude_tmpdir_env_var=true")
	a := &decider{Client: c, t: t, model: o, dir: t.TempDir()}
	c.OnRequest = func(apptest.Message) any {
		a.questions++
		return apptest.Object{"decision": a.decision}
	}
	return a
}

// runCalls runs calls. It returns the status of the item and the number of approval requests.
func (a *decider) runCalls(thread, decision string, acts []apptest.ToolCall) (status string, questions int) {
	a.t.Helper()
	before, seen := a.questions, len(a.Seen)
	a.decision = decision
	a.Turn(thread, apptest.ScriptText(acts))
	for _, item := range completedItems(a.t, a.Seen[seen:]) {
		if kind := gjson.Get(item, "type").Str; kind == "commandExecution" || kind == "fileChange" {
			status = gjson.Get(item, "status").Str
		}
	}
	return status, a.questions - before
}

// TestExecCommandNeedsApprovalAsShellDoes compares exec_command with shell under each approval
// policy.
func TestExecCommandNeedsApprovalAsShellDoes(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	touch, escalated := "touch "+outside,
		apptest.Object{"sandbox_permissions": "require_escalated", "justification": "May I?"}
	granular := apptest.Object{"granular": apptest.Object{"sandbox_approval": false, "rules": true, "skill_approval": true,
		"request_permissions": true, "mcp_elicitations": true}}
	granularAsk := apptest.Object{"granular": apptest.Object{"sandbox_approval": true, "rules": true, "skill_approval": true,
		"request_permissions": true, "mcp_elicitations": true}}
	for _, one := range []struct {
		name             string
		policy           any
		sandbox, decides string
		acts             []apptest.ToolCall
		status           string
		questions        int
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
		{"granular, by force, accepted, runs outside", granularAsk, "read-only", "accept",
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
		status, count := a.runCalls(id, one.decides, one.acts)
		require.Equal(t, []any{one.status, one.questions}, []any{status, count}, one.name)
		_, err := os.Stat(outside)
		require.Equal(t, one.made, err == nil, one.name)
		require.NoError(t, os.RemoveAll(outside))
		require.DirExists(t, filepath.Dir(outside))
		require.Empty(t, a.Terminals(id), one.name)
	}
	a.Close()
}

// TestApprovalForSessionCoversOneScript accepts a script for the session. The same text in the same
// directory runs without a request, by any tool; another script does not. Under untrusted, commands
// run outside of the sandbox, so an escalation is no second question. Under on-request, a script
// accepted inside the sandbox is requested again for outside.
func TestApprovalForSessionCoversOneScript(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	a := newDecider(t)
	require.NoError(t, os.Mkdir(filepath.Join(a.dir, "sub"), 0o755))
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	requireQuestions := func(want int, decision string, acts []apptest.ToolCall) {
		t.Helper()
		_, questions := a.runCalls(id, decision, acts)
		require.Equal(t, want, questions)
	}
	const script = "touch made; echo made"
	requireQuestions(1, "acceptForSession", apptest.ShellCall(script))
	requireQuestions(0, "decline", apptest.ExecCall(script, nil))
	requireQuestions(0, "decline", apptest.ExecCall(script, apptest.Object{"tty": true}))
	requireQuestions(1, "decline", apptest.ExecCall(script, apptest.Object{"shell": "/bin/sh"}))
	requireQuestions(1, "decline", apptest.ExecCall(script+" ", nil))
	requireQuestions(1, "decline", apptest.ExecCall(script, apptest.Object{"workdir": "sub"}))
	requireQuestions(0, "decline", apptest.ExecCall(script, apptest.Object{"sandbox_permissions": "require_escalated"}))
	requireQuestions(1, "acceptForSession", apptest.ExecCall(script, apptest.Object{"shell": "/bin/sh"}))
	requireQuestions(0, "decline", apptest.ExecCall(script, apptest.Object{"shell": "/bin/sh"}))
	requireQuestions(0, "decline", apptest.ShellCall(script))
	other := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "untrusted"})
	_, questions := a.runCalls(other, "decline", apptest.ShellCall(script))
	require.Equal(t, 1, questions, "a decision in another thread does not count")

	id = a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write", "approvalPolicy": "on-request"})
	const force = "rm -f made; touch made"
	requireQuestions(1, "acceptForSession", apptest.ShellCall(force))
	requireQuestions(0, "decline", apptest.ShellCall(force))
	requireQuestions(1, "decline", apptest.ExecCall(force, apptest.Object{"sandbox_permissions": "require_escalated"}))
	a.Close()
}

// TestPatchByExecCommandNeedsPatchApproval runs apply_patch in several wrappers. The request is one
// for a file change.
func TestPatchByExecCommandNeedsPatchApproval(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "read-only"})
	status, questions := a.runCalls(id, "decline", apptest.ExecCall(apptest.PatchCommand, apptest.Object{"tty": true}))
	require.Equal(t, []any{"declined", 1}, []any{status, questions})
	require.NoDirExists(t, filepath.Join(a.dir, "notes"))
	status, questions = a.runCalls(id, "accept",
		apptest.ExecCall(apptest.PatchCommand, apptest.Object{"sandbox_permissions": "require_escalated"}))
	require.Equal(t, []any{"completed", 1}, []any{status, questions})
	require.FileExists(t, filepath.Join(a.dir, "notes", "new"))
	for _, m := range a.Seen {
		require.NotEqual(t, "item/commandExecution/requestApproval", m.Method)
	}
	a.Close()
}

// TestEscalatedBackgroundCommandRunsOutside retries a command outside of the sandbox that the
// kernel stopped. The second run can become a session, keeps the item, and an interrupt before the
// decision runs nothing.
func TestEscalatedBackgroundCommandRunsOutside(t *testing.T) {
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write"})
	script := apptest.ExecCall("touch "+outside+" || exit; cat; echo over",
		apptest.Object{"tty": true, "yield_time_ms": 5000}) // the first run must end in this time
	a.decision = "accept"
	a.RunScript(id, script)
	require.FileExists(t, outside)
	require.Len(t, a.Terminals(id), 1)
	require.Equal(t, apptest.LastSessionID(a.model.LastOutput()), a.Terminals(id)[0].ProcessID)
	a.RunScript(id, apptest.StdinUntilEnd("\x04"))
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

// TestReviewIgnoresSessionApprovals accepts a command outside of the sandbox for the session. A
// reviewer does not get that permission, because its commands cannot be approved.
func TestReviewIgnoresSessionApprovals(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	a := newDecider(t)
	outside := filepath.Join(t.TempDir(), "made")
	id := a.StartThread(apptest.Object{"cwd": a.dir, "sandbox": "workspace-write"})
	status, questions := a.runCalls(id, "acceptForSession",
		apptest.OneCall("shell", apptest.Object{"command": "touch " + outside, "sandbox_permissions": "require_escalated"}))
	require.Equal(t, []any{"completed", 1}, []any{status, questions})
	require.NoError(t, os.Remove(outside))
	a.Call("review/start",
		apptest.Object{"threadId": id,
			"target": apptest.Object{"type": "custom",
				"instructions": apptest.ScriptText(apptest.ShellCall("touch " + outside))}})
	require.Equal(t, "failed", a.UntilCommand().Status)
	a.AwaitTurn()
	require.NoFileExists(t, outside)
	require.Equal(t, 1, a.questions)
	a.Close()
}
