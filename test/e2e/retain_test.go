package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// agedHome returns a home with threads that were last written 10, 20, … days ago, the newest first.
func agedHome(t *testing.T, count int) (home string, ids []string) {
	t.Helper()
	home = t.TempDir()
	writeThreads(t, home, count, 1)
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(t, err)
	require.Len(t, paths, count)
	for i, path := range paths {
		age(t, path, 10*(i+1))
		ids = append(ids, idOfPath(path))
	}
	return home, ids
}

func idOfPath(path string) string {
	base := filepath.Base(path)
	return base[len(base)-len(".jsonl")-36 : len(base)-len(".jsonl")]
}

// age sets the modification time of a file to some days ago.
func age(t *testing.T, path string, days int) {
	t.Helper()
	at := time.Now().Add(-time.Duration(days)*24*time.Hour - time.Hour)
	require.NoError(t, os.Chtimes(path, at, at))
}

// rolloutsIn returns the ids of the rollouts below a root.
func rolloutsIn(t *testing.T, home, root string) []string {
	t.Helper()
	ids := []string{}
	for _, pattern := range []string{"*.jsonl", "*/*/*/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(home, root, pattern))
		require.NoError(t, err)
		for _, path := range paths {
			ids = append(ids, idOfPath(path))
		}
	}
	return ids
}

// notifiedOf returns the threads in notifications of a method.
func notifiedOf(c *apptest.Client, method string) []string {
	ids := []string{}
	for _, m := range c.Seen {
		if m.Method == method {
			ids = append(ids, gjson.GetBytes(m.Params, "threadId").Str)
		}
	}
	return ids
}

// TestRetentionArchivesOldestThreads keeps one old thread loaded, and one locked by another server.
func TestRetentionArchivesOldestThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesTimes)
	t.Parallel()
	home, ids := agedHome(t, 6)
	other := apptest.StartOffline(t, home)
	other.Call("thread/resume", apptest.Object{"threadId": ids[4]})
	c := apptest.StartOffline(t, home, "-c", "history.maxAge=25", "-c", "history.maxBytes=1")
	age(t, other.ReadThread(ids[4]).Path, 50)
	require.Len(t, rolloutsIn(t, home, "sessions"), 6, "threads were archived during the start")
	path := c.CallThread("thread/resume", apptest.Object{"threadId": ids[5]}).Path
	age(t, path, 60)
	c.Call("thread/list", apptest.Object{})
	first := string(c.UntilMethod("warning").Params)
	second := string(c.UntilMethod("warning").Params)
	require.Contains(t, first,
		"history.maxAge and history.maxBytes: the threads written to longest ago were moved to the archive: 4 of them, with ")
	require.Contains(t, second, "nothing is deleted while history.retention is \\\"archive\\\"")
	require.Equal(t, []string{ids[3], ids[2], ids[1], ids[0]}, notifiedOf(c, "thread/archived"), "the oldest first")
	require.ElementsMatch(t, ids[4:], rolloutsIn(t, home, "sessions"))
	require.ElementsMatch(t, ids[:4], rolloutsIn(t, home, "archived_sessions"))
	c.Call("thread/unarchive", apptest.Object{"threadId": ids[0]})
	require.Equal(t, "completed", c.Turn(ids[5], "hello").Status)
	other.Close()
	c.Close()
}

func TestRetentionDeletesOldestThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesTimes)
	t.Parallel()
	home, ids := agedHome(t, 4)
	c := apptest.StartOffline(t, home, "-c", "history.maxAge=25", "-c", `history.retention="delete"`)
	c.Call("thread/archive", apptest.Object{"threadId": ids[3]})
	c.Call("thread/list", apptest.Object{})
	require.Contains(t, string(c.UntilMethod("warning").Params), "were deleted: 2 of them, with ")
	require.Equal(t, []string{ids[3], ids[2]}, notifiedOf(c, "thread/deleted"))
	require.Empty(t, rolloutsIn(t, home, "archived_sessions"))
	require.ElementsMatch(t, ids[:2], rolloutsIn(t, home, "sessions"))
	require.Len(t, gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data").Array(), 2)
	c.Close()
}

