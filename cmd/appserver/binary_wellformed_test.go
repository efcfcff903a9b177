package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryWritesUTF8WhateverAThreadHolds lists, reads and resumes a thread with bytes that are
// no UTF-8 in all strings of its rollout, on pipes and on WebSockets.
func TestBinaryWritesUTF8WhateverAThreadHolds(t *testing.T) {
	t.Parallel()
	requests := func(t *testing.T, c *client) {
		c.call("thread/list", object{"modelProviders": []string{}})
		c.call("thread/read", object{"threadId": strangerID, "includeTurns": true})
		c.call("thread/resume", object{"threadId": strangerID, "modelProvider": "offline", "cwd": "/"})
		require.Equal(t, "completed", c.turn(strangerID, "hello").Status)
		var lines []string
		for _, m := range c.seen {
			lines = append(lines, m.line)
		}
		requireWellFormed(t, lines)
		require.Contains(t, strings.Join(lines, ""), "\uFFFD", "the strings are shown")
	}
	put := func(t *testing.T, home string) {
		path := rolloutName(home, strangerID)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(brokenRollout(strangerID)), 0o600))
	}
	t.Run("pipes", func(t *testing.T) {
		t.Parallel()
		home := t.TempDir()
		put(t, home)
		c := connect(t, offlineCommand(t, home), nil) // the rollout has items that no schema knows
		c.initialize()
		requests(t, c)
		c.close()
	})
	bothTransports(t, func(t *testing.T, listen string) {
		home := shortDir(t)
		put(t, home)
		h := startHost(t, home, listen)
		requests(t, h.welcome().client)
		h.end()
	})
}
