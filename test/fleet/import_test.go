package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// store runs appserver store.
func store(t *testing.T, home, url string, args ...string) string {
	out, err := storeCommand(t, home, url, args...).Output()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func storeCommand(t *testing.T, home, url string, args ...string) *exec.Cmd {
	args = append([]string{"store", "-c", "store.kind=postgres", "-c", "store.require_sync_standby=false"}, args...)
	cmd := apptest.ServerCommand(t, home, args...)
	cmd.Env = append(cmd.Env, "APPSERVER_STORE_URL="+url)
	return cmd
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

// unlisted writes a rollout that lists omit, because it has no message of the user.
func unlisted(t *testing.T, home string) {
	const id = "0190a6f8-1111-7aaa-8bbb-010000000000"
	path := filepath.Join(home, "sessions/2026/01/02/rollout-2026-01-02T03-04-05-"+id+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	text := `{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":0,"type":"session_meta","payload":{"id":"` + id +
		`","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/src","source":"exec"}}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// TestThreadsMoveToTheDatabaseAndBack copies a thread with a name and an excluded item, an archived one,
// and one without a message of the user.
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
	unlisted(t, home)
	require.Contains(t, store(t, home, url, "import"), "3 threads copied, 0 there already, 0 not copied")
	require.Contains(t, store(t, home, url, "import"), "0 threads copied, 3 there already, 0 not copied")

	n := newNode(t, url)
	require.Regexp(t, `(?s)PostgreSQL: \d+.*tables: version 3 of 3\nsynchronous standbys: none\nservers: \S+\nthreads:`,
		store(t, home, url, "status"))
	require.Equal(t, "The first", gjson.GetBytes(n.Call("thread/list", apptest.Object{}), "data.0.name").Str)
	require.Equal(t, archived, gjson.GetBytes(n.Call("thread/list", apptest.Object{"archived": true}), "data.0.id").Str)
	items := n.Call("context/getItems", apptest.Object{"threadId": named})
	require.False(t, gjson.GetBytes(items, "items.3.included").Bool())
	found := n.Call("thread/search", apptest.Object{"searchTerm": "echo of " + named})
	require.Equal(t, named, gjson.GetBytes(found, "data.0.thread.id").Str)
	n.Close()

	require.Contains(t, store(t, t.TempDir(), url, "export", back), "3 threads copied")
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
	require.Equal(t, "tables: version 0, updated to 3\n", store(t, home, url, "migrate"))
	require.Equal(t, "tables: version 3, unchanged\n", store(t, home, url, "migrate", "-c", "store.auto_migrate=false"))
	require.Equal(t, "tables: version 3, unchanged\nthe database is ready\n", store(t, home, url, "init"))
	n := apptest.StartProcess(t, command(t, home, url, "-c", "store.auto_migrate=false"))
	n.Initialize()
	require.Equal(t, "completed", n.Turn(n.StartTrusted(), "say hello").Status)
	n.Close()
}

// TestOneThreadMovesOutOfTheDatabaseAndBack exports a thread with an excluded item and imports it: into a home,
// where its rollout is the one that store export writes, and into another database.
func TestOneThreadMovesOutOfTheDatabaseAndBack(t *testing.T) {
	t.Parallel()
	url, all, other := pgtest.Database(t), t.TempDir(), pgtest.Database(t)
	n := newNode(t, url)
	id := n.StartTrusted()
	n.Turn(id, "run: echo of "+id)
	n.Call("context/setInclusion", apptest.Object{"threadId": id, "indices": []int{3}, "included": false})
	want := gjson.GetBytes(n.Call("context/getItems", apptest.Object{"threadId": id}), "items").Raw
	file := filepath.Join(t.TempDir(), "thread.json")
	thread(t, t.TempDir(), url, "export", id, "--format", "json", "--out", file) // while its server has it open
	n.Close()

	store(t, t.TempDir(), url, "export", all)
	home := t.TempDir()
	status, out, errs := apptest.Execute(t, home, "thread", "import", file)
	require.Zero(t, status, errs)
	require.Equal(t, id+"\n", out)
	require.Equal(t, rollouts(t, all), rollouts(t, home))

	store(t, t.TempDir(), other, "init")
	require.Equal(t, id+"\n", thread(t, t.TempDir(), other, "import", file))
	cmd := threadCommand(t, t.TempDir(), other, "import", file)
	text, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "appserver: thread import: thread "+id+" exists already\n", string(text))
	n = newNode(t, other)
	require.JSONEq(t, want, gjson.GetBytes(n.Call("context/getItems", apptest.Object{"threadId": id}), "items").Raw)
	n.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "completed", n.Turn(id, "say more").Status)
	n.Close()
}

// thread runs appserver thread.
func thread(t *testing.T, home, url string, args ...string) string {
	out, err := threadCommand(t, home, url, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func threadCommand(t *testing.T, home, url string, args ...string) *exec.Cmd {
	cmd := apptest.ServerCommand(t, home, append([]string{"-c", "store.kind=postgres", "-c",
		"store.require_sync_standby=false", "thread"}, args...)...)
	cmd.Env, cmd.Stderr = append(cmd.Env, "APPSERVER_STORE_URL="+url), nil
	return cmd
}
