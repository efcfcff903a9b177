package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

func spawnID(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// writeSpawned writes threads of several sources. The agent of 1 spawned 2, that of 2 spawned 3, 4
// is a review, 5 is archived and spawned by 1, and 5 spawned 6.
func writeSpawned(t *testing.T, home string) {
	t.Helper()
	spawn := func(parent int) string {
		return fmt.Sprintf(`{"subagent":{"thread_spawn":{"parent_thread_id":%q,"depth":1,"agent_nickname":"Ada","agent_role":"explorer"}}}`, spawnID(parent))
	}
	for i, source := range []string{`"vscode"`, spawn(1), spawn(2), `{"subagent":"review"}`, spawn(1), spawn(5)} {
		n, dir := i+1, filepath.Join(home, "sessions/2026/01/02")
		if n == 5 {
			dir = filepath.Join(home, "archived_sessions")
		}
		require.NoError(t, os.MkdirAll(dir, 0o700))
		text := fmt.Sprintf(`{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{"id":%q,"source":%s}}
{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":1,"type":"event_msg","payload":{"type":"user_message","message":"thread %d"}}
`, spawnID(n), source, n)
		require.NoError(t, os.WriteFile(filepath.Join(dir,
			fmt.Sprintf("rollout-2026-01-02T03-04-%02d-%s.jsonl", n, spawnID(n))), []byte(text), 0o600))
	}
}

// TestListsOfSpawnedThreads compares lists from the files with lists from the index.
func TestListsOfSpawnedThreads(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	writeSpawned(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	for _, from := range []string{"files", "index"} {
		for _, want := range []struct {
			params  apptest.Object
			threads []int
		}{
			{apptest.Object{}, []int{1}},
			{apptest.Object{"sourceKinds": []string{"subAgent"}}, []int{6, 4, 3, 2}},
			{apptest.Object{"sourceKinds": []string{"subAgentThreadSpawn"}}, []int{6, 3, 2}},
			{apptest.Object{"sourceKinds": []string{"subAgentReview", "vscode"}}, []int{4, 1}},
			{apptest.Object{"parentThreadId": spawnID(1)}, []int{2}},
			{apptest.Object{"parentThreadId": spawnID(1), "archived": true}, []int{5}},
			{apptest.Object{"parentThreadId": spawnID(1), "sourceKinds": []string{"vscode"}}, nil},
			{apptest.Object{"ancestorThreadId": spawnID(1)}, []int{6, 3, 2}},
			{apptest.Object{"ancestorThreadId": spawnID(1), "searchTerm": "thread 3"}, []int{3}},
			{apptest.Object{"ancestorThreadId": spawnID(2), "sortDirection": "asc"}, []int{3}},
			{apptest.Object{"ancestorThreadId": spawnID(4)}, nil},
		} {
			var got []int
			for _, thread := range gjson.GetBytes(c.Call("thread/list", want.params), "data").Array() {
				var n int
				_, err := fmt.Sscanf(thread.Get("preview").Str, "thread %d", &n)
				require.NoError(t, err)
				got = append(got, n)
			}
			require.Equal(t, want.threads, got, "%s: %v", from, want.params)
		}
		apptest.AwaitIndex(c)
	}
	thread := gjson.GetBytes(c.Call("thread/list", apptest.Object{"parentThreadId": spawnID(2)}), "data.0")
	require.Equal(t, spawnID(2), thread.Get("parentThreadId").Str)
	require.Equal(t, "Ada", thread.Get("agentNickname").Str)
	require.Equal(t, "explorer", thread.Get("agentRole").Str)
	require.True(t, thread.Get("source.subAgent.thread_spawn").Exists(), thread.Raw)
	c.Close()
}

// TestListsHaveUpdatedBranch lists a thread whose git branch was updated, from the files and from
// the index, before and after another turn.
func TestListsHaveUpdatedBranch(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, countingAnswers(2)...)
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	require.Equal(t, "completed", c.Turn(id, "one").Status)
	branch := func() string {
		return gjson.GetBytes(c.Call("thread/list", apptest.Object{"modelProviders": []string{}}),
			"data.0.gitInfo.branch").Str
	}
	require.Empty(t, branch())
	c.Call("thread/metadata/update", apptest.Object{"threadId": id, "gitInfo": apptest.Object{"branch": "told"}})
	require.Equal(t, "told", branch())
	apptest.AwaitIndex(c)
	require.Equal(t, "told", branch())
	require.Equal(t, "completed", c.Turn(id, "two").Status)
	require.Equal(t, "told", branch())
	c.Close()

	removeIndex(t, home)
	c = apptest.StartServer(t, home)
	c.Initialize()
	require.Equal(t, "told", branch(), "from the file")
	c.Call("thread/metadata/update", apptest.Object{"threadId": id, "gitInfo": apptest.Object{"branch": nil}})
	require.Empty(t, branch())
	c.Close()
}

func removeIndex(t testing.TB, home string) {
	files, err := filepath.Glob(filepath.Join(home, "appserver-index.sqlite*"))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Remove(f))
	}
}
