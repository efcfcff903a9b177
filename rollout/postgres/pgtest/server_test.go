package pgtest

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"appserver/test/sample"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// TestACrashSendsNothingToClients kills a server during a query. The client gets no error and no warning of
// the server, and a row that was committed is there afterwards.
func TestACrashSendsNothingToClients(t *testing.T) {
	sample.NoRace(t)
	t.Parallel()
	s := Start(t)
	s.Exec(t, "CREATE TABLE kept (n int)", "INSERT INTO kept VALUES (1)")
	ctx := context.Background()
	config, err := pgx.ParseConfig(s.URL("postgres", "postgres"))
	require.NoError(t, err)
	notices := make(chan *pgconn.Notice, 10)
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { notices <- n }
	c, err := pgx.ConnectConfig(ctx, config)
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := c.Exec(ctx, "SELECT pg_sleep(600)")
		ended <- err
	}()
	require.Eventually(t, func() bool {
		const running = "SELECT query FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'"
		return len(Texts(t, s.URL("postgres", "postgres"), running)) == 1
	}, time.Minute, time.Millisecond)
	s.Crash(t)
	err = <-ended
	require.Error(t, err)
	var polite *pgconn.PgError
	require.NotErrorAs(t, err, &polite)
	require.Empty(t, notices)
	s.Restart(t)
	require.Equal(t, []string{"1"}, Texts(t, s.URL("postgres", "postgres"), "SELECT n::text FROM kept"))
}

// TestACrashedServerLeavesNoSharedMemory removes a server after its crash.
func TestACrashedServerLeavesNoSharedMemory(t *testing.T) {
	sample.NoRace(t)
	t.Parallel()
	s := Start(t)
	text, err := os.ReadFile(s.data() + "/postmaster.pid")
	require.NoError(t, err)
	id := strings.Fields(strings.Split(string(text), "\n")[6])[1]
	isThere := func() bool {
		list, err := os.ReadFile("/proc/sysvipc/shm")
		require.NoError(t, err)
		for line := range strings.Lines(string(list)) {
			if strings.Fields(line)[1] == id {
				return true
			}
		}
		return false
	}
	require.True(t, isThere())
	s.Crash(t)
	require.True(t, isThere())
	s.Remove(t)
	require.False(t, isThere())
}
