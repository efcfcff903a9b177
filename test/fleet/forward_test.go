package fleet

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// newFleet starts servers with one database that forward requests to each other.
func newFleet(t *testing.T, n int) (nodes []*node) {
	url := pgtest.Database(t)
	for range n {
		nodes = append(nodes, newLinkedNode(t, url))
	}
	return nodes
}

func newLinkedNode(t *testing.T, url string, args ...string) *node {
	home := t.TempDir()
	cmd := command(t, home, url, append([]string{"-c", `fleet.listen="ws://127.0.0.1:0"`}, args...)...)
	cmd.Env = append(cmd.Env, "APPSERVER_FLEET_SECRET="+strings.Repeat("secret", 6))
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	return &node{c, home}
}

func resume(n *node, id string) apptest.ThreadView {
	return n.CallThread("thread/resume", apptest.Object{"threadId": id})
}

// TestAClientUsesTheThreadsOfOtherNodes runs turns and edits through two servers.
func TestAClientUsesTheThreadsOfOtherNodes(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, edge := nodes[0], nodes[1]
	id := owner.StartTrusted()
	owner.Turn(id, "say hello")
	require.Len(t, resume(edge, id).Turns, 1)
	require.Equal(t, "completed", edge.Turn(id, "run: echo through the edge").Status)
	owner.UntilOutput("through the edge\n")
	require.Equal(t, "completed", owner.AwaitTurn().Status)
	edge.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{3}, "included": false})
	owner.UntilMethod("ContextItems")
	want := owner.Call("context/getItems", apptest.Object{"threadId": id})
	require.JSONEq(t, string(want), string(edge.Call("context/getItems", apptest.Object{"threadId": id})))
	require.Equal(t, "threadNotFound", edge.CallRejected("turn/interrupt",
		apptest.Object{"threadId": "00000000-0000-7000-8000-000000000000", "turnId": "t"}).Data.Kind)
	require.Equal(t, "noActiveTurn", edge.CallRejected("turn/interrupt",
		apptest.Object{"threadId": id, "turnId": "t"}).Data.Kind, "errors of the owner arrive")
}

// TestForkingAThreadOfAnotherNodeSubscribesTheClient follows a fork that the owner of its source made.
func TestForkingAThreadOfAnotherNodeSubscribesTheClient(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, edge := nodes[0], nodes[1]
	id := owner.StartTrusted()
	owner.Turn(id, "say hello")
	fork := edge.CallThread("thread/fork", apptest.Object{"threadId": id}).ID
	require.NotEqual(t, id, fork)
	require.Equal(t, "completed", edge.Turn(fork, "say more").Status)
	require.Len(t, owner.ReadThread(fork).Turns, 2)
}

// TestApprovalsAreAnsweredThroughAnotherNode asks the clients of two servers, which have threads of their
// own, so that their ids of requests collide.
func TestApprovalsAreAnsweredThroughAnotherNode(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, edge := nodes[0], nodes[1]
	cautious := apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "untrusted", "sandbox": "danger-full-access"}
	remote, local := owner.StartThread(cautious), edge.StartThread(cautious)
	resume(edge, remote)
	const approval = "item/commandExecution/requestApproval"
	edge.BeginTurn(local, "run: touch local")
	first := edge.UntilMethod(approval)
	edge.BeginTurn(remote, "run: touch remote")
	second := edge.UntilMethod(approval)
	require.NotEqual(t, string(first.ID), string(second.ID))
	listed := edge.Call("serverRequest/list", apptest.Object{"threadId": remote})
	require.Equal(t, string(second.ID), gjson.GetBytes(listed, "data.0.requestId").Raw)
	edge.Send(apptest.Object{"id": second.ID, "result": apptest.Object{"decision": "accept"}})
	resolved := edge.UntilMethod("serverRequest/resolved")
	require.Equal(t, string(second.ID), gjson.GetBytes(resolved.Params, "requestId").Raw)
	require.Equal(t, remote, gjson.GetBytes(edge.UntilMethod("turn/completed").Params, "threadId").Str)
	edge.Send(apptest.Object{"id": first.ID, "result": apptest.Object{"decision": "decline"}})
	require.Equal(t, local, gjson.GetBytes(edge.UntilMethod("turn/completed").Params, "threadId").Str)
	owner.UntilMethod(approval)
	owner.UntilMethod("serverRequest/resolved")
}

// TestClientsKeepThreadsWhoseOwnerDies kills the owner during a command. The client of the other server
// learns that the turn ended, and continues.
func TestClientsKeepThreadsWhoseOwnerDies(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, edge := nodes[0], nodes[1]
	id := owner.StartTrusted()
	turn := owner.BeginTurn(id, "run: sleep 613")
	owner.UntilMethod("item/started")
	edge.Call("thread/resume", apptest.Object{"threadId": id, "excludeTurns": true})
	owner.KillGroup()
	ended := edge.AwaitTurn()
	require.Equal(t, []string{turn, "interrupted"}, []string{ended.ID, ended.Status})
	require.Equal(t, "completed", edge.Turn(id, "say more").Status)
	require.Len(t, edge.ReadThread(id).Turns, 2)
}

