package postgres

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/rollout/postgres/pgtest"
)

func TestMain(m *testing.M) {
	code := pgtest.Main(m)
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Limit and interval of checks of the server's state, which no event reports.
const (
	waitLimit = 20 * time.Second
	waitStep  = 5 * time.Millisecond
)

// open opens a new database.
func open(t testing.TB) *DB {
	t.Helper()
	return openAt(t, Options{URL: pgtest.Database(t), Lease: time.Minute})
}

func openAt(t testing.TB, o Options) *DB {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	db, err := Open(ctx, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// versions is the number of migrations.
const versions = 3

func TestOpenMigratesOnce(t *testing.T) {
	db := open(t)
	other := openAt(t, db.options)
	var n int
	require.NoError(t, other.reads.QueryRow(context.Background(), "SELECT count(*) FROM schema_version").Scan(&n))
	require.Equal(t, versions, n)
}

// slow skips a test with servers of its own, or with long waits, in the tests of every change.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test-all runs it")
	}
}
