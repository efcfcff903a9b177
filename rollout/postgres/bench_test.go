package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/listing"
)

const benchLine = 1 << 10

// BenchmarkAppend measures one durable append of 1 KiB at a time.
func BenchmarkAppend(b *testing.B) {
	db := open(b)
	own := benchThread(b, db, 1)
	line := [][]byte{make([]byte, benchLine)}
	next := int64(0)
	for b.Loop() {
		require.NoError(b, db.Append(b.Context(), own, next, line, nil))
		next++
	}
}

func benchThread(b *testing.B, db *DB, n int) fleet.Own {
	b.Helper()
	_, err := db.Join(b.Context(), node)
	require.NoError(b, err)
	return newThread(b, db, n)
}

// writers is the number of threads that append at the same time.
const writers = 200

// BenchmarkAppendsOf200Writers measures appends of 1 KiB to 200 threads: gathered, one statement each
// over 64 connections, and to local files with fsync.
func BenchmarkAppendsOf200Writers(b *testing.B) {
	line := [][]byte{make([]byte, benchLine)}
	b.Run("gathered", func(b *testing.B) {
		db := open(b)
		owns := benchThreads(b, db)
		writeAtOnce(b, func(i int, n int64) error {
			return db.Append(context.Background(), owns[i], n, line, nil)
		})
	})
	b.Run("each", func(b *testing.B) {
		db := open(b)
		owns := benchThreads(b, db)
		pool := benchPool(b, db)
		writeAtOnce(b, func(i int, n int64) error {
			p, err := newPending(owns[i], n, line, nil)
			if err != nil {
				return err
			}
			results, err := appendBatch(context.Background(), pool, []*pending{p})
			if err == nil && !results[0].isDone {
				err = fleet.ErrFenced
			}
			return err
		})
	})
	b.Run("files", func(b *testing.B) {
		files := make([]*os.File, writers)
		for i := range files {
			f, err := os.Create(filepath.Join(b.TempDir(), "file"))
			require.NoError(b, err)
			defer func() { _ = f.Close() }()
			files[i] = f
		}
		writeAtOnce(b, func(i int, _ int64) error {
			_, err := files[i].Write(line[0])
			return errors.Join(err, files[i].Sync())
		})
	})
}

func benchThreads(b *testing.B, db *DB) []fleet.Own {
	b.Helper()
	owns := make([]fleet.Own, writers)
	for i := range owns {
		owns[i] = benchThread(b, db, i)
	}
	return owns
}

// benchPool returns a pool with a connection for each append in flight.
func benchPool(b *testing.B, db *DB) *pgxpool.Pool {
	b.Helper()
	config, err := pgxpool.ParseConfig(db.options.URL)
	require.NoError(b, err)
	config.MaxConns = 64
	config.ConnConfig.RuntimeParams = appendParams()
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	return pool
}

// writeAtOnce distributes b.N appends over goroutines. do makes the n-th append of a thread.
func writeAtOnce(b *testing.B, do func(thread int, n int64) error) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range writers {
		all.Go(func() {
			for n := int64(0); left.Add(-1) >= 0; n++ {
				if err := do(i, n); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
}

// BenchmarkLists measures lists and searches of 50,000 threads with 200,000 messages.
func BenchmarkLists(b *testing.B) {
	db := open(b)
	fill(b, db, 50_000)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"created", func() error { return first(db.List(b.Context(), query("", false))) }},
		{"updated", func() error { return first(db.List(b.Context(), query("", true))) }},
		{"title", func() error { return first(db.List(b.Context(), query("thread 4711", false))) }},
		{"rare", func() error { return first(db.Search(b.Context(), query("number 123456 ", false))) }},
		{"frequent", func() error { return first(db.Search(b.Context(), query("message", false))) }},
		{"short", func() error { return first(db.Search(b.Context(), query("zq", false))) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, c.do())
			}
		})
	}
}

func first[T any](_ T, err error) error { return err }

// fill stores threads with four lines and four messages each by SQL. One has another folder, and one a parent.
func fill(t testing.TB, db *DB, threads int) {
	t.Helper()
	row, err := encodeHead(fleet.Head{})
	require.NoError(t, err)
	ids := fmt.Sprintf(`(SELECT n, ('0190a6f8-1111-7aaa-8bbb-' || lpad(to_hex(n), 12, '0'))::uuid AS id
		FROM generate_series(1, %d) AS n) AS t`, threads)
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO head SELECT id, n % 2 = 0, true, n, -n, false, 'p', CASE n WHEN 9 THEN '/rare' ELSE '/w' END,
		'cli', CASE n WHEN 9 THEN 'parent' END, '', $1 FROM `+ids, row.body)
	batch.Queue(`INSERT INTO title SELECT id, 0, 'thread ' || n || ' does some work' FROM ` + ids)
	batch.Queue(`INSERT INTO message SELECT id, k, 'user', 'message', '', 'a message with the number ' || n * 4 + k ||
		' and words about a file', NULL FROM ` + ids + `, generate_series(0, 3) AS k`)
	batch.Queue(`INSERT INTO line SELECT id, k, 'data' FROM ` + ids + `, generate_series(0, 3) AS k`)
	require.NoError(t, db.writes.SendBatch(t.Context(), batch).Close())
	_, err = db.writes.Exec(t.Context(), "VACUUM ANALYZE")
	require.NoError(t, err)
}

func query(search string, updated bool) listing.Query {
	q := listing.Query{Limit: 25, Search: search}
	if updated {
		q.SortKey = listing.SortUpdated
	}
	return q
}
