package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/postgres/pgtest"
	"appserver/test/partition"
	"appserver/test/sample"
)

var node = fleet.Node{ID: "a", Incarnation: "i"}

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012x", n) }

// cutRig is a database behind a link, and the same one without it.
type cutRig struct {
	*partition.Link
	db, direct *DB
}

func newCutRig(t testing.TB, limit time.Duration) *cutRig {
	t.Helper()
	address := pgtest.Database(t)
	r := &cutRig{Link: partition.New(t, "unix", pgtest.Shared(t).Socket())}
	r.direct = openAt(t, Options{URL: address, Lease: time.Minute})
	r.db = openAt(t, Options{URL: pgtest.Through(t, address, r.Address()), Lease: time.Minute, Limit: limit})
	_, err := r.db.Join(t.Context(), node)
	require.NoError(t, err)
	return r
}

func newThread(t testing.TB, db *DB, n int, lines ...string) fleet.Own {
	t.Helper()
	own, err := db.Create(t.Context(), idOf(n), node, fleet.ContentOf(fleet.Head{}, raw(lines...)...))
	require.NoError(t, err)
	return own
}

func raw(lines ...string) [][]byte {
	all := make([][]byte, len(lines))
	for i, l := range lines {
		all[i] = []byte(l)
	}
	return all
}

func linesOf(t testing.TB, db *DB, id string) []string {
	t.Helper()
	all := []string{}
	_, err := db.Read(t.Context(), id, 0, func(_ int64, raw []byte) bool {
		all = append(all, string(raw))
		return true
	})
	require.NoError(t, err)
	return all
}

func TestAnAppendWithoutAnAnswerIsResolved(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	own := newThread(t, r.db, 1, "one")
	require.NoError(t, r.db.Append(t.Context(), own, 1, raw("two"), nil))
	r.CutAnswers(2, "the third line", false) // the batch and its first repeat
	require.NoError(t, r.db.Append(t.Context(), own, 2, raw("the third line"), nil))
	require.Equal(t, []string{"one", "two", "the third line"}, linesOf(t, r.direct, own.ID))
	require.NoError(t, r.db.Append(t.Context(), own, 3, raw("four"), nil))
}

