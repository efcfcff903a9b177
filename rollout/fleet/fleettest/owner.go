package fleettest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

func aThreadIsCreatedOnce(t *testing.T, r *rig) {
	own := r.create("one")
	_, err := r.Create(r.ctx, own.ID, r.a, fleet.ContentOf(headOf("again"), raw("two")...))
	require.ErrorIs(t, err, fleet.ErrExists)
	_, err = r.Create(r.ctx, r.newID(), r.b, fleet.ContentOf(headOf("b has not joined")))
	require.ErrorIs(t, err, fleet.ErrNotJoined)
	_, err = r.Create(r.ctx, "no id", r.a, fleet.ContentOf(headOf("no id")))
	require.Error(t, err)
	require.Equal(t, []string{"one"}, r.lines(own.ID))
}

// aThreadIsCreatedWhole ends the lines of a thread with an error, ends the call between two lines, and has a head that
// depends on the lines.
func aThreadIsCreatedWhole(t *testing.T, r *rig) {
	id, wrong := r.newID(), errors.New("a line cannot be read")
	_, err := r.Create(r.ctx, id, r.a, content(func() error { return wrong }))
	require.ErrorIs(t, err, wrong)
	ctx, cancel := context.WithCancel(r.ctx)
	reads := 0 // the race detector finds a read after the end of the call
	_, err = r.Create(ctx, id, r.a, content(func() error {
		reads++
		cancel()
		return nil
	}))
	require.Error(t, err)
	require.Positive(t, reads)
	reads = 0
	_, err = r.Find(r.ctx, id)
	require.ErrorIs(t, err, fleet.ErrNotFound)
	own, err := r.Create(r.ctx, id, r.a, content(func() error { return nil }))
	require.NoError(t, err)
	require.Equal(t, int64(contentLines), own.Next)
	require.Len(t, r.lines(id), contentLines)
	found, err := r.Find(r.ctx, id)
	require.NoError(t, err)
	require.Equal(t, "the last line is 9999", found.Preview)
	require.Equal(t, int64(contentLines)*int64(len("line 0000")), found.Bytes)
	require.NoError(t, r.append(own, own.Next, "more"))
}

// contentLines is the number of lines of content.
const contentLines = 10_000

// content returns the content of a thread. It calls do before the line in the middle.
func content(do func() error) fleet.Content {
	last := 0
	return fleet.Content{
		Head: func() fleet.Head { return headOf(fmt.Sprintf("the last line is %d", last)) },
		Lines: func(yield func([]byte, error) bool) {
			for last = range contentLines {
				if last == contentLines/2 {
					if err := do(); err != nil {
						yield(nil, err)
						return
					}
				}
				if !yield(fmt.Appendf(nil, "line %04d", last), nil) {
					return
				}
			}
		},
	}
}

func unknownThreadsAreNotFound(t *testing.T, r *rig) {
	for _, id := range []string{idOf(999), "no id", ""} {
		own := fleet.Own{ID: id, Node: "a", Incarnation: r.a.Incarnation}
		_, err := r.Take(r.ctx, id, r.a)
		require.ErrorIs(t, err, fleet.ErrNotFound)
		_, err = r.Read(r.ctx, id, 0, nil)
		require.ErrorIs(t, err, fleet.ErrNotFound)
		_, err = r.Find(r.ctx, id)
		require.ErrorIs(t, err, fleet.ErrNotFound)
		_, err = r.Indexed(r.ctx, id)
		require.ErrorIs(t, err, fleet.ErrNotFound)
		_, err = r.Rewrite(r.ctx, own, nil, nil)
		require.ErrorIs(t, err, fleet.ErrNotFound)
		require.ErrorIs(t, r.append(own, 0, "one"), fleet.ErrNotFound)
		require.ErrorIs(t, r.Rename(r.ctx, id, "name"), fleet.ErrNotFound)
		require.ErrorIs(t, r.Move(r.ctx, own, true), fleet.ErrNotFound)
		require.ErrorIs(t, r.Delete(r.ctx, own), fleet.ErrNotFound)
		require.ErrorIs(t, r.AddMessages(r.ctx, own, 0, 0, nil), fleet.ErrNotFound)
	}
}

