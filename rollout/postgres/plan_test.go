package postgres

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
	"appserver/test/sample"
)

// planOf returns the plan of a query.
func planOf(t testing.TB, db *DB, sql string, args ...any) (plan string) {
	t.Helper()
	rows, err := db.reads.Query(t.Context(), "EXPLAIN "+sql, args...)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, l := range lines {
		plan += l + "\n"
	}
	return plan
}

// TestListsAndSearchesUseIndexes checks the plans with many threads.
func TestListsAndSearchesUseIndexes(t *testing.T) {
	t.Parallel()
	db := open(t)
	fill(t, db, 5000)
	page := listing.Position{Path: idOf(77), Updated: 77}
	for _, c := range []struct {
		q     listing.Query
		from  listing.Position
		index string
	}{
		{query("", false), listing.Position{}, "head_created"},
		{query("", true), listing.Position{}, "head_updated"},
		{query("", true), page, "head_updated"},
		{listing.Query{Limit: 100, SortKey: listing.SortUpdated, Ascending: true, Unlisted: true}, page, "head_updated"},
		{listing.Query{Limit: 25, Archived: true, Ascending: true}, page, "head_created"},
		{listing.Query{Limit: 25, Cwds: []string{"/rare"}}, page, "head_cwd"},
		{listing.Query{Parent: idOf(5)}, listing.Position{}, "head_parent"},
	} {
		sql, args := listQuery(c.q, c.from)
		plan := planOf(t, db, sql, args...)
		require.Contains(t, plan, c.index)
		if c.q.Cwds == nil && c.q.Parent == "" {
			require.NotContains(t, plan, "Sort")
		}
	}
	sql, args := listQuery(query("thread 4711 ", false), listing.Position{})
	require.Contains(t, planOf(t, db, sql, args...), "title_folded")
	sql, args = searchQuery(query("number 1234 ", false), listing.Position{})
	require.Contains(t, planOf(t, db, sql, args...), "message_folded")
	require.Contains(t, planOf(t, db, interruptedSQL, 10), "head_running")
	require.Contains(t, planOf(t, db, readSQL, idOf(1), 0, 1000), "line_pkey")
}

// TestAppendsUpdateRowsInPlace checks that appends write no index entries for the thread.
func TestAppendsUpdateRowsInPlace(t *testing.T) {
	sample.NoRace(t)
	t.Parallel()
	db := open(t)
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	own := newThread(t, db, 1)
	const appends = 200
	for n := range int64(appends) {
		require.NoError(t, db.Append(t.Context(), own, n, raw("line"), nil))
	}
	db.appends.close() // the server reports statistics when a session ends
	var hot int
	require.Eventually(t, func() bool {
		const sql = "SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'thread'"
		require.NoError(t, db.reads.QueryRow(t.Context(), sql).Scan(&hot))
		return hot > appends*9/10
	}, waitLimit, waitStep)
	require.ErrorIs(t, db.Append(t.Context(), own, appends, nil, nil), fleet.ErrClosed)
}

// TestPagesOfAllSizesShareAStatement checks that clients with many sizes of pages do not use up the statements that
// stay prepared in a connection.
func TestPagesOfAllSizesShareAStatement(t *testing.T) {
	t.Parallel()
	db := open(t)
	for limit := 1; limit <= 100; limit++ {
		_, err := db.List(t.Context(), listing.Query{Limit: limit})
		require.NoError(t, err)
		_, err = db.Search(t.Context(), listing.Query{Limit: limit, Search: "a common word"})
		require.NoError(t, err)
	}
	const sql = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE $1"
	for _, c := range db.reads.AcquireAllIdle(t.Context()) {
		defer c.Release()
		var n int
		require.NoError(t, c.QueryRow(t.Context(), sql, "%LIMIT $%").Scan(&n))
		require.LessOrEqual(t, n, 2) // a list and a search
	}
}
