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
	"appserver/test/sample"
)

// TestCrashDuringForkLeavesWholeThreads kills servers until one dies while the file of a fork has
// its temporary name. The next server lists only whole threads, including all acknowledged ones,
// and deletes the temporary file.
func TestCrashDuringForkLeavesWholeThreads(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home := t.TempDir()
	const turns = 1500
	thread := apptest.WriteLongRollout(t, home, turns)
	temporary := func() []string {
		paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.tmp"))
		require.NoError(t, err)
		return paths
	}
	known := []string{thread}
	for len(temporary()) == 0 {
		require.Less(t, len(known), 20, "no server was killed in time")
		c := apptest.StartOffline(t, home)
		id := c.SendRequest("thread/fork", apptest.Object{"threadId": thread, "excludeTurns": true})
		for start := time.Now(); len(temporary()) == 0 && len(c.Messages) == 0; {
			require.Less(t, time.Since(start), apptest.Timeout)
		}
		c.Signal(syscall.SIGKILL)
		c.Drain()
		for _, m := range c.Seen {
			if string(m.ID) == id {
				known = append(known, gjson.GetBytes(m.Result, "thread.id").Str)
			}
		}
	}

	c := apptest.StartOffline(t, home)
	var listed []string
	for _, id := range gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data.#.id").Array() {
		listed = append(listed, id.Str)
		require.Len(t, c.ReadThread(id.Str).Turns, turns+1)
	}
	require.Subset(t, listed, known)
	fork := c.CallThread("thread/fork", apptest.Object{"threadId": thread, "excludeTurns": true}).ID
	require.Equal(t, "completed", c.Turn(fork, "hello").Status)
	c.Close()
	require.Empty(t, temporary())
}

// TestCrashDuringThreadStartLeavesNoEmptyRollout kills servers that create threads. Each rollout
// has a line, lists report no warning, and the next list deletes temporary files.
func TestCrashDuringThreadStartLeavesNoEmptyRollout(t *testing.T) {
	t.Parallel()
	home, project := t.TempDir(), t.TempDir()
	for kill := range 6 {
		c := apptest.StartOffline(t, home)
		for range 20 {
			c.SendRequest("thread/start", apptest.Object{"cwd": project})
		}
		<-time.After(time.Duration(kill) * 2 * time.Millisecond) // a chosen moment of the kill
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

// filesNamed returns the files below sessions with a suffix.
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

// TestEmptyRolloutIsReported lists threads beside an empty rollout of another program. The list has
// a warning and the other threads, and new threads start.
func TestEmptyRolloutIsReported(t *testing.T) {
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

// TestCrashDuringArchiveLeavesOneCopy starts with a thread both archived and not, as a crash
// between the steps of a move leaves it. The first list removes one of the two.
func TestCrashDuringArchiveLeavesOneCopy(t *testing.T) {
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
