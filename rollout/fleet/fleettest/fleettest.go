// Package fleettest checks the promises of a fleet.Driver. Each driver runs [Run].
//
// # Goroutines
//
// Tests start goroutines for concurrent calls and wait for them.
package fleettest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

// Fixture is a driver with an empty database, and access to the database beside the driver.
type Fixture struct {
	fleet.Driver
	// Expire ends the lease of a node as if its time had passed.
	Expire func(t testing.TB, node string)
	// RollBack sets the epoch of a thread and removes its owner, as an older copy of the
	// database has them.
	RollBack func(t testing.TB, id string, epoch int64)
}

// Run checks all promises. open returns a new database for each test.
func Run(t *testing.T, open func(t testing.TB) Fixture) {
	t.Helper()
	for name, check := range map[string]func(*testing.T, *rig){
		"AppendsAreRead":                  appendsAreRead,
		"AnAppendIsAllOrNone":             anAppendIsAllOrNone,
		"AnAppendKeepsTheOrder":           anAppendKeepsTheOrder,
		"ARepeatedAppendSucceeds":         aRepeatedAppendSucceeds,
		"AnEndedContextAppendsNothing":    anEndedContextAppendsNothing,
		"LargeLinesAreKept":               largeLinesAreKept,
		"ManyThreadsAppendAtOnce":         manyThreadsAppendAtOnce,
		"AppendsOfAThreadKeepTheirOrder":  appendsOfAThreadKeepTheirOrder,
		"AReadStops":                      aReadStops,
		"AThreadIsCreatedOnce":            aThreadIsCreatedOnce,
		"UnknownThreadsAreNotFound":       unknownThreadsAreNotFound,
		"AThreadHasOneOwner":              aThreadHasOneOwner,
		"OneOfManyTakesSucceeds":          oneOfManyTakesSucceeds,
		"ATakeNeedsALease":                aTakeNeedsALease,
		"AStaleOwnerIsFenced":             aStaleOwnerIsFenced,
		"ARestartedNodeFencesItsFormer":   aRestartedNodeFencesItsFormer,
		"ARolledBackEpochFences":          aRolledBackEpochFences,
		"AReleasedThreadIsTaken":          aReleasedThreadIsTaken,
		"ANodeNameHasOneProcess":          aNodeNameHasOneProcess,
		"InterruptedThreadsAreFound":      interruptedThreadsAreFound,
		"TheEndOfTheNextLeaseIsKnown":     theEndOfTheNextLeaseIsKnown,
		"NodesAreListed":                  nodesAreListed,
		"ARewriteReplacesLines":           aRewriteReplacesLines,
		"AThreadIsCreatedWhole":           aThreadIsCreatedWhole,
		"ADeletedThreadIsGone":            aDeletedThreadIsGone,
		"HeadsAreKept":                    headsAreKept,
		"MovedThreadsAreListedApart":      movedThreadsAreListedApart,
		"MessagesAreAddedOnce":            messagesAreAddedOnce,
		"LostMessagesAreNoticed":          lostMessagesAreNoticed,
		"ARewriteRemovesMessages":         aRewriteRemovesMessages,
		"SizesAreKept":                    sizesAreKept,
		"TextsOfAnyKindAreKept":           textsOfAnyKindAreKept,
		"InvalidCursorsAreErrors":         invalidCursorsAreErrors,
		"AClosedDriverAcceptsNothing":     aClosedDriverAcceptsNothing,
		"OwnersEqualTheModel":             ownersEqualTheModel,
		"ListsAndSearchesEqualTheModel":   listsAndSearchesEqualTheModel,
		"SearchesSortByRelevanceAndPages": searchesSortByRelevance,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, newRig(t, open(t)))
		})
	}
}

// rig is a driver with two nodes, of which a has joined.
type rig struct {
	Fixture
	t    testing.TB
	ctx  context.Context
	a, b fleet.Node
	ids  atomic.Int64
}

func newRig(t testing.TB, f Fixture) *rig {
	r := &rig{Fixture: f, t: t, ctx: t.Context()}
	r.a = fleet.Node{ID: "a", Incarnation: "incarnation of a", Address: "wss://a"}
	r.b = fleet.Node{ID: "b", Incarnation: "incarnation of b", Address: "wss://b"}
	r.join(r.a)
	return r
}

func (r *rig) join(n fleet.Node) {
	r.t.Helper()
	ttl, err := r.Join(r.ctx, n)
	require.NoError(r.t, err)
	require.Positive(r.t, ttl)
}

func idOf(n int64) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012x", n) }

func (r *rig) newID() string { return idOf(r.ids.Add(1)) }

var begin = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

// headOf returns the head of a listed thread.
func headOf(preview string) fleet.Head {
	return fleet.Head{Listed: true, Head: listing.Head{Preview: preview, CreatedAt: begin, UpdatedAt: begin,
		Meta: protocol.SessionMeta{ModelProvider: "p", Cwd: "/w", Source: []byte(`"cli"`)}}}
}

// create makes a thread of node a with lines.
func (r *rig) create(lines ...string) fleet.Own {
	r.t.Helper()
	own, err := r.Create(r.ctx, r.newID(), r.a, fleet.ContentOf(headOf("hello"), raw(lines...)...))
	require.NoError(r.t, err)
	require.Equal(r.t, int64(len(lines)), own.Next)
	return own
}

func raw(lines ...string) [][]byte {
	all := make([][]byte, len(lines))
	for i, l := range lines {
		all[i] = []byte(l)
	}
	return all
}

func (r *rig) append(o fleet.Own, first int64, lines ...string) error {
	return r.Append(r.ctx, o, first, raw(lines...), nil)
}

// lines returns all lines of a thread.
func (r *rig) lines(id string) []string {
	r.t.Helper()
	all := []string{}
	next, err := r.Read(r.ctx, id, 0, func(ordinal int64, raw []byte) bool {
		require.Equal(r.t, int64(len(all)), ordinal)
		all = append(all, string(raw))
		return true
	})
	require.NoError(r.t, err)
	require.Equal(r.t, int64(len(all)), next)
	return all
}

func (r *rig) take(id string, n fleet.Node) fleet.Own {
	r.t.Helper()
	own, err := r.Take(r.ctx, id, n)
	require.NoError(r.t, err)
	return own
}

// noise returns bytes that do not compress well.
func noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}
