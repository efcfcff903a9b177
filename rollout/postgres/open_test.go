package postgres

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/postgres/pgtest"
	"appserver/test/sample"
)

// openFails opens a database that cannot be used.
func openFails(t testing.TB, o Options) *OpenError {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err := Open(ctx, o)
	var failed *OpenError
	require.ErrorAs(t, err, &failed)
	require.NotContains(t, err.Error(), "open sesame")
	return failed
}

func TestOpenErrorsNameTheKeyTheCauseAndTheAction(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t)
	s.Exec(t, "CREATE ROLE app LOGIN PASSWORD 'right'", "CREATE ROLE other LOGIN",
		"CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0",
		"CREATE DATABASE private", "REVOKE CONNECT ON DATABASE private FROM PUBLIC",
		`DO $$ BEGIN EXECUTE format('COPY (SELECT unnest(ARRAY[''local all app scram-sha-256'', ''local all all trust'']))
			TO %L', current_setting('hba_file')); END $$`, "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool {
		c, err := pgx.Connect(t.Context(), s.URL("app", "postgres"))
		if err == nil {
			_ = c.Close(t.Context())
		}
		return err != nil
	}, waitLimit, waitStep)
	plain, trigrams := s.Database(t), s.Database(t)
	pgtest.Exec(t, plain, "GRANT CREATE ON SCHEMA public TO other")
	pgtest.Exec(t, trigrams, "CREATE EXTENSION pg_trgm", "REVOKE CREATE ON SCHEMA public FROM public")
	for _, c := range []struct{ url, cause, next string }{
		{"", "the URL is missing or not valid", "write it as postgres://"},
		{"mysql://open sesame", "the URL is missing or not valid", "write it as postgres://"},
		{"postgres://u:open%20sesame@127.0.0.1:1/d", "the server at 127.0.0.1:1 cannot be reached", "start the server"},
		{"postgres://u@no-host.invalid/d", "", ""},
		{s.URL("app:open%20sesame", "postgres"), `does not accept user "app" with this password`, "correct the user"},
		{s.URL("postgres", "absent"), `has no database "absent"`, "create it"},
		{s.URL("postgres", "latin"), "the database has the encoding LATIN1", "UTF8"},
		{s.URL("other", "private"), `user "other" may not connect to database "private"`, "grant the right CONNECT"},
		{pgtest.As(t, plain, "other"), "no extension pg_trgm", "CREATE EXTENSION pg_trgm"},
		{pgtest.As(t, trigrams, "other"), "the user lacks a right (permission denied for schema public)", "CREATE on the schema public"},
	} {
		failed := openFails(t, Options{URL: c.url, Variable: "STORE_URL"})
		require.Equal(t, "store.url_env", failed.Key)
		require.Contains(t, failed.Cause, c.cause)
		require.Contains(t, failed.Next, c.next)
		require.Contains(t, failed.Error(), "STORE_URL")
	}
}

func TestOpenRejectsOldServersAndReplicas(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, Options{}.check(server{version: 130011, encoding: "UTF8"}), "use PostgreSQL 14 or newer")
	require.NoError(t, Options{}.check(server{version: 140000, encoding: "UTF8"}))
	require.ErrorContains(t, Options{}.check(server{version: 170000, isReplica: true}), "name the primary")
}

// TestOpenNamesTheVersionOfServersThatRefuseASetting explains the error of an old server, and that of a setting
// in the URL.
func TestOpenNamesTheVersionOfServersThatRefuseASetting(t *testing.T) {
	t.Parallel()
	db, err := newDB(Options{URL: "postgres://u@127.0.0.1/d"})
	require.NoError(t, err)
	old := &pgconn.PgError{Code: "42704", Message: `unrecognized configuration parameter "client_connection_check_interval"`}
	err = db.options.explainConnect(db.config, old)
	require.ErrorContains(t, err, "the server is PostgreSQL 13 or older")
	require.ErrorContains(t, err, "use PostgreSQL 14 or newer")
	failed := openFails(t, Options{URL: pgtest.Database(t) + "&no_such_setting=1"})
	require.Contains(t, failed.Cause, `unrecognized configuration parameter "no_such_setting"`)
	require.Contains(t, failed.Next, "remove it")
}

func TestOpenRejectsANewerSchema(t *testing.T) {
	t.Parallel()
	db := open(t)
	pgtest.Exec(t, db.options.URL, "INSERT INTO schema_version (version) VALUES (99)")
	failed := openFails(t, db.options)
	require.Contains(t, failed.Cause, "schema version 99")
	require.Contains(t, failed.Next, "upgrade this program")
}

