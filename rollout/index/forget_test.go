package index

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
)

// leftOf reports whether a text is in any file of the index.
func (r *rig) leftOf(text string) bool {
	for _, suffix := range []string{"", "-wal", "-shm"} {
		data, err := os.ReadFile(r.file() + suffix)
		if err == nil && bytes.Contains(data, []byte(text)) {
			return true
		}
	}
	return false
}

// TestForgetLeavesNothing has texts that fill pages of their own, and threads that stay. Three
// letters are a term of the full text.
func TestForgetLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]bool{"closed": false, "open in a server": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			long := strings.Repeat("quetzalcoatl ωβδ ", 2500)
			r.put(r.path(1), thread("", "pelican one", "a pelican", "say "+long))
			for n := range sampled(300) { // so that pages are divided, and rows move
				r.put(r.path(2+n), thread("", "fox", fmt.Sprint("a fox ", n)))
			}
			r.put(r.path(1000), thread("", "walrus", "a walrus"))
			require.Len(t, r.search(rollout.Query{Search: "pelican"}).Hits, 1)
			if !open {
				require.NoError(t, r.ix.Close(context.Background()))
			}
			require.True(t, r.leftOf("pelican"))
			r.put(r.path(1)+".new", thread("", "[redacted] one", "a [redacted]"))
			require.NoError(t, os.Rename(r.path(1)+".new", r.path(1)))
			require.NoError(t, Forget(r.file(), r.store, []string{r.path(1), "/elsewhere.jsonl"}))
			for _, text := range []string{"pelican", "quetzal", "ωβδ"} {
				require.False(t, r.leftOf(text), text)
			}
			if !open {
				r.ix = nil
				r.reopen()
			}
			require.Empty(t, r.search(rollout.Query{Search: "pelican"}).Hits)
			require.Len(t, r.search(rollout.Query{Search: "walrus"}).Hits, 1)
			require.Len(t, r.search(rollout.Query{Search: "[redacted]"}).Hits, 1)
			_, err := r.ix.db.Write.Exec("INSERT INTO found(found) VALUES ('integrity-check')")
			require.NoError(t, err)
			require.Empty(t, r.faults)
		})
	}
}

func TestForgetMakesNoIndex(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	require.NoError(t, Forget(r.file(), r.store, []string{r.path(1)}))
	require.NoFileExists(t, r.file())
	r.put(r.file(), "notes")
	require.ErrorContains(t, Forget(r.file(), r.store, []string{r.path(1)}), r.file())
	text, err := os.ReadFile(r.file())
	require.NoError(t, err)
	require.Equal(t, "notes", string(text))
}