// TestRetentionFinishesInterruptedMoves has a thread in both folders, as a crash leaves it.
func TestRetentionFinishesInterruptedMoves(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesTimes)
	t.Parallel()
	home, ids := agedHome(t, 3)
	archive := filepath.Join(home, "archived_sessions")
	require.NoError(t, os.Mkdir(archive, 0o700))
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*", "*", "*"+ids[0]+".jsonl"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	require.NoError(t, os.Link(paths[0], filepath.Join(archive, filepath.Base(paths[0]))))
	c := apptest.StartOffline(t, home, "-c", "history.maxAge=5")
	c.Call("thread/list", apptest.Object{})
	c.UntilMethod("warning")
	require.ElementsMatch(t, ids, notifiedOf(c, "thread/archived"))
	require.ElementsMatch(t, ids, rolloutsIn(t, home, "archived_sessions"))
	require.Empty(t, rolloutsIn(t, home, "sessions"))
	c.Close()
}

// TestCrashDuringRetentionContinues kills servers that archive, until one has archived all threads.
func TestCrashDuringRetentionContinues(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesTimes)
	const count = 60
	home, ids := agedHome(t, count)
	args := []string{"-c", "history.maxAge=5"}
	for kill := 1; len(rolloutsIn(t, home, "sessions")) > 0; kill += 7 {
		c := apptest.StartOffline(t, home, args...)
		c.Call("thread/list", apptest.Object{})
		for range min(kill, len(rolloutsIn(t, home, "sessions"))) {
			c.UntilMethod("thread/archived")
		}
		c.Kill()
	}
	require.ElementsMatch(t, ids, rolloutsIn(t, home, "archived_sessions"))
	c := apptest.StartOffline(t, home)
	for _, id := range ids {
		c.Call("thread/unarchive", apptest.Object{"threadId": id})
	}
	c.Close()
	require.ElementsMatch(t, ids, rolloutsIn(t, home, "sessions"))
}

func TestRolloutRetainListsBeforeChanges(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, ids := agedHome(t, 4)
	status, _, errs := apptest.Execute(t, home, "rollout", "retain")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "there is no limit: set history.maxAge (days) or history.maxBytes")
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte("[history]\nmaxAge = 35\n"), 0o600))
	for _, args := range [][]string{{}, {"--dry-run", "--yes"}} {
		status, out, errs := apptest.Execute(t, home, append([]string{"rollout", "retain"}, args...)...)
		require.Zero(t, status, errs)
		require.Regexp(t, `^would be archived: .*`+ids[3]+
			`\.jsonl, last written .* bytes, for history\.maxAge\n1 thread would be archived; remaining: 4 threads with .* bytes, of which .* are in the archive\nNothing was changed: add --yes to make these changes\n$`, out)
		require.Len(t, rolloutsIn(t, home, "sessions"), 4)
	}
	status, out, errs := apptest.Execute(t, home, "rollout", "retain", "--yes")
	require.Zero(t, status, errs)
	require.Contains(t, out, "1 thread archived; remaining: 4 threads with")
	require.Equal(t, ids[3:], rolloutsIn(t, home, "archived_sessions"))

	status, out, errs = apptest.Execute(t, home, "rollout", "retain", "--yes", "--json", "-c", "history.maxAge=15", "-c",
		"history.retention=delete")
	require.Zero(t, status, errs)
	var done struct {
		Action  string
		DryRun  bool
		Gone    []struct{ ThreadID, Because string }
		Kept    []struct{}
		Threads int
	}
	require.NoError(t, json.Unmarshal([]byte(out), &done))
	require.Equal(t, "delete", done.Action)
	require.False(t, done.DryRun)
	require.Len(t, done.Gone, 3)
	require.Equal(t, ids[3], done.Gone[0].ThreadID)
	require.Equal(t, 1, done.Threads)
	require.Equal(t, ids[:1], append(rolloutsIn(t, home, "sessions"), rolloutsIn(t, home, "archived_sessions")...))
}

func TestRolloutRetainSkipsOpenThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesCommands)
	t.Parallel()
	home, ids := agedHome(t, 1)
	c := apptest.StartOffline(t, home)
	path := c.CallThread("thread/resume", apptest.Object{"threadId": ids[0]}).Path
	age(t, path, 10)
	status, out, errs := apptest.Execute(t, home, "rollout", "retain", "--yes", "-c", "history.maxAge=1", "-c",
		"history.retention=delete")
	require.Equal(t, 1, status)
	require.Contains(t, out, "already has an active writer")
	require.Contains(t, errs, "kept 1 thread beyond the limits: see above")
	require.FileExists(t, path)
	c.Close()
}

func TestRetentionSettingOfThreadHasNoEffect(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	c.StartThread(apptest.Object{"config": apptest.Object{"history.maxAge": 1}})
	require.Contains(t, string(c.UntilMethod("warning").Params), "config.history.maxAge has no effect on a thread")
	c.Close()
}
