package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// awaitBroadcasts waits until notifications about all threads pass from one node to another. The links exist
// some seconds after the start.
func awaitBroadcasts(t *testing.T, from, to *node) {
	t.Helper()
	require.Eventually(t, func() bool {
		id := from.StartTrusted()
		to.Call("thread/list", apptest.Object{"limit": 1})
		for _, m := range to.Notifications("thread/started") {
			if gjson.GetBytes(m.Params, "thread.id").Str == id {
				return true
			}
		}
		return false
	}, 20*time.Second, 50*time.Millisecond)
}

// TestNotificationsAboutAllThreadsReachTheClientsOfAllNodes changes a thread of one server in each way of which
// all clients are notified. A client of another server gets the same notifications in the same order.
func TestNotificationsAboutAllThreadsReachTheClientsOfAllNodes(t *testing.T) {
	t.Parallel()
	nodes := newFleet(t, 2)
	owner, other := nodes[0], nodes[1]
	awaitBroadcasts(t, owner, other)
	id := owner.StartTrusted()
	until := func(method string) gjson.Result {
		return gjson.ParseBytes(other.Until(func(m apptest.Message) bool {
			p := gjson.ParseBytes(m.Params)
			return m.Method == method && (p.Get("threadId").Str == id || p.Get("thread.id").Str == id)
		}).Params)
	}
	until("thread/started")
	require.Equal(t, "completed", owner.Turn(id, "say hello").Status)
	require.Equal(t, "active", until("thread/status/changed").Get("status.type").Str)
	require.Equal(t, "idle", until("thread/status/changed").Get("status.type").Str)
	thread := apptest.Object{"threadId": id}
	owner.Call("thread/name/set", apptest.Object{"threadId": id, "name": "a name"})
	require.Equal(t, "a name", until("thread/name/updated").Get("threadName").Str)
	owner.Call("thread/archive", thread)
	until("thread/archived")
	owner.Call("thread/unarchive", thread)
	until("thread/unarchived")
	owner.Call("thread/delete", thread)
	until("thread/deleted")
	require.Empty(t, other.Notifications("item/completed"), "the client does not follow the thread")
}
