package shared_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/postgres"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/shared"
)

// counting counts reads of lines, and fails appends if refuses is set.
type counting struct {
	fleet.Driver
	reads   atomic.Int64
	refuses atomic.Bool
}

func (c *counting) Read(ctx context.Context, id string, from int64,
	line func(ordinal int64, raw []byte) bool) (int64, error) {
	c.reads.Add(1)
	return c.Driver.Read(ctx, id, from, line)
}

func (c *counting) Append(ctx context.Context, o fleet.Own, first int64, lines [][]byte, h *fleet.Head) error {
	if c.refuses.Load() {
		return context.DeadlineExceeded
	}
	return c.Driver.Append(ctx, o, first, lines, h)
}

func countingNode(t *testing.T) (*shared.Threads, *counting) {
	ctx := context.Background()
	db, err := postgres.Open(ctx, postgres.Options{URL: pgtest.Database(t), Lease: 30 * time.Second})
	require.NoError(t, err)
	driver := &counting{Driver: db}
	threads, err := shared.Open(ctx, shared.Options{Driver: driver, Copies: t.TempDir(), Timeout: time.Minute,
		Report: func(err error) { t.Error(err) }, Node: fleet.Node{ID: "node", Incarnation: uuid.NewString()}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, threads.Close())
		require.NoError(t, db.Close())
	})
	return threads, driver
}

// TestTheSearchReadsNoLineBack appends lines in the memory of the node, and then more than fit.
func TestTheSearchReadsNoLineBack(t *testing.T) {
	node, driver := countingNode(t)
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(append(metaLine(), texts(0, "the first")...), true))
	awaitHit(t, node, "the first")
	reads := driver.reads.Load()
	for n := range int64(20) {
		require.NoError(t, journal.Append(texts(n+2, fmt.Sprintf("number <%d>", n)), true))
	}
	awaitHit(t, node, "number <19>")
	require.Equal(t, reads, driver.reads.Load())
	many := make([]string, 200)
	for i := range many {
		many[i] = strings.Repeat("x", 60<<10) + fmt.Sprintf("large <%d>", i)
	}
	require.NoError(t, journal.Append(texts(22, many...), true))
	require.NoError(t, journal.Close())
	for _, text := range []string{"large <0>", "large <100>", "large <199>", "number <0>", "number <19>"} {
		require.Equal(t, 1, hits(t, node, text), text)
	}
	require.Greater(t, driver.reads.Load(), reads)
}

// TestMessagesThatACrashLostAreAddedAgain removes a message that was added, as a crash of the database does
// before it has reached the disk. The owner does not change.
func TestMessagesThatACrashLostAreAddedAgain(t *testing.T) {
	url := pgtest.Database(t)
	node, _, _ := hookedNode(t, url, nil)
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(append(metaLine(), texts(0, "the first")...), true))
	awaitHit(t, node, "the first")
	require.NoError(t, journal.Append(texts(2, "a needle"), true))
	awaitHit(t, node, "a needle")
	pgtest.Exec(t, url, "DELETE FROM message WHERE ordinal = 2", "UPDATE indexed SET next = 2")
	require.Zero(t, hits(t, node, "a needle"))
	require.NoError(t, journal.Append(texts(3, "straw"), true))
	awaitHit(t, node, "straw")
	require.Equal(t, 1, hits(t, node, "a needle"))
	require.NoError(t, journal.Close())
}

// awaitHit waits until the search finds a text in a message. The preview of a thread counts much more.
func awaitHit(t *testing.T, node *shared.Threads, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := node.Search(context.Background(), rollout.Query{Search: text})
		require.NoError(t, err)
		return found.Complete && len(found.Hits) == 1
	}, time.Minute, time.Millisecond)
}

// TestARejectedAppendDoesNotChangeTheHead appends a line that the database rejects, and then another one.
func TestARejectedAppendDoesNotChangeTheHead(t *testing.T) {
	node, driver := countingNode(t)
	journal, err := node.Begin(threadID, time.Now(), nil)
	require.NoError(t, err)
	require.NoError(t, journal.Append(metaLine(), true))
	driver.refuses.Store(true)
	require.Error(t, journal.Append(texts(1, "rejected"), true))
	driver.refuses.Store(false)
	require.NoError(t, journal.Append(texts(1, "stored"), true))
	require.NoError(t, journal.Close())
	page, err := node.List(rollout.Query{})
	require.NoError(t, err)
	require.Equal(t, "stored", page.Heads[0].Preview)
}
