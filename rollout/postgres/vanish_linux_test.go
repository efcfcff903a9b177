package postgres

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"appserver/rollout/fleet"
	"appserver/rollout/postgres/pgtest"
	"appserver/test/partition"
)

// TestTheNextHostIsUsedAfterTheFirstHasVanished holds all bytes of the link to the first host, as if its
// machine had vanished, and renews a lease, appends and reads through the second one.
func TestTheNextHostIsUsedAfterTheFirstHasVanished(t *testing.T) {
	slow(t)
	t.Parallel()
	address := pgtest.Database(t)
	vanished := partition.New(t, "unix", pgtest.Shared(t).Socket())
	second := partition.New(t, "unix", pgtest.Shared(t).Socket())
	url := pgtest.Through(t, address, vanished.Address(), second.Address())
	db := openAt(t, Options{URL: url, Lease: 3 * time.Second, Limit: 2 * connectTimeout})
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	own := newThread(t, db, 1, "one")
	require.NoError(t, db.Append(t.Context(), own, 1, raw("two"), nil))
	require.Zero(t, second.Connections())
	vanished.Hold(partition.Requests)
	vanished.Hold(partition.Answers)
	limit := 3 * connectTimeout
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	renewed := make(chan error, 1)
	go func() { renewed <- first(db.Join(ctx, node)) }()
	require.NoError(t, db.Append(ctx, own, 2, raw("three"), nil))
	require.NoError(t, <-renewed)
	require.NotZero(t, second.Connections())
	vanished.Heal()
	other := openAt(t, Options{URL: url})
	require.Equal(t, []string{"one", "two", "three"}, linesOf(t, other, own.ID))
}

// TestConnectionsHaveLimitsForSilentServers reads the limits of a URL without and with connect_timeout, and
// those of a socket.
func TestConnectionsHaveLimitsForSilentServers(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]time.Duration{"": connectTimeout, "?connect_timeout=7": 7 * time.Second} {
		db, err := newDB(Options{URL: "postgres://u@127.0.0.1/d" + query})
		require.NoError(t, err)
		pool, err := db.pool(1, writeParams(), true)
		require.NoError(t, err)
		require.Equal(t, want, db.config.ConnectTimeout)
		require.Equal(t, want, pool.Config().ConnConfig.ConnectTimeout)
		pool.Close()
	}
	r := newCutRig(t, 0)
	c, err := r.db.connect(t.Context(), writeParams())
	require.NoError(t, err)
	raw, err := c.PgConn().Conn().(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	var millis int
	require.NoError(t, raw.Control(func(fd uintptr) {
		millis, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	}))
	require.NoError(t, err)
	require.EqualValues(t, ackTimeout.Milliseconds(), millis)
	require.NoError(t, c.Close(t.Context()))
}

// TestAnAbandonedJoinLeavesNoConnectionBehind lets a Join wait for the row of the node until it is abandoned.
func TestAnAbandonedJoinLeavesNoConnectionBehind(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 0)
	db := openAt(t, Options{URL: r.direct.options.URL, Lease: 600 * time.Millisecond})
	tx, err := r.direct.writes.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), "SELECT FROM node FOR UPDATE")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = db.Join(ctx, node)
	require.ErrorIs(t, err, fleet.ErrInDoubt)
	awaitWaiting(t, r.direct, 0)
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = db.Join(t.Context(), node)
	require.NoError(t, err)
}

// TestWritesOfAFewRowsDoNotKeepTheirConnections lets writes wait for the row of a thread, after their callers
// have left.
func TestWritesOfAFewRowsDoNotKeepTheirConnections(t *testing.T) {
	t.Parallel()
	r := newCutRig(t, 500*time.Millisecond)
	own := newThread(t, r.db, 1, "one")
	tx, err := r.direct.writes.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), "SELECT FROM thread FOR UPDATE")
	require.NoError(t, err)
	for range writeConns {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		require.Error(t, r.db.Move(ctx, own, true)) // in doubt, or not sent on a slow machine
		require.Error(t, r.db.Release(ctx, own))
		cancel()
	}
	require.Eventually(t, func() bool { return r.db.writes.Stat().AcquiredConns() == 0 }, waitLimit, waitStep)
	_, err = r.db.Create(t.Context(), idOf(2), node, fleet.ContentOf(fleet.Head{}, raw("one")...))
	require.NoError(t, err)
}
