package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// codeRepository returns a repository with one file to be found, and several to be skipped.
func codeRepository(t *testing.T) string {
	t.Helper()
	repo := t.TempDir()
	for path, text := range map[string]string{
		"billing/refund.go": "package billing\n\n// refundWithin is how long a refund can be asked for.\nconst refundWithin = 14 * day\n\n// Refund pays back what was paid.\nfunc Refund(p Payment) error { return p.back() }\n",
		".gitignore":        "ignored/\n", "ignored/refund.go": "package ignored // refund\n", "image.bin": "refund\x00\x01",
		".env":         "REFUND_KEY=1\n",
		"generated.js": "refund" + strings.Repeat("x", 5000) + "\n", "long.txt": strings.Repeat("refund\n", 1_000_000),
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(repo, path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(repo, path), []byte(text), 0o644))
	}
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(repo, "refund.link")))
	out, err := exec.Command("git", "-C", repo, "init", "-q").CombinedOutput()
	require.NoError(t, err, string(out))
	return repo
}

// TestCodeSearchFollowsFiles finds code by words, without ignored and binary files. Changes are
// indexed, unless indexing is paused.
func TestCodeSearchFollowsFiles(t *testing.T) {
	t.Parallel()
	repo, home := codeRepository(t), t.TempDir()
	c := apptest.StartOffline(t, home, "-c", "memory.index_code=true", "-c", "memory.index_cpu_percent=100")
	search := apptest.Object{"query": "how long can a refund be asked for?", "repoKey": repo, "kinds": []string{"code"}}
	c.MemorySearch(search) // starts the indexing
	status := c.UntilIndexed(func(p protocol.MemoryCodeIndex) bool { return true })
	require.Equal(t, repo, status.RepoKey)
	require.Equal(t, map[string]int{"noFile": 1, "large": 1, "binary": 1, "private": 1, "generated": 1}, status.Skipped)
	found := c.MemorySearch(search)
	require.NotEmpty(t, found.Data)
	require.False(t, found.Semantic)
	require.Contains(t, found.Data[0].Title, "billing/refund.go")
	require.Contains(t, found.Data[0].Text, "14 * day")
	for _, hit := range found.Data {
		require.Equal(t, protocol.MemoryCode, hit.Kind)
		require.Regexp(t, `^(billing/refund.go|\.gitignore)`, hit.Title)
	}
	chunks := status.Chunks
	require.NoError(t, os.WriteFile(filepath.Join(repo, "voucher.md"),
		[]byte("# Vouchers\n\nA voucher is worth ten ducats.\n"), 0o644))
	c.UntilIndexed(func(p protocol.MemoryCodeIndex) bool { return p.Chunks > chunks })
	require.Contains(t, c.MemorySearch(apptest.Object{"query": "what is a voucher worth?", "repoKey": repo}).Data[0].Text,
		"ten ducats")

	var paused protocol.MemoryIndexPauseResponse
	require.NoError(t, json.Unmarshal(c.Call("memory/index/pause", apptest.Object{"repoKey": repo, "paused": true}),
		&paused))
	require.True(t, paused.Found)
	var is protocol.MemoryStatusResponse
	require.NoError(t, json.Unmarshal(c.Call("memory/status", apptest.Object{}), &is))
	require.Equal(t, "paused", is.Indexes[0].Phase)
	require.NoError(t, os.Remove(filepath.Join(repo, "voucher.md")))
	c.Call("memory/index/pause", apptest.Object{"repoKey": repo, "paused": false})
	c.UntilIndexed(func(p protocol.MemoryCodeIndex) bool { return p.Chunks == chunks })
	require.Empty(t, c.MemorySearch(apptest.Object{"query": "voucher", "repoKey": repo}).Data)
	c.Call("memory/reset", apptest.Object{})
	c.Close()
}

// vectorServer returns an endpoint of embeddings. It has two vectors: one for texts about money,
// one for all others.
func vectorServer(t *testing.T) (url string, fails *atomic.Bool) {
	fails = new(atomic.Bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fails.Load() {
			http.Error(w, `{"error":{"message":"out of order"}}`, http.StatusBadRequest)
			return
		}
		var p struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&p)
		var data []string
		for i, text := range p.Input {
			vector := "[0.1,1]"
			if strings.Contains(text, "refund") || strings.Contains(text, "Erstattung") {
				vector = "[1,0.1]"
			}
			data = append(data, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, i, vector))
		}
		fmt.Fprintf(w, `{"object":"list","model":"m","data":[%s]}`, strings.Join(data, ","))
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", fails
}

// TestCodeSearchFindsMeanings finds code without common words by embeddings. If the endpoint fails,
// the search uses words, and one warning reports it.
func TestCodeSearchFindsMeanings(t *testing.T) {
	t.Parallel()
	repo, home := codeRepository(t), t.TempDir()
	url, fails := vectorServer(t)
	args := []string{"-c", "memory.index_code=true", "-c", "memory.index_cpu_percent=100", "-c",
		"memory.embeddings.model=m", "-c", "memory.embeddings.base_url=" + url}
	c := apptest.StartOffline(t, home, args...)
	search := apptest.Object{"query": "Bis wann geht eine Erstattung?", "repoKey": repo}
	c.MemorySearch(search)
	c.UntilIndexed(func(p protocol.MemoryCodeIndex) bool { return true })
	require.Eventually(t, func() bool {
		var is protocol.MemoryStatusResponse
		require.NoError(t, json.Unmarshal(c.Call("memory/status", apptest.Object{}), &is))
		return is.Embeddings.Pending == 0
	}, apptest.Timeout, apptest.Timeout/1000)
	found := c.MemorySearch(search)
	require.True(t, found.Semantic)
	require.Contains(t, found.Data[0].Title, "billing/refund.go")

	fails.Store(true)
	for range 3 {
		found = c.MemorySearch(apptest.Object{"query": "asked for a refund " + fmt.Sprint(len(found.Data)), "repoKey": repo})
		require.NotEmpty(t, found.Data)
	}
	warned := 0
	for _, m := range c.Seen {
		if m.Method == "warning" && strings.Contains(string(m.Params), "memory:") {
			warned++
		}
	}
	require.Equal(t, 1, warned)
	c.Close()
}
