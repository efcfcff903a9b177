package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestCrashWhileAForkIsWritten kills servers while the file of a fork has its temporary name,
// until one was quick enough. The next server lists whole threads only, those that were told
// among them, and takes away what was left.
func TestCrashWhileAForkIsWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	const turns = 1500
	thread := writeLongRollout(t, home, turns)
	temporary := func() []string {
		paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.tmp"))
		require.NoError(t, err)
		return paths
	}
	told := []string{thread}
	for len(temporary()) == 0 {
		require.Less(t, len(told), 20, "it is never killed in time")
		c := startOffline(t, home)
		id := c.ask("thread/fork", object{"threadId": thread, "excludeTurns": true})
		for began := time.Now(); len(temporary()) == 0 && len(c.messages) == 0; {
			require.Less(t, time.Since(began), patience)
		}
		c.signal(syscall.SIGKILL)
		c.drain()
		for _, m := range c.seen {
			if string(m.ID) == id {
				told = append(told, gjson.GetBytes(m.Result, "thread.id").Str)
			}
		}
	}

	c := startOffline(t, home)
	var listed []string
	for _, id := range gjson.GetBytes(c.call("thread/list", object{}), "data.#.id").Array() {
		listed = append(listed, id.Str)
		require.Len(t, c.readThread(id.Str).Turns, turns+1)
	}
	require.Subset(t, listed, told)
	fork := c.threadOf("thread/fork", object{"threadId": thread, "excludeTurns": true}).ID
	require.Equal(t, "completed", c.turn(fork, "hello").Status)
	c.close()
	require.Empty(t, temporary())
}

// TestCrashBeforeTheFirstLine kills servers while they make threads: what has a rollout's name has
// a line, no list warns, and what has none is gone after the next list.
func TestCrashBeforeTheFirstLine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for kill := range 6 {
		c := startOffline(t, home)
		for range 20 {
			c.ask("thread/start", object{"cwd": "/"})
		}
		<-time.After(time.Duration(kill) * 2 * time.Millisecond) // the moment of the kill
		c.kill()
		for _, path := range filesNamed(t, home, ".jsonl") {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Positive(t, info.Size(), path)
		}
	}
	c := startOffline(t, home)
	c.call("thread/list", object{"archived": true})
	require.Empty(t, filesNamed(t, home, ".tmp"))
	c.close()
	require.Empty(t, c.warnings())
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
	c := startOffline(t, home)
	id := c.startTrusted()
	require.Equal(t, "completed", c.turn(id, "hello").Status)
	path := c.readThread(id).Path
	c.close()
	empty := filepath.Join(filepath.Dir(path), "rollout-2026-01-02T03-04-05-01a2019d-052a-7d2b-811b-698d750b0329.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))

	c = startOffline(t, home)
	require.Equal(t, `["`+id+`"]`, gjson.GetBytes(c.call("thread/list", object{}), "data.#.id").Raw)
	require.Equal(t, "completed", c.turn(c.startTrusted(), "hello").Status)
	c.close()
	require.Contains(t, strings.Join(c.warnings(), "\n"), empty+": it is empty: remove it")
}

// TestCrashBetweenTheStepsOfAMove leaves a thread in the archive and below sessions. The next
// server has it in one place, from its first list on.
func TestCrashBetweenTheStepsOfAMove(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := startOffline(t, home)
	id := c.startTrusted()
	require.Equal(t, "completed", c.turn(id, "hello").Status)
	path := c.readThread(id).Path
	for _, method := range []string{"thread/search", "thread/list"} {
		c.kill()
		archived := filepath.Join(home, "archived_sessions", filepath.Base(path))
		require.NoError(t, os.MkdirAll(filepath.Dir(archived), 0o700))
		require.NoError(t, os.Link(path, archived))
		c = startOffline(t, home)
		require.Equal(t, `[]`, gjson.GetBytes(c.call(method, object{"archived": true, "searchTerm": "hello"}), "data").Raw, method)
		require.NoFileExists(t, archived)
		require.Equal(t, `["`+id+`"]`, gjson.GetBytes(c.call("thread/list", object{}), "data.#.id").Raw)
	}
	require.Equal(t, "completed", c.threadOf("thread/resume", object{"threadId": id}).Turns[0].Status)
	c.call("thread/archive", object{"threadId": id})
	require.Equal(t, `["`+id+`"]`, gjson.GetBytes(c.call("thread/list", object{"archived": true}), "data.#.id").Raw)
	require.Equal(t, `[]`, gjson.GetBytes(c.call("thread/list", object{}), "data").Raw)
	c.close()
}