func TestManyAppendsWithoutAnAnswerAreResolved(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	owns := make([]fleet.Own, 40)
	for i := range owns {
		owns[i] = newThread(t, r.db, i)
	}
	r.CutAnswers(6, "a line", false)
	var all sync.WaitGroup
	for _, own := range owns {
		all.Go(func() {
			for n := range int64(5) {
				if err := r.db.Append(t.Context(), own, n, raw(fmt.Sprintf("a line %d", n)), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, own := range owns {
		require.Equal(t, []string{"a line 0", "a line 1", "a line 2", "a line 3", "a line 4"}, linesOf(t, r.direct, own.ID))
	}
}

func TestAnAppendThatCannotBeResolvedIsInDoubt(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, time.Second)
	own := newThread(t, r.db, 1, "one")
	r.CutAnswers(1, "two", true)
	err := r.db.Append(t.Context(), own, 1, raw("two"), nil)
	require.ErrorIs(t, err, fleet.ErrInDoubt)
	require.Equal(t, []string{"one", "two"}, linesOf(t, r.direct, own.ID), "it was written")
	err = r.db.Append(t.Context(), own, 2, raw("three"), nil)
	require.Error(t, err)
	require.NotErrorIs(t, err, fleet.ErrInDoubt, "it was not sent")
	r.Heal()
	require.NoError(t, r.db.Append(t.Context(), own, 1, raw("two"), nil), "the caller resolves it")
	require.NoError(t, r.db.Append(t.Context(), own, 2, raw("three"), nil))
	require.Equal(t, []string{"one", "two", "three"}, linesOf(t, r.direct, own.ID))
}

func TestAnAppendInDoubtIsFencedByATakeover(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	own := newThread(t, r.db, 1, "one")
	r.CutAnswers(1, "two", true)
	result := make(chan error, 1)
	go func() { result <- r.db.Append(context.Background(), own, 1, raw("two"), nil) }()
	require.Eventually(t, func() bool { return len(linesOf(t, r.direct, own.ID)) == 2 }, waitLimit, waitStep)
	_, err := r.direct.Take(t.Context(), own.ID, node)
	require.NoError(t, err)
	r.Heal()
	err = <-result
	require.ErrorIs(t, err, fleet.ErrFenced)
	require.ErrorIs(t, err, fleet.ErrInDoubt)
}

// TestASilentTransactionDoesNotHoldUpATakeover holds the lock of a thread, as a server does that is suspended during a
// write.
func TestASilentTransactionDoesNotHoldUpATakeover(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	r := newCutRig(t, 0)
	own := newThread(t, r.db, 1, "one")
	tx := lockThreads(t, r.direct)
	_, err := r.db.Take(t.Context(), own.ID, node)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT")
	require.Error(t, err, "the database has ended the transaction")
}

// TestAnEndedContextLeavesTheWriteRunning holds the lock of a thread, so that an append waits.
func TestAnEndedContextLeavesTheWriteRunning(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	own := newThread(t, r.db, 1, "one")
	require.NoError(t, r.db.Append(t.Context(), own, 1, raw("two"), nil))
	tx := lockThreads(t, r.direct)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 2)
	go func() { result <- r.db.Append(ctx, own, 2, raw("three"), nil) }()
	go func() { result <- r.db.Move(ctx, own, true) }()
	awaitWaiting(t, r.direct, 2)
	before := r.Connections()
	cancel()
	for range 2 {
		err := <-result
		require.ErrorIs(t, err, fleet.ErrInDoubt)
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, r.db.Append(t.Context(), own, 2, raw("three"), nil))
	require.NoError(t, r.db.Close())
	// The last append dials if the two writes have not returned their connections yet.
	require.LessOrEqual(t, r.Connections(), before+1, "the library dials again to cancel each write")
	place, err := r.direct.Find(t.Context(), own.ID)
	require.NoError(t, err)
	require.True(t, place.Archived)
	require.Equal(t, int64(3), place.Next)
}

// lockThreads begins a transaction that holds the locks of all threads.
func lockThreads(t *testing.T, db *DB) pgx.Tx {
	tx, err := db.writes.Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), "SELECT FROM thread FOR UPDATE")
	require.NoError(t, err)
	return tx
}

// awaitWaiting waits until n connections wait for a lock.
func awaitWaiting(t testing.TB, db *DB, n int) {
	t.Helper()
	const sql = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
	require.Eventually(t, func() bool {
		var waiting int
		err := db.reads.QueryRow(context.Background(), sql).Scan(&waiting)
		return err == nil && waiting == n
	}, waitLimit, waitStep)
}

// TestWaitingWritesDelayNeitherLeasesNorClose uses all connections for writes.
func TestWaitingWritesDelayNeitherLeasesNorClose(t *testing.T) {
	sample.NoRace(t)
	slow(t)
	t.Parallel()
	r := newCutRig(t, 0)
	own := newThread(t, r.db, 1, "one")
	lockThreads(t, r.direct)
	result := make(chan error, writeConns+1)
	for range writeConns {
		go func() { result <- r.db.Move(context.Background(), own, true) }()
	}
	go func() { result <- r.db.Append(context.Background(), own, 1, raw("two"), nil) }()
	awaitWaiting(t, r.direct, writeConns+1)
	_, err := r.db.Join(t.Context(), node)
	require.NoError(t, err)
	began := time.Now()
	require.NoError(t, r.db.Close())
	require.Less(t, time.Since(began), 10*closeWait)
	for range writeConns + 1 {
		require.ErrorIs(t, <-result, fleet.ErrInDoubt)
	}
}

// TestALostWriteIsNeverCancelled cuts a connection whose statement waits.
func TestALostWriteIsNeverCancelled(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	own := newThread(t, r.db, 1, "one")
	require.NoError(t, r.db.Append(t.Context(), own, 1, raw("two"), nil))
	tx := lockThreads(t, r.direct)
	result := make(chan error, 1)
	go func() { result <- r.db.Append(context.Background(), own, 2, raw("three"), nil) }()
	awaitWaiting(t, r.direct, 1)
	r.Cut()
	awaitWaiting(t, r.direct, 2) // the lost statement and its repeat
	require.NoError(t, tx.Commit(t.Context()))
	require.NoError(t, <-result)
	require.Equal(t, []string{"one", "two", "three"}, linesOf(t, r.direct, own.ID))
}

func TestOtherWritesWithoutAnAnswerAreRepeated(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	r.CutAnswers(1, "INSERT INTO thread", false)
	own, err := r.db.Create(t.Context(), idOf(1), node, fleet.ContentOf(fleet.Head{}, raw("one")...))
	require.NoError(t, err)
	require.Equal(t, int64(1), own.Epoch, "the connection was lost before the commit")
	for _, c := range []struct {
		text string
		do   func() error
	}{
		{"epoch = epoch + 1", func() (err error) { own, err = r.db.Take(t.Context(), own.ID, node); return err }},
		{"INSERT INTO node", func() error { _, err := r.db.Join(t.Context(), node); return err }},
		{"commit\x00", func() error { return r.db.Move(t.Context(), own, true) }},
		{"commit\x00", func() error { return r.db.Rename(t.Context(), own.ID, "name") }},
		{"commit\x00", func() error { return r.db.AddMessages(t.Context(), own, 0, 1, nil) }},
		{"commit\x00", func() error { return r.db.Release(t.Context(), own) }},
		{"commit\x00", func() (err error) { own, err = r.direct.Take(t.Context(), own.ID, node); return err }},
		{"commit\x00", func() error { return r.db.Delete(t.Context(), own) }},
	} {
		r.CutAnswers(1, c.text, false)
		require.NoError(t, c.do(), c.text)
	}
	r.CutAnswers(1, "commit\x00", false)
	own, err = r.db.Create(t.Context(), idOf(2), node, fleet.ContentOf(fleet.Head{}, raw("one")...))
	require.NoError(t, err, "a Create without an answer is resolved")
	require.Equal(t, int64(1), own.Next)
	r.CutAnswers(1, "commit\x00", false)
	_, err = r.db.Rewrite(t.Context(), own, nil, func(int64, []byte) []byte { return nil })
	require.ErrorIs(t, err, fleet.ErrInDoubt)
	require.False(t, errors.Is(err, fleet.ErrFenced))
}
