package postgres

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
	"appserver/rollout/postgres/pgtest"
)

// version1 returns the URL of a database with the tables and rows of schema version 1.
func version1(t *testing.T) string {
	t.Helper()
	address := pgtest.Database(t)
	c := connectTo(t, address)
	all, err := readMigrations()
	require.NoError(t, err)
	require.NoError(t, Options{}.apply(t.Context(), c, all[:1]))
	rows, err := os.ReadFile("testdata/version1.sql")
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), string(rows), pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	return address
}

// TestThreadsOfVersion1AreThereAfterAnUpgrade reads, lists, searches, appends to and unarchives threads that
// programs of schema version 1 wrote.
func TestThreadsOfVersion1AreThereAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var upgrades [][2]int
	o := Options{URL: version1(t), Lease: time.Minute,
		OnMigrate: func(from, to int) { upgrades = append(upgrades, [2]int{from, to}) }}
	db := openAt(t, o)
	require.Equal(t, [][2]int{{1, versions}}, upgrades)

	lines := []string{`{"line":0,"text":"Grüße"}`, `{"line":1,"text":"Grüße"}`, `{"line":2,"text":"Grüße"}`}
	require.Equal(t, lines, linesOf(t, db, idOf(1)))
	long := strings.Repeat("long ", 10000)
	require.Equal(t, []string{long + "0", long + "1"}, linesOf(t, db, idOf(2)))
	first, err := db.Find(ctx, idOf(1))
	require.NoError(t, err)
	require.Equal(t, "The First", first.Name)
	require.Equal(t, "m", first.Context.Model)
	require.Equal(t, int64(len(strings.Join(lines, ""))), first.Bytes)
	usage, err := db.Usage(ctx)
	require.NoError(t, err)
	archived := 2 * int64(len(long)+1)
	require.Equal(t, fleet.Usage{Threads: 2, Bytes: first.Bytes + archived, ArchivedBytes: archived}, usage)

	for term, q := range map[string]listing.Query{"grüße": {}, "FIRST": {}, "in the archive": {Archived: true}} {
		page, err := db.List(ctx, q)
		require.NoError(t, err)
		require.Len(t, page.Heads, 1)
		q.Search = term
		hits, err := db.Search(ctx, q)
		require.NoError(t, err)
		require.Len(t, hits.Hits, 1, term)
		require.Equal(t, page.Heads[0].ID, hits.Hits[0].Head.ID)
	}

	interrupted, _, err := db.Interrupted(ctx, 10)
	require.NoError(t, err)
	require.Equal(t, []string{idOf(1)}, interrupted)
	_, err = db.Join(ctx, node)
	require.NoError(t, err)
	own, err := db.Take(ctx, idOf(1), node)
	require.NoError(t, err)
	require.NoError(t, db.Append(ctx, own, 3, raw("four"), nil))
	require.Equal(t, append(lines, "four"), linesOf(t, db, idOf(1)))
	own, err = db.Take(ctx, idOf(2), node)
	require.NoError(t, err)
	require.NoError(t, db.Move(ctx, own, false))
	page, err := db.List(ctx, listing.Query{})
	require.NoError(t, err)
	require.Len(t, page.Heads, 2)
}

// TestTheLimitOfOpenDoesNotInterruptMigrations ends the context of Open when the migration begins.
func TestTheLimitOfOpenDoesNotInterruptMigrations(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	db, err := Open(ctx, Options{URL: version1(t), OnMigrate: func(int, int) { cancel() }})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	status, err := Inspect(t.Context(), db.options)
	require.NoError(t, err)
	require.Equal(t, versions, status.Schema)
}

// TestAStatusChangesNothing inspects databases without tables, with older tables and with newer ones.
func TestAStatusChangesNothing(t *testing.T) {
	t.Parallel()
	ctx, o := t.Context(), Options{URL: pgtest.Database(t), RequireSyncStandby: true}
	for range 2 {
		s, err := Inspect(ctx, o)
		require.NoError(t, err)
		require.Equal(t, []int{0, versions}, []int{s.Schema, s.KnownSchema})
	}
	o.URL = version1(t)
	pgtest.Exec(t, o.URL, "INSERT INTO node VALUES ('new-1', 'x', '', now() + interval '1 hour')")
	for range 2 {
		s, err := Inspect(ctx, o)
		require.NoError(t, err)
		require.Equal(t, 1, s.Schema)
		require.Equal(t, []string{"new-1"}, s.Nodes, "a lease that has ended is not listed")
		require.EqualValues(t, 2, s.Threads)
	}
	pgtest.Exec(t, o.URL, "INSERT INTO schema_version (version) VALUES (99)")
	s, err := Inspect(ctx, o)
	require.NoError(t, err)
	require.Equal(t, 99, s.Schema)
}

// TestNodesThatWaitForAMigrationDoNotRepeatIt lets a node wait while another one makes the first tables.
func TestNodesThatWaitForAMigrationDoNotRepeatIt(t *testing.T) {
	t.Parallel()
	ctx, address := t.Context(), pgtest.Database(t)
	all, err := readMigrations()
	require.NoError(t, err)
	first, second := connectTo(t, address), connectTo(t, address)
	require.NoError(t, ensureTrigrams(ctx, first))
	version, err := schemaVersion(ctx, second)
	require.NoError(t, err)
	require.Zero(t, version)

	waited := make(chan error, 1)
	require.NoError(t, pgx.BeginFunc(ctx, first, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock)
		require.NoError(t, err)
		go func() { waited <- all[0].apply(ctx, second) }()
		require.Eventually(t, func() bool {
			return len(pgtest.Texts(t, address, `SELECT pid::text FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)) == 1
		}, 30*time.Second, 5*time.Millisecond)
		return all[0].apply(ctx, first)
	}))
	require.NoError(t, <-waited)
	require.Equal(t, []string{"1"}, pgtest.Texts(t, address, "SELECT version::text FROM schema_version"))
}

func connectTo(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}
