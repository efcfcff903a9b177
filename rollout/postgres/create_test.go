package postgres

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
)

// TestAnInterruptedCreateLeavesNoLines ends a create with an error of its content, after lines were sent.
func TestAnInterruptedCreateLeavesNoLines(t *testing.T) {
	t.Parallel()
	db := open(t)
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	wrong := errors.New("a line cannot be read")
	_, err = db.Create(t.Context(), idOf(1), node, longContent(func() error { return wrong }))
	require.ErrorIs(t, err, wrong)
	require.Zero(t, storedLines(t, db))
	_, err = db.Take(t.Context(), idOf(1), node)
	require.ErrorIs(t, err, fleet.ErrNotFound)
}

// TestACreateIsRepeatedFromTheFirstLine ends the session of a create while it stores lines.
func TestACreateIsRepeatedFromTheFirstLine(t *testing.T) {
	t.Parallel()
	db := open(t)
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	tries := 0
	own, err := db.Create(t.Context(), idOf(1), node, longContent(func() error {
		if tries++; tries > 1 {
			return nil
		}
		const sql = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND query ILIKE 'copy %'`
		tag, err := db.reads.Exec(t.Context(), sql)
		require.Equal(t, int64(1), tag.RowsAffected())
		return err
	}))
	require.NoError(t, err)
	require.Equal(t, 2, tries)
	require.Equal(t, int64(manyLines), own.Next)
	require.Equal(t, manyLines, storedLines(t, db))
	require.NoError(t, db.Append(t.Context(), own, manyLines, raw("more"), nil))
}

// manyLines is the number of lines of longContent.
const manyLines = 100_000

// longContent returns content of which a part was sent before it calls do.
func longContent(do func() error) fleet.Content {
	c := fleet.ContentOf(fleet.Head{})
	c.Lines = func(yield func([]byte, error) bool) {
		for n := range manyLines {
			var err error
			if n == manyLines/2 {
				err = do()
			}
			if !yield([]byte("a line that is neither short nor long"), err) || err != nil {
				return
			}
		}
	}
	return c
}

func storedLines(t *testing.T, db *DB) (n int) {
	t.Helper()
	require.NoError(t, db.reads.QueryRow(t.Context(), "SELECT count(*) FROM line").Scan(&n))
	return n
}

// TestAPanicOfTheContentPassesToTheCaller checks that it does not end the process, and that nothing is stored.
func TestAPanicOfTheContentPassesToTheCaller(t *testing.T) {
	t.Parallel()
	db := open(t)
	_, err := db.Join(t.Context(), node)
	require.NoError(t, err)
	require.PanicsWithValue(t, "a line", func() {
		_, _ = db.Create(t.Context(), idOf(1), node, longContent(func() error { panic("a line") }))
	})
	require.Zero(t, storedLines(t, db))
	own := newThread(t, db, 1, "one")
	require.NoError(t, db.Append(t.Context(), own, 1, raw("two"), nil))
}
