package crash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestCrashDuringCodeIndexingLosesNothing kills servers that index a repository with changing
// files. The last index equals a new one.
func TestCrashDuringCodeIndexingLosesNothing(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	repo, home := t.TempDir(), t.TempDir()
	out, err := exec.Command("git", "-C", repo, "init", "-q").CombinedOutput()
	require.NoError(t, err, string(out))
	const files = 300
	for kill := range 6 {
		for n := range files {
			if n%7 == kill || kill == 0 {
				text := fmt.Sprintf("# Chapter %d\n\nThe password of room%d is secret%dx%d.\n", n, n, n, kill)
				require.NoError(t, os.WriteFile(filepath.Join(repo, fmt.Sprintf("f%d.md", n)), []byte(text), 0o644))
			}
		}
		require.NoError(t, os.RemoveAll(filepath.Join(repo, fmt.Sprintf("f%d.md", 100+kill))))
		c := startIndexing(t, home, repo)
		if kill > 0 {
			c.UntilMethod("memory/index/progress")
		}
		<-time.After(time.Duration(kill) * 4 * time.Millisecond) // a chosen moment of the kill
		c.Kill()
	}
	after, fresh := indexed(t, home, repo), indexed(t, t.TempDir(), repo)
	require.Equal(t, fresh, after)
	require.Equal(t, "The password of room9 is secret9x2.", after["room9"])
	require.Empty(t, after["room104"], "its file was deleted")
}

func startIndexing(t *testing.T, home, repo string) *apptest.Client {
	t.Helper()
	c := apptest.StartOffline(t, home, "-c", "memory.index_code=true", "-c", "memory.index_cpu_percent=100")
	c.MemorySearch(apptest.Object{"query": "begin", "repoKey": repo})
	return c
}

// indexed returns the results of searches after the index is complete.
func indexed(t *testing.T, home, repo string) map[string]string {
	t.Helper()
	c := startIndexing(t, home, repo)
	status := c.UntilIndexed(func(protocol.MemoryCodeIndex) bool { return true })
	found := map[string]string{"chunks": fmt.Sprint(status.Chunks)}
	for _, n := range []int{0, 2, 9, 101, 104, 150, 298} {
		room := fmt.Sprintf("room%d", n)
		for _, hit := range c.MemorySearch(apptest.Object{"query": "password " + room, "repoKey": repo,
			"kinds": []string{"code"}}).Data {
			if match := regexp.MustCompile("The password of " + room + ` is \w+\.`).FindString(hit.Text); match != "" {
				require.Empty(t, found[room], "found twice: an old version remains")
				found[room] = match
			}
		}
	}
	c.Close()
	return found
}

// TestCrashDuringTokenCreationLeavesWholeToken kills servers while they start. The token is whole
// or missing, does not change afterwards, and the next server accepts it.
func TestCrashDuringTokenCreationLeavesWholeToken(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, "app-server-control", "ws-token")
	var token []byte
	for kill := range 12 {
		cmd := apptest.OfflineCommand(t, home, "--listen", "ws://127.0.0.1:0")
		require.NoError(t, cmd.Start())
		for deadline := time.Now().Add(apptest.Timeout); kill%4 > 0 && time.Now().Before(deadline); {
			if _, err := os.Stat(filepath.Dir(path)); err == nil {
				break // the token is created next
			}
		}
		<-time.After(time.Duration(kill) * 30 * time.Microsecond) // a chosen moment of the kill
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
		text, err := os.ReadFile(path)
		if token != nil {
			require.Equal(t, token, text)
		} else if err == nil {
			require.Regexp(t, `^[A-Z2-7]{26}\n$`, string(text))
			token = text
			if kill < 9 {
				require.NoError(t, os.RemoveAll(filepath.Dir(path)))
				token = nil
			}
		}
	}
	h := apptest.StartDaemon(t, home, "ws://127.0.0.1:0")
	h.ConnectInitialized().Call("thread/list", apptest.Object{})
	if token != nil {
		require.Equal(t, string(token), h.Token+"\n")
	}
	h.Terminate()
}