func TestNodesThatStartAtOnceMigrateOnce(t *testing.T) {
	t.Parallel()
	address := pgtest.Database(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			db, err := Open(context.Background(), Options{URL: address})
			if err != nil {
				t.Error(err)
				return
			}
			_ = db.Close()
		})
	}
	all.Wait()
	s, err := Inspect(t.Context(), Options{URL: address})
	require.NoError(t, err)
	require.Equal(t, versions, s.Schema)
	require.Equal(t, versions, s.KnownSchema)
	require.GreaterOrEqual(t, s.Server, "14")
	require.Empty(t, s.Standbys)
}

func TestOpenRequiresSynchronousStandbys(t *testing.T) {
	t.Parallel()
	failed := openFails(t, Options{URL: pgtest.Database(t), RequireSyncStandby: true})
	require.Equal(t, "store.require_sync_standby", failed.Key)
	require.Contains(t, failed.Cause, "the primary has no synchronous standbys")
	require.Contains(t, failed.Next, "synchronous_standby_names")
	named := pgtest.Start(t)
	address := named.Database(t) // before the setting, because each commit waits afterwards
	named.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = 'one'", "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool {
		_, err := Open(t.Context(), Options{URL: address, RequireSyncStandby: true})
		require.ErrorAs(t, err, &failed)
		return failed.Cause == "no synchronous standby is connected to the primary"
	}, waitLimit, waitStep)
	require.Equal(t, "store.require_sync_standby", failed.Key)
	named.Exec(t, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
}

// TestAppendsWaitForTheStandby suspends the only standby.
func TestAppendsWaitForTheStandby(t *testing.T) {
	sample.NoRace(t)
	slow(t)
	t.Parallel()
	primary := pgtest.Start(t)
	address := primary.Database(t)
	standby := primary.Standby(t, "one")
	primary.Exec(t, "ALTER SYSTEM SET synchronous_standby_names = 'one'", "SELECT pg_reload_conf()")
	options := Options{URL: address, RequireSyncStandby: true, Lease: time.Minute}
	require.Eventually(t, func() bool { return isUsable(t, options) }, waitLimit, waitStep)
	db := openAt(t, options)
	s, err := Inspect(t.Context(), options)
	require.NoError(t, err)
	require.Equal(t, []string{"one"}, s.Standbys)
	_, err = db.Join(t.Context(), node)
	require.NoError(t, err)
	own := newThread(t, db, 1, "one")
	require.NoError(t, db.Append(t.Context(), own, 1, raw("two"), nil))
	require.Contains(t, openFails(t, Options{URL: standby.URL("postgres", "postgres")}).Cause, "read replica")

	standby.Pause(t)
	result := make(chan error, 1)
	go func() { result <- db.Append(context.Background(), own, 2, raw("three"), nil) }()
	const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	var first int
	awaitPID := func(other int) (pid int) {
		require.Eventually(t, func() bool {
			err := db.reads.QueryRow(t.Context(), "SELECT pid "+waiting).Scan(&pid)
			return err == nil && pid != other
		}, waitLimit, waitStep)
		return pid
	}
	first = awaitPID(0)
	require.Equal(t, []string{"one", "two"}, linesOf(t, db, own.ID), "a line is visible before it is confirmed")
	var cancelled bool
	require.NoError(t, db.reads.QueryRow(t.Context(), "SELECT pg_cancel_backend($1)", first).Scan(&cancelled))
	require.Eventually(t, func() bool { return len(linesOf(t, db, own.ID)) == 3 }, waitLimit, waitStep)
	awaitPID(0) // the repeat
	select {
	case err := <-result:
		require.Fail(t, "an append is confirmed without the standby", "%v", err)
	default:
	}
	standby.Resume(t)
	require.NoError(t, <-result)
	require.Equal(t, []string{"one", "two", "three"}, linesOf(t, db, own.ID))
	require.ErrorIs(t, db.Append(t.Context(), fleet.Own{ID: own.ID}, 3, raw("x"), nil), fleet.ErrFenced)
	primary.Exec(t, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
}

// TestOlderSchemasAreKeptOnRequest opens a database without tables, and updates it with Migrate only.
func TestOlderSchemasAreKeptOnRequest(t *testing.T) {
	t.Parallel()
	ctx, o := context.Background(), Options{URL: pgtest.Database(t), KeepSchema: true}
	_, err := Open(ctx, o)
	var refused *OpenError
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "store.auto_migrate", refused.Key)
	require.Contains(t, err.Error(), "appserver store migrate")
	all, err := readMigrations()
	require.NoError(t, err)
	for _, before := range []int{0, len(all)} {
		from, to, err := Migrate(ctx, Options{URL: o.URL})
		require.NoError(t, err)
		require.Equal(t, []int{before, len(all)}, []int{from, to})
	}
	openAt(t, o)
}
