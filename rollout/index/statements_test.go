package index

import (
	"context"
	"database/sql"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/database"
	"appserver/rollout"
	"appserver/rollout/listing"
)

// TestPagesOfAllSizesShareAStatement checks that clients with many sizes of pages do not use up the statements that
// stay prepared.
func TestPagesOfAllSizesShareAStatement(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for n := range 4 {
		r.put(r.path(n), thread(`"id":"`+strconv.Itoa(n)+`"`, "common "+strconv.Itoa(n)))
	}
	r.built()
	for _, q := range []rollout.Query{{}, {SortKey: rollout.SortUpdated}, {Search: "common"}} {
		seen := &seenTexts{Statements: r.ix.db.Prepared, texts: map[string]bool{}}
		for q.Limit = 1; q.Limit <= 100; q.Limit++ {
			s, err := listQuery(r.ix.db.Prepared, r.store, q, listing.Position{})
			require.NoError(t, err)
			rows, err := s.rows(seen, r.store)
			require.NoError(t, err)
			require.Len(t, rows, min(q.Limit+1, 4))
		}
		require.Len(t, seen.texts, 1, "%v", q)
	}
}

// seenTexts notes the texts of statements.
type seenTexts struct {
	*database.Statements
	texts map[string]bool
}

func (s *seenTexts) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	s.texts[text] = true
	return s.Statements.QueryContext(ctx, text, args...)
}
