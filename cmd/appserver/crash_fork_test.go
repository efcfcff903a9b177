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

// TestCrashBeforeTheFirstLine finds the file of a thread that nobody was told of, with nothing in
// it: lists warn of it and go on without it, and it is in nobody's way.
func TestCrashBeforeTheFirstLine(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := startOffline(t, home)
	id := c.startTrusted()
	require.Equal(t, "completed", c.turn(id, "hello").Status)
	path := c.readThread(id).Path
	c.kill()
	empty := filepath.Join(filepath.Dir(path), "rollout-2026-01-02T03-04-05-01a2019d-052a-7d2b-811b-698d750b0329.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))

	c = startOffline(t, home)
	require.Equal(t, `["`+id+`"]`, gjson.GetBytes(c.call("thread/list", object{}), "data.#.id").Raw)
	require.Equal(t, "completed", c.turn(c.startTrusted(), "hello").Status)
	c.close()
	require.Contains(t, strings.Join(c.warnings(), "\n"), empty+": it is empty: remove it")
}
