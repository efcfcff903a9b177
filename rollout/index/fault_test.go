package index

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/test/sample"
)

// TestAnyOperationMayFailOnce fails each operation of the disk in turn, during the first sweep and
// during updates. Lists and searches then still have the content of the files.
func TestAnyOperationMayFailOnce(t *testing.T) {
	t.Parallel()
	for n, hit := 0, true; hit; n += sample.Stride(5) {
		r := rigAt(t, t.TempDir())
		for i := range 2 {
			r.put(r.path(i), thread("", idOf(i), "an answer"))
		}
		disk := faultfs.Wrap(rollout.OS(), faultfs.Fault{First: n, Count: 1, Err: syscall.EIO})
		r.ix.options.Store = rollout.NewStore(disk, r.home)
		look := func() {
			r.ix.failed = time.Time{}
			before := disk.Failures()
			if page, ok := r.ix.List(rollout.Query{}); ok && before == disk.Failures() {
				want, err := r.store.List(rollout.Query{})
				require.NoError(t, err)
				require.Equal(t, previews(want), previews(page), "operation %d", n)
			}
			r.ix.work.Wait()
		}
		look()
		look()
		r.put(r.path(2), thread("", "new", "an answer"))
		r.add(r.path(1), agentLine("needle"))
		look()
		look()
		hit = disk.Failures() > 0
		look()
		page, ok := r.ix.List(rollout.Query{})
		require.True(t, ok, "operation %d", n)
		require.Len(t, page.Heads, 3)
		hits, err := r.ix.Search(r.context(), rollout.Query{Search: "needle"})
		require.NoError(t, err)
		require.Len(t, hits.Hits, 1, "operation %d", n)
		hits, err = r.ix.Search(r.context(), rollout.Query{Search: "answer"})
		require.NoError(t, err)
		require.Len(t, hits.Hits, 3, "operation %d", n)
		require.NoError(t, r.ix.Close(context.Background()))
	}
}

// TestNothingIsDeletableWhileAFileIsUnread has a fork whose history begins in another thread.
func TestNothingIsDeletableWhileAFileIsUnread(t *testing.T) {
	t.Parallel()
	for n, hit := 0, true; hit; n += sample.Stride(5) {
		r := rigAt(t, t.TempDir())
		origin := thread("", "origin", "an answer")
		r.put(r.path(1), origin)
		r.put(r.path(2), thread(fmt.Sprintf(`"history_base":{"thread_id":%q,"end_ordinal_exclusive":2,"end_byte_offset":%d}`,
			idOf(1), len(origin)), "fork"))
		disk := faultfs.Wrap(rollout.OS(), faultfs.Fault{First: n, Count: 1, Err: syscall.EIO})
		r.ix.options.Store = rollout.NewStore(disk, r.home)
		for range 2 {
			r.ix.failed = time.Time{}
			known, err := r.ix.CheckDelete(idOf(1))
			require.Equal(t, known, err != nil, "operation %d: %v", n, err)
			r.ix.work.Wait()
			r.add(r.path(2), agentLine("more"))
		}
		hit = disk.Failures() > 0
		r.ix.failed = time.Time{}
		hits := r.search(rollout.Query{Search: "an answer"}).Hits
		require.Len(t, hits, 2, "operation %d: the fork has said it, too", n)
		require.NoError(t, r.ix.Close(context.Background()))
	}
}
