package fleet

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/posix"
)

// TestRequestsOutliveTheirNode kills a server that asks for a command. A server on another machine asks again
// when the lease has ended, and runs the command.
func TestRequestsOutliveTheirNode(t *testing.T) {
	t.Parallel()
	url, project := pgtest.Database(t), t.TempDir()
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	turn := first.BeginTurn(id, "run: echo ran >> log")
	first.UntilMethod("item/commandExecution/requestApproval")
	first.KillGroup()
	require.Eventually(t, func() bool {
		return second.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	again := second.UntilMethod("item/commandExecution/requestApproval")
	require.Equal(t, "inProgress", second.ReadThread(id).Turns[0].Status)
	second.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "accept"}})
	ended := second.AwaitTurn()
	require.Equal(t, []string{turn, "completed"}, []string{ended.ID, ended.Status})
	log, err := os.ReadFile(project + "/log")
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(log))
	second.Close()
}

// TestRequestsMoveBetweenNodes ends a server that asks for a command. A server on another machine asks at once.
func TestRequestsMoveBetweenNodes(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartThread(apptest.Object{"approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	first.BeginTurn(id, "run: touch made")
	first.UntilMethod("item/commandExecution/requestApproval")
	first.Signal(syscall.SIGTERM)
	first.UntilMethod("serverRequest/resolved")
	first.AwaitExit()
	second.Call("thread/resume", apptest.Object{"threadId": id})
	again := second.UntilMethod("item/commandExecution/requestApproval")
	second.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "decline"}})
	require.Equal(t, "completed", second.AwaitTurn().Status)
	second.Close()
}

// TestAFrozenNodeLosesItsRequests suspends a server that asks for a command until another one has its thread.
// It withdraws its request then, and its answer has no effect.
func TestAFrozenNodeLosesItsRequests(t *testing.T) {
	t.Parallel()
	url, project := pgtest.Database(t), t.TempDir()
	first, second := newNode(t, url), newNode(t, url)
	id := first.StartThread(apptest.Object{"cwd": project, "approvalPolicy": "untrusted", "sandbox": "danger-full-access"})
	first.BeginTurn(id, "run: echo ran >> log")
	stale := first.UntilMethod("item/commandExecution/requestApproval")
	first.Signal(posix.SIGSTOP)
	require.Eventually(t, func() bool {
		return second.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	again := second.UntilMethod("item/commandExecution/requestApproval")
	first.Signal(posix.SIGCONT)
	first.UntilMethod("thread/closed")
	first.Send(apptest.Object{"id": stale.ID, "result": apptest.Object{"decision": "accept"}})
	require.Equal(t, "inProgress", first.ReadThread(id).Turns[0].Status)
	second.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "decline"}})
	require.Equal(t, "completed", second.AwaitTurn().Status)
	require.NoFileExists(t, project+"/log")
	second.Close()
}

// TestRequestsComeAgainThroughAnotherNode ends a server that asks the client of another server for a command.
// The client gets the request again without a request of its own.
func TestRequestsComeAgainThroughAnotherNode(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*node){
		"kill":    func(n *node) { n.KillGroup() },
		"SIGTERM": func(n *node) { n.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nodes := newFleet(t, 2)
			owner, edge := nodes[0], nodes[1]
			id := owner.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "untrusted",
				"sandbox": "danger-full-access"})
			resume(edge, id)
			turn := edge.BeginTurn(id, "run: touch made; echo asked twice")
			first := edge.UntilMethod("item/commandExecution/requestApproval")
			end(owner)
			resolved := edge.UntilMethod("serverRequest/resolved")
			require.Equal(t, string(first.ID), gjson.GetBytes(resolved.Params, "requestId").Raw)
			again := edge.UntilMethod("item/commandExecution/requestApproval")
			require.NotEqual(t, string(first.ID), string(again.ID))
			edge.Send(apptest.Object{"id": again.ID, "result": apptest.Object{"decision": "accept"}})
			edge.UntilOutput("asked twice\n")
			ended := edge.AwaitTurn()
			require.Equal(t, []string{turn, "completed"}, []string{ended.ID, ended.Status})
			edge.Close()
		})
	}
}
