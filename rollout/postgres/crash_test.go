package postgres

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/postgres/pgtest"
	"appserver/test/sample"
)

// crowd appends to many threads until it is stopped.
type crowd struct {
	db        *DB
	owns      []fleet.Own
	confirmed []int64
	total     atomic.Int64
	stopped   atomic.Bool
	all       sync.WaitGroup
}

func startCrowd(t testing.TB, db *DB) *crowd {
	t.Helper()
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	c := &crowd{db: db, owns: make([]fleet.Own, 20), confirmed: make([]int64, 20)}
	for i := range c.owns {
		c.owns[i] = newThread(t, db, i)
		c.all.Go(func() {
			for !c.stopped.Load() {
				n := c.confirmed[i]
				err := db.Append(context.Background(), c.owns[i], n, raw(fmt.Sprint(n)), nil)
				if err != nil {
					t.Errorf("append %d of thread %d: %v", n, i, err)
					return
				}
				c.confirmed[i]++
				c.total.Add(1)
			}
		})
	}
	return c
}

// await waits for n more appends.
func (c *crowd) await(t testing.TB, n int64) {
	t.Helper()
	end := c.total.Load() + n
	require.Eventually(t, func() bool { return t.Failed() || c.total.Load() >= end }, time.Minute, waitStep)
}

// stop stops the appends, and compares all confirmed lines.
func (c *crowd) stop(t testing.TB) {
	t.Helper()
	c.stopped.Store(true)
	c.all.Wait()
	for i, own := range c.owns {
		lines := linesOf(t, c.db, own.ID)
		require.Len(t, lines, int(c.confirmed[i]))
		for n, line := range lines {
			require.Equal(t, fmt.Sprint(n), line)
		}
	}
}

func TestAppendsContinueAfterACrashOfTheServer(t *testing.T) {
	sample.NoRace(t)
	slow(t)
	t.Parallel()
	sample.Long(t)
	s := pgtest.Start(t)
	c := startCrowd(t, openAt(t, Options{URL: s.Database(t), Lease: time.Minute}))
	for range 3 {
		c.await(t, 200)
		s.Crash(t)
		s.Restart(t)
	}
	c.await(t, 200)
	c.stop(t)
}

func TestAppendsContinueAfterAFailover(t *testing.T) {
	sample.NoRace(t)
	slow(t)
	t.Parallel()
	sample.Long(t)
	primary := pgtest.Start(t)
	address := primary.Database(t)
	standby := primary.Standby(t, "one")
	primary.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = 'one'", "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool {
		return isUsable(t, Options{URL: address, RequireSyncStandby: true})
	}, waitLimit, waitStep)
	options := Options{URL: standby.Also(t, address), Lease: time.Minute}
	c := startCrowd(t, openAt(t, options))
	c.await(t, 200)
	primary.Crash(t)
	standby.Exec(t, "SELECT pg_promote()")
	c.await(t, 200)
	c.stop(t)
	own, err := c.db.Take(t.Context(), c.owns[0].ID, node)
	require.NoError(t, err)
	require.Equal(t, c.confirmed[0], own.Next)
	options.RequireSyncStandby = true
	require.Contains(t, openFails(t, options).Cause, "no synchronous standby", "the new primary has none")
	primary.Restart(t) // so that its database can be dropped
	primary.Exec(t, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
}

// TestARolledBackEpochIsFencedByTheIncarnation fails over to a standby that lacks the last change of the
// owner. A restarted process of the same node then gets the same epoch again.
func TestARolledBackEpochIsFencedByTheIncarnation(t *testing.T) {
	slow(t)
	t.Parallel()
	sample.Long(t)
	primary := pgtest.Start(t)
	address := primary.URL("postgres", "postgres")
	standby := primary.Standby(t, "one")
	db := openAt(t, Options{URL: standby.Also(t, address), Lease: time.Second})
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	newThread(t, db, 1, "one")
	awaitStandby(t, db, standby)
	stale, err := db.Take(t.Context(), idOf(1), node)
	require.NoError(t, err)
	require.NoError(t, db.Append(t.Context(), stale, 1, raw("rolled back"), nil))
	primary.Crash(t)
	standby.Exec(t, "SELECT pg_promote()")

	restarted := openAt(t, Options{URL: standby.URL("postgres", "postgres"), Lease: time.Minute})
	again := fleet.Node{ID: node.ID, Incarnation: "another"}
	require.Eventually(t, func() bool {
		_, err := restarted.Join(t.Context(), again)
		return err == nil
	}, waitLimit, waitStep)
	own, err := restarted.Take(t.Context(), idOf(1), again)
	require.NoError(t, err)
	require.Equal(t, stale.Epoch, own.Epoch, "the epoch is issued again")
	require.NoError(t, restarted.Append(t.Context(), own, 1, raw("kept"), nil))
	require.ErrorIs(t, db.Append(t.Context(), stale, 2, raw("stale"), nil), fleet.ErrFenced)
	require.ErrorIs(t, db.Move(t.Context(), stale, true), fleet.ErrFenced)
	require.Equal(t, []string{"one", "kept"}, linesOf(t, restarted, own.ID))
}

// awaitStandby waits until an asynchronous standby has all changes, and stops the replication.
func awaitStandby(t testing.TB, db *DB, standby *pgtest.Server) {
	t.Helper()
	const behind = "SELECT count(*) FROM pg_stat_replication WHERE replay_lsn IS DISTINCT FROM pg_current_wal_lsn()"
	count := func(sql string) (n int) {
		require.NoError(t, db.reads.QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return count(behind) == 0 }, waitLimit, waitStep)
	standby.Exec(t, "ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()")
	const streams = "SELECT count(*) FROM pg_stat_replication"
	require.Eventually(t, func() bool { return count(streams) == 0 }, waitLimit, waitStep)
}

// TestARefusedAppendDoesNotDisturbOthers makes the server refuse one line of a batch.
func TestARefusedAppendDoesNotDisturbOthers(t *testing.T) {
	t.Parallel()
	db := open(t)
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	var batch []*pending
	for i := range 10 {
		own := newThread(t, db, i)
		p, err := newPending(own, 0, raw([]string{"accepted", "refused"}[i/9]), nil)
		require.NoError(t, err)
		batch = append(batch, p)
	}
	_, err = db.writes.Exec(t.Context(), "ALTER TABLE line ADD CHECK (data <> 'refused')")
	require.NoError(t, err)
	s := &sender{db: db, gatherer: db.appends}
	defer s.disconnect()
	s.send(batch)
	for _, p := range batch[:9] {
		require.NoError(t, <-p.done)
	}
	err = <-batch[9].done
	require.Equal(t, "23514", codeOf(err))
	require.NotErrorIs(t, err, fleet.ErrInDoubt)
}
