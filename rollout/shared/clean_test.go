package shared_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

const (
	day   = 24 * time.Hour
	never = 1 << 40
)

// TestOldAndLargeCopiesAreRemoved removes copies by their age and by their size, but none of open threads.
func TestOldAndLargeCopiesAreRemoved(t *testing.T) {
	node := nodes(t)(t, "here").(*shared.Threads)
	keep(t, node, "one")
	node.Clean(day, never, time.Now())
	require.Len(t, filesWith(t, node, "one"), 1)
	journal, _, err := node.Open(store.Ref{ID: threadID}, &rollout.LineList{})
	require.NoError(t, err)
	node.Clean(day, 0, time.Now().Add(2*day))
	require.Len(t, filesWith(t, node, "one"), 1, "the thread is open")
	require.NoError(t, journal.Append(texts(1, "two"), true))
	require.NoError(t, journal.Close())
	for _, remove := range []func(){
		func() { node.Clean(day, never, time.Now().Add(2*day)) },
		func() { node.Clean(day, 10, time.Now()) },
	} {
		require.Equal(t, []string{"one", "two"}, read(t, node))
		require.Len(t, filesWith(t, node, "one"), 1)
		remove()
		require.Empty(t, filesWith(t, node, "one"))
	}
}

// TestStaleCopiesAreRemoved redacts and then deletes a thread on another node. This node does not load it.
func TestStaleCopiesAreRemoved(t *testing.T) {
	open := nodes(t)
	other, node := open(t, "here").(*shared.Threads), open(t, "here").(*shared.Threads)
	keep(t, other, "the secret", "one")
	read(t, node)
	_, err := other.Redact(threadID, bleep{}, true)
	require.NoError(t, err)
	require.Len(t, filesWith(t, node, "secret"), 1)
	node.Clean(day, never, time.Now())
	require.Empty(t, filesWith(t, node, "secret"))
	read(t, node)
	require.NoError(t, other.Delete(threadID))
	require.Len(t, filesWith(t, node, "one"), 1)
	node.Clean(day, never, time.Now())
	require.Empty(t, filesWith(t, node, "one"))
}

// TestThreadsBeyondALimitOfBytesAreRetired archives the oldest thread of three, and then deletes two.
func TestThreadsBeyondALimitOfBytesAreRetired(t *testing.T) {
	node := nodes(t)(t, "here")
	now := time.Now()
	ids := keepOld(t, node, now, 3)
	retain := func(r rollout.Retention) (gone []string, done rollout.RetentionResult) {
		done = node.Retain(context.Background(), r, now, func(c rollout.Candidate) error { return node.Retire(r, c) })
		for _, c := range done.Gone {
			gone = append(gone, c.ID)
			require.Equal(t, "history.maxBytes", c.Limit)
		}
		require.Empty(t, done.Kept)
		return gone, done
	}
	_, all := retain(rollout.Retention{MaxBytes: never})
	require.Equal(t, 3, all.Threads)
	each := all.Bytes / 3
	gone, done := retain(rollout.Retention{MaxBytes: 2 * each})
	require.Equal(t, ids[:1], gone)
	require.Equal(t, each, done.ArchivedBytes)
	gone, done = retain(rollout.Retention{MaxBytes: each, Delete: true})
	require.Equal(t, ids[1:], gone, "an archived thread is deleted last")
	require.Equal(t, each, done.Bytes)
	require.Zero(t, done.Over)
}

// keepOld stores closed threads of equal size, the oldest first, and returns their ids.
func keepOld(t *testing.T, node store.Threads, now time.Time, n int) (ids []string) {
	t.Helper()
	for i := range n {
		id := threadID[:len(threadID)-1] + string(rune('1'+i))
		journal, err := node.Begin(id, now, nil)
		require.NoError(t, err)
		lines := texts(0, "hello")
		lines[0].Timestamp = now.Add(time.Duration(i-9) * day).UTC().Format(time.RFC3339)
		require.NoError(t, journal.Append(lines, true))
		require.NoError(t, journal.Close())
		ids = append(ids, id)
	}
	return ids
}

// TestNodesThatRetireThreadsAtOnceKeepTheLimit lets a node delete threads while another one has found the same.
func TestNodesThatRetireThreadsAtOnceKeepTheLimit(t *testing.T) {
	open := nodes(t)
	first, second := open(t, "here"), open(t, "here")
	now := time.Now()
	keepOld(t, first, now, 4)
	usage := first.Retain(context.Background(), rollout.Retention{MaxBytes: never}, now, nil)
	limit := rollout.Retention{MaxBytes: usage.Bytes / 2, Delete: true}
	retain := func(node store.Threads, before func()) rollout.RetentionResult {
		return node.Retain(context.Background(), limit, now, func(c rollout.Candidate) error {
			before()
			return node.Retire(limit, c)
		})
	}
	var once sync.Once
	var other rollout.RetentionResult
	done := retain(first, func() { once.Do(func() { other = retain(second, func() {}) }) })
	require.Len(t, other.Gone, 2)
	require.Empty(t, done.Gone)
	require.Equal(t, 2, done.Threads)
	require.Equal(t, limit.MaxBytes, done.Bytes)
}
