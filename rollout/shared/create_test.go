package shared_test

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

// creating is a driver that calls a function for each line of a new thread.
type creating struct {
	fleet.Driver
	each func(n int)
}

func (d creating) Create(ctx context.Context, id string, n fleet.Node, c fleet.Content) (fleet.Own, error) {
	lines := c.Lines
	c.Lines = func(yield func([]byte, error) bool) {
		number := 0
		for text, err := range lines {
			number++
			if d.each(number); !yield(text, err) {
				return
			}
		}
	}
	return d.Driver.Create(ctx, id, n, c)
}

// seedOf returns a seed with all lines of the thread. chosen counts the lines that were read.
func seedOf(t *testing.T, node *shared.Threads, chosen *atomic.Int64) *rollout.Seed {
	t.Helper()
	var lines rollout.LineList
	_, reader, err := node.Load(store.Ref{ID: threadID}, &lines)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reader.Close()) })
	seed := &rollout.Seed{First: metaLine()[0], From: reader}
	seed.Choose = func(l protocol.RolloutLine) (protocol.RolloutLine, bool) {
		chosen.Add(1)
		return l, true
	}
	for _, l := range lines {
		seed.Ordinals = append(seed.Ordinals, *l.Ordinal)
	}
	return seed
}

// TestAFewLinesOfAForkAreInMemory counts the lines of the origin, each of which is a batch, that are read before their
// turn.
func TestAFewLinesOfAForkAreInMemory(t *testing.T) {
	var chosen atomic.Int64
	ahead := 0
	node, _, _ := hookedNode(t, pgtest.Database(t), func(o *shared.Options) {
		o.Driver = creating{o.Driver, func(n int) { ahead = max(ahead, int(chosen.Load())-n) }}
	})
	processors := runtime.GOMAXPROCS(0)
	messages := slices.Repeat([]string{strings.Repeat("x", 300<<10)}, 2*processors+10)
	keep(t, node, messages...)
	fork, err := node.Begin(uuid.NewString(), time.Now(), seedOf(t, node, &chosen))
	require.NoError(t, err)
	require.NoError(t, fork.Append(texts(int64(len(messages)), "last"), true))
	require.LessOrEqual(t, ahead, processors)
	require.Equal(t, len(messages)+1, fork.LineReader().Lines())
	require.NoError(t, fork.Close())
}

// TestAForkWhoseOriginCannotBeReadIsNotCreated closes the files of the origin.
func TestAForkWhoseOriginCannotBeReadIsNotCreated(t *testing.T) {
	node, _, _ := hookedNode(t, pgtest.Database(t), nil)
	keep(t, node, "one", "two", "three")
	seed, id := seedOf(t, node, new(atomic.Int64)), uuid.NewString()
	require.NoError(t, seed.From.Close())
	fork, err := node.Begin(id, time.Now(), seed)
	require.NoError(t, err)
	var unavailable *store.UnavailableError
	err = fork.Append(texts(3, "four"), true)
	require.Error(t, err)
	require.NotErrorAs(t, err, &unavailable)
	require.NoError(t, fork.Discard())
	var missing *rollout.NotFoundError
	_, err = node.Where(store.Ref{ID: id})
	require.ErrorAs(t, err, &missing)
}
