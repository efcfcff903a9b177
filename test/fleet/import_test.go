package fleet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// store runs appserver store.
func store(t *testing.T, home, url string, args ...string) string {
	args = append([]string{"store", "-c", "store.kind=postgres", "-c", "store.require_sync_standby=false"}, args...)
	cmd := apptest.ServerCommand(t, home, args...)
	cmd.Env = append(cmd.Env, "APPSERVER_STORE_URL="+url)
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// rollouts returns the contents of the rollouts in a home, by their paths there.
func rollouts(t *testing.T, home string) map[string]string {
	found := map[string]string{}
	for _, root := range []string{"sessions/*/*/*", "archived_sessions"} {
		paths, err := filepath.Glob(filepath.Join(home, root, "*.jsonl"))
		require.NoError(t, err)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			name, err := filepath.Rel(home, path)
			require.NoError(t, err)
			found[name] = string(text)
		}
	}
	return found
}

// TestThreadsMoveToTheDatabaseAndBack copies a thread with a name and an excluded item, and an archived
// one.
func TestThreadsMoveToTheDatabaseAndBack(t *testing.T) {
	t.Parallel()
	url, home, back := pgtest.Database(t), t.TempDir(), t.TempDir()
	c := apptest.StartProcess(t, apptest.OfflineCommand(t, home, "-c", "context.rewrite_on_unload=false"))
	c.Initialize()
	named, archived := c.StartTrusted(), c.StartTrusted()
	for _, id := range []string{named, archived} {
		c.Turn(id, "run: echo of "+id)
	}
	c.Call("thread/name/set", apptest.Object{"threadId": named, "name": "The first"})
	c.Call("context/setInclusion", apptest.Object{"threadId": named, "indices": []int{3}, "included": false})
	c.Call("thread/archive", apptest.Object{"threadId": archived})
	c.Close()
	require.Contains(t, store(t, home, url, "import"), "2 threads copied, 0 there already, 0 not copied")
	require.Contains(t, store(t, home, url, "import"), "0 threads copied, 2 there already, 0 not copied")

	n := newNode(t, url)
	require.Regexp(t, `(?s)PostgreSQL: \d+.*tables: version 1 of 1\nsynchronous standbys: none\nservers: \S+\nthreads:`,
		store(t, home, url, "status"))
	require.Equal(t, "The first", gjson.GetBytes(n.Call("thread/list", apptest.Object{}), "data.0.name").Str)
	require.Equal(t, archived, gjson.GetBytes(n.Call("thread/list", apptest.Object{"archived": true}), "data.0.id").Str)
	items := n.Call("context/getItems", apptest.Object{"threadId": named})
	require.False(t, gjson.GetBytes(items, "items.3.included").Bool())
	found := n.Call("thread/search", apptest.Object{"searchTerm": "echo of " + named})
	require.Equal(t, named, gjson.GetBytes(found, "data.0.thread.id").Str)
	n.Close()

	require.Contains(t, store(t, t.TempDir(), url, "export", back), "2 threads copied")
	require.Equal(t, rollouts(t, home), rollouts(t, back))
}

// TestOperatorsUpdateTheTables starts a server that may not, before and after store migrate.
func TestOperatorsUpdateTheTables(t *testing.T) {
	t.Parallel()
	url, home := pgtest.Database(t), t.TempDir()
	cmd := command(t, home, url, "-c", "store.auto_migrate=false")
	cmd.Stderr = nil
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "store.auto_migrate: ")
	require.Equal(t, "tables: version 0, updated to 1\n", store(t, home, url, "migrate"))
	require.Equal(t, "tables: version 1, unchanged\n", store(t, home, url, "migrate", "-c", "store.auto_migrate=false"))
	require.Equal(t, "tables: version 1, unchanged\nthe database is ready\n", store(t, home, url, "init"))
	n := apptest.StartProcess(t, command(t, home, url, "-c", "store.auto_migrate=false"))
	n.Initialize()
	require.Equal(t, "completed", n.Turn(n.StartTrusted(), "say hello").Status)
	n.Close()
}
