package crash

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestCrashWhileAForkIsWritten kills servers while the file of a fork has its temporary name,
// until one was quick enough. The next server lists whole threads only, those that were told
// among them, and takes away what was left.
func TestCrashWhileAForkIsWritten(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	home := t.TempDir()
	const turns = 1500
	thread := apptest.WriteLongRollout(t, home, turns)
	temporary := func() []string {
		paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.tmp"))
		require.NoError(t, err)
		return paths
	}
	told := []string{thread}
	for len(temporary()) == 0 {
		require.Less(t, len(told), 20, "it is never killed in time")
		c := apptest.StartOffline(t, home)
		id := c.SendRequest("thread/fork", apptest.Object{"threadId": thread, "excludeTurns": true})
		for began := time.Now(); len(temporary()) == 0 && len(c.Messages) == 0; {
			require.Less(t, time.Since(began), apptest.Timeout)
		}
		c.Signal(syscall.SIGKILL)
		c.Drain()
		for _, m := range c.Seen {
			if string(m.ID) == id {
				told = append(told, gjson.GetBytes(m.Result, "thread.id").Str)
			}
		}
	}

	c := apptest.StartOffline(t, home)
	var listed []string
	for _, id := range gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data.#.id").Array() {
		listed = append(listed, id.Str)
		require.Len(t, c.ReadThread(id.Str).Turns, turns+1)
	}
	require.Subset(t, listed, told)
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": thread, "excludeTurns": true}).ID
	require.Equal(t, "completed", c.Turn(fork, "hello").Status)
	c.Close()
	require.Empty(t, temporary())
}

// TestCrashBeforeTheFirstLine kills servers while they make threads: what has a rollout's name has
// a line, no list warns, and what has none is gone after the next list.
func TestCrashBeforeTheFirstLine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for kill := range 6 {
		c := apptest.StartOffline(t, home)
		for range 20 {
			c.SendRequest("thread/start", apptest.Object{"cwd": "/"})
		}
		<-time.After(time.Duration(kill) * 2 * time.Millisecond) // the moment of the kill
		c.Kill()
		for _, path := range filesNamed(t, home, ".jsonl") {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Positive(t, info.Size(), path)
		}
	}
	c := apptest.StartOffline(t, home)
	c.Call("thread/list", apptest.Object{"archived": true})
	require.Empty(t, filesNamed(t, home, ".tmp"))
	c.Close()
	require.Empty(t, c.Warnings())
}

// filesNamed are those below sessions whose names end so.
func filesNamed(t *testing.T, home, end string) (paths []string) {
	t.Helper()
	root := filepath.Join(home, "sessions")
	require.NoError(t, os.MkdirAll(root, 0o700))
	require.NoError(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if strings.HasSuffix(path, end) {
			paths = append(paths, path)
		}
		return err
	}))
	return paths
}

// TestAnEmptyRolloutIsToldOf has one that another program left: lists warn of it and go on without
// it, and it is in nobody's way.
func TestAnEmptyRolloutIsToldOf(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	path := c.ReadThread(id).Path
	c.Close()
	empty := filepath.Join(filepath.Dir(path), "rollout-2026-01-02T03-04-05-01a2019d-052a-7d2b-811b-698d750b0329.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))

	c = apptest.StartOffline(t, home)
	require.Equal(t, `["`+id+`"]`, gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data.#.id").Raw)
	require.Equal(t, "completed", c.Turn(c.StartTrusted(), "hello").Status)
	c.Close()
	require.Contains(t, strings.Join(c.Warnings(), "\n"), empty+": it is empty: remove it")
}

// TestCrashBetweenTheStepsOfAMove leaves a thread in the archive and below sessions. The next
// server has it in one place, from its first list on.
func TestCrashBetweenTheStepsOfAMove(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	path := c.ReadThread(id).Path
	for _, method := range []string{"thread/search", "thread/list"} {
		c.Kill()
		archived := filepath.Join(home, "archived_sessions", filepath.Base(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(archived), 0o700))
		require.NoError(t, os.Link(path, archived))
		c = apptest.StartOffline(t, home)
		require.Equal(t, `[]`,
			gjson.GetBytes(c.Call(method, apptest.Object{"archived": true, "searchTerm": "hello"}), "data").Raw, method)
		require.NoFileExists(t, archived)
		require.Equal(t, `["`+id+`"]`, gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data.#.id").Raw)
	}
	require.Equal(t, "completed", c.CallThread("thread/resume", apptest.Object{"threadId": id}).Turns[0].Status)
	c.Call("thread/archive", apptest.Object{"threadId": id})
	require.Equal(t, `["`+id+`"]`,
		gjson.GetBytes(c.Call("thread/list", apptest.Object{"archived": true}), "data.#.id").Raw)
	require.Equal(t, `[]`, gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data").Raw)
	c.Close()
}
