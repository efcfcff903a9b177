package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/partition"
)

// codeRetry is the code of errors after which a client can send the request again.
const (
	codeRetry    = -32001
	codeInternal = -32603
)

// newCutFleet starts an owner and an edge. Both reach the database; the edge reaches the owner through a link.
func newCutFleet(t *testing.T) (owner, edge *node, link *partition.Link) {
	t.Helper()
	url, address, lease := pgtest.Database(t), apptest.FreeAddress(t), "fleet.lease_ms=2000"
	link = partition.New(t, "tcp", address)
	home := t.TempDir()
	cmd := command(t, home, url, "-c", lease, "-c", `fleet.listen="ws://`+address+`"`,
		"-c", `fleet.address="ws://`+link.Address()+`"`)
	cmd.Env = append(cmd.Env, "APPSERVER_FLEET_SECRET="+strings.Repeat("secret", 6))
	owner = &node{apptest.StartProcess(t, cmd), home}
	owner.Initialize()
	return owner, newLinkedNode(t, url, "-c", lease), link
}

// disconnections are the ways in which the network between two nodes fails.
var disconnections = map[string]func(*partition.Link){
	"refused": func(l *partition.Link) { l.Refuse() },
	"silent": func(l *partition.Link) {
		l.Hold(partition.Requests)
		l.Hold(partition.Answers)
	},
}

// TestChangesFailWithStaleOwnerWhileTheOwnerIsOutOfReach disconnects two nodes that both reach the database. The
// edge reads the thread itself, and retries a change until it gives up. It makes the change when the network
// works again. The client of the owner notices nothing.
func TestChangesFailWithStaleOwnerWhileTheOwnerIsOutOfReach(t *testing.T) {
	t.Parallel()
	for name, disconnect := range disconnections {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner, edge, link := newCutFleet(t)
			id := owner.StartTrusted()
			owner.Turn(id, "say hello")
			disconnect(link)
			require.Len(t, edge.ReadThread(id).Turns, 1)
			rename := apptest.Object{"threadId": id, "name": "a name"}
			began := time.Now()
			rejected := edge.CallRejected("thread/name/set", rename)
			require.Equal(t, "staleOwner", rejected.Data.Kind)
			require.Equal(t, codeRetry, rejected.Code)
			require.Greater(t, time.Since(began), 5*time.Second, "the lease of 2 s and 3 s for the next owner")
			require.Equal(t, "completed", owner.Turn(id, "say more").Status)
			require.Empty(t, owner.Notifications("thread/closed"))
			require.Len(t, edge.ReadThread(id).Turns, 2)
			require.Empty(t, edge.ReadThread(id).Name)
			link.Heal()
			edge.Call("thread/name/set", rename)
			require.Equal(t, "a name", owner.ReadThread(id).Name)
		})
	}
}

// TestThreadsOfAnOwnerOutOfReachAreClosedForTheirFollowers disconnects two nodes while a client of one follows a
// turn of the other. It can follow the thread again when the network works again; the turn has continued.
func TestThreadsOfAnOwnerOutOfReachAreClosedForTheirFollowers(t *testing.T) {
	t.Parallel()
	owner, edge, link := newCutFleet(t)
	id := owner.StartTrusted()
	turn := owner.BeginTurn(id, "run: sleep 617")
	owner.UntilMethod("item/started")
	resume(edge, id)
	link.Refuse()
	require.Equal(t, id, gjson.GetBytes(edge.UntilMethod("thread/closed").Params, "threadId").Str)
	link.Heal()
	require.Equal(t, "inProgress", resume(edge, id).Turns[0].Status)
	edge.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", owner.AwaitTurn().Status)
	require.Equal(t, "interrupted", edge.AwaitTurn().Status)
}

// TestRequestsInDoubtFailWithOwnerLost disconnects two nodes, or kills the owner, while a request is with the
// owner. The next request is served.
func TestRequestsInDoubtFailWithOwnerLost(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*node, *partition.Link){"killed": func(owner *node, l *partition.Link) {
		owner.KillGroup()
		l.Cut() // the owner may have answered, and the link would pass that on
	}}
	for name, disconnect := range disconnections {
		ends[name] = func(_ *node, l *partition.Link) { disconnect(l) }
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner, edge, link := newCutFleet(t)
			id := owner.StartTrusted()
			owner.Turn(id, "say hello")
			edge.Call("thread/name/set", apptest.Object{"threadId": id, "name": "the first"})
			forwarded := func() int64 {
				return gjson.GetBytes(edge.Call("server/diagnostics", apptest.Object{}), "fleet.forwarded").Int()
			}
			before := forwarded()
			link.Hold(partition.Answers)
			rename := apptest.Object{"threadId": id, "name": "the second"}
			pending := edge.SendRequest("thread/name/set", rename)
			require.Eventually(t, func() bool { return forwarded() > before }, 20*time.Second, 10*time.Millisecond)
			end(owner, link)
			lost := edge.UntilResponse(pending)
			require.NotNil(t, lost.Error)
			require.Equal(t, "ownerLost", lost.Error.Data.Kind)
			require.Equal(t, codeInternal, lost.Error.Code)
			link.Heal()
			require.Contains(t, []string{"the first", "the second"}, edge.ReadThread(id).Name)
			edge.Call("thread/name/set", rename)
			require.Equal(t, "the second", edge.ReadThread(id).Name)
		})
	}
}
