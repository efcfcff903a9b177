package postgres

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
)

// changes records calls of Options.StandbysChanged.
type changes struct {
	mu   sync.Mutex
	list []bool
}

func (c *changes) add(has bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, has)
}

func (c *changes) all() []bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}

// TestRenewalsSeeTheLossOfStandbys resets synchronous_standby_names of a running server. It stays in use, also
// with new connections, until it is started again.
func TestRenewalsSeeTheLossOfStandbys(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	address := primary.Database(t)
	primary.Standby(t, "one")
	set := []string{"ALTER SYSTEM SET synchronous_standby_names = 'one'", "SELECT pg_reload_conf()"}
	reset := []string{"ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()"}
	primary.Exec(t, set...)
	var seen changes
	o := Options{URL: address, RequireSyncStandby: true, StandbysChanged: seen.add, Lease: time.Minute}
	require.Eventually(t, func() bool { return isUsable(t, o) }, waitLimit, waitStep)
	db := openAt(t, o)
	renewed := func() bool {
		_, err := db.Join(t.Context(), node)
		require.NoError(t, err)
		return db.Stats().SyncStandby
	}
	require.True(t, renewed())
	own := newThread(t, db, 1, "one")
	require.NoError(t, db.Append(t.Context(), own, 1, raw("two"), nil))
	primary.Exec(t, reset...)
	require.Eventually(t, func() bool { return !renewed() }, waitLimit, waitStep)
	renewed()
	require.Equal(t, []bool{false}, seen.all())
	require.NoError(t, db.Append(t.Context(), own, 2, raw("three"), nil))
	require.Equal(t, []string{"one", "two", "three"}, linesOf(t, db, own.ID))
	db.writes.Reset()
	require.NoError(t, db.Rename(t.Context(), own.ID, "name"), "a new connection")
	primary.Exec(t, set...)
	require.Eventually(t, renewed, waitLimit, waitStep)
	require.Equal(t, []bool{false, true}, seen.all())
	primary.Exec(t, reset...)
	require.Eventually(t, func() bool { return !renewed() }, waitLimit, waitStep)
	primary.Crash(t)
	primary.Restart(t)
	db.writes.Reset()
	require.ErrorContains(t, db.Rename(t.Context(), own.ID, "name"), "the primary has no synchronous standbys")
}

// isUsable reports whether a database can be opened.
func isUsable(t testing.TB, o Options) bool {
	db, err := Open(t.Context(), Options{URL: o.URL, RequireSyncStandby: o.RequireSyncStandby})
	if err == nil {
		require.NoError(t, db.Close())
	}
	return err == nil
}
