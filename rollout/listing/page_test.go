package listing_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/rollout/faultfs"
	"appserver/rollout/listing"
	"appserver/test/sample"
)

// TestPagesHoldEveryThreadOnce puts threads into random folders and reads random pages.
func TestPagesHoldEveryThreadOnce(t *testing.T) {
	folders := []string{
		".",
		"2025/12/31",
		"2026/01/01",
		"2026/01/02",
		"2026",
		"2026/01",
		"moved",
		"rollout-2026-01-01T00-00-00-x",
	}
	sample.Check(t, func(r *rapid.T) {
		mem := faultfs.NewMem(dir)
		store := newStore(mem, dir)
		var want []string
		for n := range rapid.IntRange(0, 12).Draw(r, "threads") {
			at := begin.Add(time.Duration(rapid.IntRange(0, 3).Draw(r, "hour")) * time.Hour)
			folder := rapid.SampledFrom(folders).Draw(r, "folder")
			name := filepath.Join(folder, filepath.Base(store.PathFor(idOf(n), at)))
			put(t, mem, filepath.Join(dir, "sessions", name), metaLine+userLine(name))
			want = append(want, name)
		}
		slices.Sort(want)
		q := listing.Query{
			Limit:     rapid.IntRange(0, 4).Draw(r, "limit"),
			Ascending: rapid.Bool().Draw(r, "ascending"),
			SortKey:   rapid.SampledFrom([]listing.SortKey{listing.SortCreated, listing.SortUpdated}).Draw(r, "key"),
		}
		got := pages(t, store, q)
		for i, page := range got {
			if q.Limit > 0 && i < len(got)-1 {
				require.Len(r, page, q.Limit, "only the last page may be short")
			}
		}
		flat := slices.Concat(got...)
		if q.SortKey == listing.SortCreated {
			if !q.Ascending {
				slices.Reverse(want)
			}
			require.Equal(r, strings.Join(want, "\n"), strings.Join(flat, "\n"))
			return
		}
		slices.Sort(flat)
		require.Equal(r, fmt.Sprint(want), fmt.Sprint(flat))
	})
}
