package bench

import (
	"context"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/files"
	"appserver/rollout/fleet"
	"appserver/rollout/index"
	"appserver/rollout/postgres"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/shared"
	"appserver/rollout/store"
	"appserver/test/apptest"
)

// stores turns on TestStores, which make bench-store runs. Its times do not fail a test.
var stores = flag.Bool("stores", false, "measure files and PostgreSQL, and print a table")

// TestStores measures files and PostgreSQL in turns, on one disk, and prints a table with limits. It asserts
// that all was answered, and no times.
func TestStores(t *testing.T) {
	if !*stores {
		t.Skip("make bench-store runs it")
	}
	table := newStoreTable()
	for _, group := range []struct {
		name string
		run  func(storeRun)
	}{
		{"append", storeRun.appends}, {"writers", storeRun.writers}, {"turn", storeRun.turns},
		{"resume", storeRun.resumes}, {"fork", storeRun.forks}, {"list", storeRun.lists},
		{"takeover", storeRun.takeovers}, {"edge", storeRun.edges},
	} {
		t.Run(group.name, func(t *testing.T) { group.run(storeRun{t, table}) })
		fmt.Print(table.finished())
	}
	fmt.Printf("\nThe round trip to the database (rt) took %s ms.\n", figure(median(table.trip)))
}

// storeRun is one group of rows.
type storeRun struct {
	*testing.T
	*storeTable
}

// database returns the URL of a new database, and measures round trips to it.
func (r storeRun) database() (url string) {
	url = pgtest.Database(r)
	r.measureTrip(url)
	return url
}

func (r storeRun) measureTrip(url string) {
	c, err := pgx.Connect(r.Context(), url)
	require.NoError(r, err)
	defer func() { _ = c.Close(context.Background()) }()
	for range 100 {
		began := time.Now()
		_, err := c.Exec(r.Context(), "SELECT 1")
		require.NoError(r, err)
		r.trip = append(r.trip, ms(time.Since(began)))
	}
}

// pairedDatabase returns the URL of a database with a synchronous standby.
func (r storeRun) pairedDatabase() string {
	primary := pgtest.Start(r)
	url := primary.URL("postgres", "postgres")
	primary.Standby(r, "standby")
	primary.Exec(r, "ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()")
	r.Cleanup(func() { primary.Exec(r, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()") })
	return url
}

// openFiles returns a store of files with its index, as servers use it.
func (r storeRun) openFiles(home string) store.Threads {
	report := func(err error) { r.Error(err) }
	rollouts := rollout.NewStore(rollout.OS(), home)
	ix := index.New(index.Options{Store: rollouts, Path: filepath.Join(home, "index.sqlite"), Report: report})
	r.Cleanup(func() { require.NoError(r, ix.Close(context.Background())) })
	return files.New(rollouts, ix, report)
}

// openDatabase returns a store in a database.
func (r storeRun) openDatabase(url string) store.Threads {
	db, err := postgres.Open(r.Context(), postgres.Options{URL: url, Lease: time.Minute})
	require.NoError(r, err)
	id := uuid.NewString()
	threads, err := shared.Open(r.Context(), shared.Options{Driver: db, Copies: r.TempDir(), Timeout: time.Minute,
		Report: func(err error) { r.Error(err) }, Node: fleet.Node{ID: id, Incarnation: id}})
	require.NoError(r, err)
	r.Cleanup(func() {
		require.NoError(r, threads.Close())
		require.NoError(r, db.Close())
	})
	return threads
}

// command returns the command of a server on a database, or on files if the URL is empty.
func (r storeRun) command(home, url string, args ...string) *exec.Cmd {
	if url == "" {
		return apptest.OfflineCommand(r, home, args...)
	}
	cmd := apptest.OfflineCommand(r, home, append([]string{"-c", "store.kind=postgres",
		"-c", "store.require_sync_standby=false"}, args...)...)
	cmd.Env = append(cmd.Env, "APPSERVER_STORE_URL="+url, "APPSERVER_FLEET_SECRET="+strings.Repeat("secret", 6))
	return cmd
}

// start starts a server.
func (r storeRun) start(home, url string, args ...string) *apptest.Client {
	c := apptest.StartProcess(r, r.command(home, url, args...))
	c.Initialize()
	return c
}

// timed returns the time of a call in milliseconds.
func timed(c *apptest.Client, method string, params apptest.Object) float64 {
	c.T.Helper()
	began := time.Now()
	c.Call(method, params)
	took := ms(time.Since(began))
	c.Seen = nil
	return took
}