// TestClientsKeepTheLatestSettingsWhenTheOwnerDies resumes a thread with all permissions, and takes them away in a
// later turn. The next owner does not give them back.
func TestClientsKeepTheLatestSettingsWhenTheOwnerDies(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, edge := nodes[0], nodes[1]
	id := owner.StartTrusted()
	edge.Call("thread/resume", apptest.Object{"threadId": id, "sandbox": "danger-full-access", "approvalPolicy": "never",
		"config": apptest.Object{"sandbox_mode": "danger-full-access", "approval_policy": "never"}})
	edge.Call("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("say hello"),
		"sandboxPolicy": apptest.Object{"type": "readOnly"}, "approvalPolicy": "untrusted"})
	require.Equal(t, "completed", edge.AwaitTurn().Status)
	owner.KillGroup()
	resumed := requestOfOwner(edge.Client, "thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "readOnly", gjson.GetBytes(resumed, "sandbox.type").Str)
	require.Equal(t, "untrusted", gjson.GetBytes(resumed, "approvalPolicy").Str)
}

// TestRequestsWaitForTheLeaseOfADeadOwner sends requests to a server that is not the owner, which has
// just been killed.
func TestRequestsWaitForTheLeaseOfADeadOwner(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, edge := nodes[0], nodes[1]
	id := owner.StartTrusted()
	owner.Turn(id, "say hello")
	owner.KillGroup()
	require.Len(t, edge.ReadThread(id).Turns, 1, "reads do not wait")
	require.Len(t, resume(edge, id).Turns, 1)
	require.Equal(t, "completed", edge.Turn(id, "say more").Status)
}

// TestADrainedNodeHandsItsThreadsOver ends a server by SIGTERM during a turn, while clients of another one
// follow it.
func TestADrainedNodeHandsItsThreadsOver(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 3)
	owner, edge := nodes[0], nodes[1]
	running, idle := owner.StartTrusted(), owner.StartTrusted()
	resume(edge, running)
	resume(edge, idle)
	edge.BeginTurn(running, "run: sleep 614")
	edge.UntilMethod("item/started")
	owner.Signal(syscall.SIGTERM)
	require.Equal(t, "interrupted", edge.AwaitTurn().Status)
	for _, id := range []string{running, idle} {
		requestOfOwner(edge.Client, "turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("say more")})
		require.Equal(t, "completed", edge.AwaitTurn().Status)
	}
	owner.AwaitExit()
	require.Len(t, nodes[2].ReadThread(running).Turns, 2)
}

// requestOfOwner sends a request for a thread whose owner ends. Until its link has ended, the request can still go
// there, and fails with ownerLost.
func requestOfOwner(edge *apptest.Client, method string, params apptest.Object) json.RawMessage {
	edge.T.Helper()
	answer := edge.Request(method, params)
	for answer.Error != nil && answer.Error.Data.Kind == "ownerLost" {
		answer = edge.Request(method, params)
	}
	require.Nil(edge.T, answer.Error)
	return answer.Result
}

// TestListsShowTheTurnsOfOtherNodes lists a thread during its turn on another server.
func TestListsShowTheTurnsOfOtherNodes(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	id := nodes[0].StartTrusted()
	turn := nodes[0].BeginTurn(id, "run: sleep 615")
	nodes[0].UntilMethod("item/started")
	status := func() string {
		return gjson.GetBytes(nodes[1].Call("thread/list", apptest.Object{}), "data.0.status.type").Str
	}
	require.Eventually(t, func() bool { return status() == "active" }, 20*time.Second, 50*time.Millisecond)
	nodes[1].Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Eventually(t, func() bool { return status() == "notLoaded" }, 20*time.Second, 50*time.Millisecond)
}

// TestThreadsRunOnTheNodeThatHasTheirFolder starts a thread and continues an unloaded one through a server
// that lacks their folder.
func TestThreadsRunOnTheNodeThatHasTheirFolder(t *testing.T) {
	t.Parallel()
	url := pgtest.Database(t)
	here, there := t.TempDir(), t.TempDir()
	edge := newLinkedNode(t, url, "-c", fmt.Sprintf("fleet.workspaces=[%q]", here))
	other := newLinkedNode(t, url, "-c", fmt.Sprintf("fleet.workspaces=[%q]", there))
	params := apptest.Object{"cwd": there, "sandbox": "danger-full-access", "approvalPolicy": "never"}
	var id string
	require.Eventually(t, func() bool { // the servers know each other some seconds after their start
		m := edge.Request("thread/start", params)
		id = gjson.GetBytes(m.Result, "thread.id").Str
		return m.Error == nil
	}, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, "completed", edge.Turn(id, "run: touch made").Status)
	require.FileExists(t, filepath.Join(there, "made"))
	other.Close()
	require.Len(t, edge.ReadThread(id).Turns, 1)
	require.Equal(t, "cwdNotFound", edge.CallRejected("turn/start",
		apptest.Object{"threadId": id, "input": apptest.TextInput("run: touch more")}).Data.Kind)
}