func aThreadHasOneOwner(t *testing.T, r *rig) {
	own := r.create("one")
	r.join(r.b)
	_, err := r.Take(r.ctx, own.ID, r.b)
	var owned *fleet.OwnedError
	require.ErrorAs(t, err, &owned)
	require.Equal(t, fleet.OwnedError{ID: own.ID, Node: "a", Address: "wss://a"}, *owned)
	place, err := r.Find(r.ctx, own.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "wss://a"}, []string{place.Owner, place.Address})
	again := r.take(own.ID, r.a)
	require.Equal(t, own.Epoch+1, again.Epoch)
	require.ErrorIs(t, r.append(own, 1, "two"), fleet.ErrFenced)
	require.NoError(t, r.append(again, 1, "two"))
}

func oneOfManyTakesSucceeds(t *testing.T, r *rig) {
	own := r.create("one")
	require.NoError(t, r.Release(r.ctx, own))
	r.join(r.b)
	var taken atomic.Int64
	var all sync.WaitGroup
	for i := range 16 {
		n := fleet.Node{ID: string(rune('c' + i)), Incarnation: "i"}
		r.join(n)
		all.Go(func() {
			if _, err := r.Take(r.ctx, own.ID, n); err == nil {
				taken.Add(1)
			} else {
				var owned *fleet.OwnedError
				require.ErrorAs(t, err, &owned)
			}
		})
	}
	all.Wait()
	require.Equal(t, int64(1), taken.Load())
}

func aTakeNeedsALease(t *testing.T, r *rig) {
	own := r.create("one")
	require.NoError(t, r.Release(r.ctx, own))
	_, err := r.Take(r.ctx, own.ID, r.b)
	require.ErrorIs(t, err, fleet.ErrNotJoined)
	r.Expire(t, "a")
	_, err = r.Take(r.ctx, own.ID, r.a)
	require.ErrorIs(t, err, fleet.ErrNotJoined)
	r.join(r.a)
	r.take(own.ID, r.a)
}

func aStaleOwnerIsFenced(t *testing.T, r *rig) {
	own := r.create("one")
	r.join(r.b)
	r.Expire(t, "a")
	require.NoError(t, r.append(own, 1, "two"), "without another owner, the fence holds")
	taken := r.take(own.ID, r.b)
	require.Equal(t, own.Epoch+1, taken.Epoch)
	require.Equal(t, int64(2), taken.Next)
	r.join(r.a)
	require.ErrorIs(t, r.append(own, 2, "three"), fleet.ErrFenced)
	require.ErrorIs(t, r.append(own, 1, "two"), fleet.ErrFenced, "a repeat is fenced as well")
	require.ErrorIs(t, r.Move(r.ctx, own, true), fleet.ErrFenced)
	require.ErrorIs(t, r.Delete(r.ctx, own), fleet.ErrFenced)
	require.ErrorIs(t, r.Release(r.ctx, own), fleet.ErrFenced)
	require.ErrorIs(t, r.AddMessages(r.ctx, own, 0, 1, nil), fleet.ErrFenced)
	_, err := r.Rewrite(r.ctx, own, nil, func(int64, []byte) []byte { return []byte("x") })
	require.ErrorIs(t, err, fleet.ErrFenced)
	require.NoError(t, r.append(taken, 2, "drei"))
	require.Equal(t, []string{"one", "two", "drei"}, r.lines(own.ID))
}

func aRestartedNodeFencesItsFormer(t *testing.T, r *rig) {
	own := r.create("one")
	r.Expire(t, "a")
	restarted := fleet.Node{ID: "a", Incarnation: "second incarnation of a"}
	r.join(restarted)
	taken := r.take(own.ID, restarted)
	require.ErrorIs(t, r.append(own, 1, "two"), fleet.ErrFenced)
	require.NoError(t, r.append(taken, 1, "two"))
}

// aRolledBackEpochFences issues an epoch twice.
func aRolledBackEpochFences(t *testing.T, r *rig) {
	own := r.create("one")
	r.RollBack(t, own.ID, own.Epoch-1)
	r.Expire(t, "a")
	restarted := fleet.Node{ID: "a", Incarnation: "second incarnation of a"}
	r.join(restarted)
	taken := r.take(own.ID, restarted)
	require.Equal(t, own.Epoch, taken.Epoch)
	require.ErrorIs(t, r.append(own, 1, "two"), fleet.ErrFenced)
	require.NoError(t, r.append(taken, 1, "zwei"))
	require.Equal(t, []string{"one", "zwei"}, r.lines(own.ID))
}

func aReleasedThreadIsTaken(t *testing.T, r *rig) {
	own := r.create("one")
	r.join(r.b)
	require.NoError(t, r.Release(r.ctx, own))
	require.ErrorIs(t, r.append(own, 1, "two"), fleet.ErrFenced)
	taken := r.take(own.ID, r.b)
	require.NoError(t, r.append(taken, 1, "two"))
	require.NoError(t, r.Leave(r.ctx, r.a), "a node without threads leaves")
	require.NoError(t, r.Leave(r.ctx, r.b))
	r.join(r.a)
	require.Equal(t, int64(2), r.take(own.ID, r.a).Next, "the threads of a node that left are free")
}

func aNodeNameHasOneProcess(t *testing.T, r *rig) {
	other := fleet.Node{ID: "a", Incarnation: "other"}
	_, err := r.Join(r.ctx, other)
	require.ErrorIs(t, err, fleet.ErrNodeInUse)
	require.NoError(t, r.Leave(r.ctx, other), "it has no lease")
	r.join(r.a)
	r.Expire(t, "a")
	r.join(other)
	_, err = r.Join(r.ctx, r.a)
	require.ErrorIs(t, err, fleet.ErrNodeInUse)
}

func nodesAreListed(t *testing.T, r *rig) {
	r.join(r.b)
	r.join(fleet.Node{ID: "c", Incarnation: "i"})
	r.Expire(t, "c")
	nodes, err := r.Nodes(r.ctx)
	require.NoError(t, err)
	require.Equal(t, []fleet.Node{r.a, r.b}, nodes)
}

// runningIn returns the ids of the threads that a page shows as running.
func runningIn(page fleet.Page) (ids []string) {
	for _, h := range page.Heads {
		if h.Running {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

func interruptedThreadsAreFound(t *testing.T, r *rig) {
	find := func() []string {
		ids, _, err := r.Interrupted(r.ctx, 10)
		require.NoError(t, err)
		return ids
	}
	running, idle, released := r.create(), r.create(), r.create()
	h := headOf("hello")
	h.Running = true
	require.NoError(t, r.Append(r.ctx, running, 0, nil, &h))
	require.NoError(t, r.Append(r.ctx, released, 0, nil, &h))
	require.NoError(t, r.Release(r.ctx, released))
	require.Empty(t, find())
	require.True(t, r.find(released.ID).Running, "the turn goes on with the next owner")
	page, err := r.List(r.ctx, listing.Query{})
	require.NoError(t, err)
	require.Equal(t, []string{running.ID}, runningIn(page))
	r.Expire(t, "a")
	require.Equal(t, []string{running.ID}, find())
	r.join(r.b)
	r.take(running.ID, r.b)
	r.take(idle.ID, r.b)
	require.Empty(t, find())
}

func theEndOfTheNextLeaseIsKnown(t *testing.T, r *rig) {
	next := func() time.Duration {
		_, next, err := r.Interrupted(r.ctx, 10)
		require.NoError(t, err)
		return next
	}
	r.Expire(t, "a")
	require.Zero(t, next(), "no lease is valid")
	began := time.Now()
	ttl, err := r.Join(r.ctx, r.b)
	require.NoError(t, err)
	ofB := next()
	require.LessOrEqual(t, ofB, ttl)
	require.GreaterOrEqual(t, ofB, ttl-time.Since(began))
	r.join(r.a)
	require.Less(t, next(), ofB, "the lease of node a ends later")
	r.Expire(t, "b")
	require.Greater(t, next(), ttl-time.Since(began))
}
