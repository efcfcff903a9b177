package e2e

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// readmeBlockAfter returns the first indented block after a line of README.md.
func readmeBlockAfter(t *testing.T, behind string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(apptest.Root("README.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), behind)
	require.True(t, found, behind)
	for line := range strings.Lines(rest) {
		example, shown := strings.CutPrefix(line, "    ")
		switch {
		case shown:
			lines = append(lines, strings.TrimSpace(example))
		case len(lines) > 0:
			return lines
		}
	}
	return lines
}

// commandLine returns the words of a command in README.md, without its comment.
func commandLine(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	return strings.Fields(line)
}

// TestReadmeCommandsStart runs the commands in the README and closes their input.
func TestReadmeCommandsStart(t *testing.T) {
	t.Parallel()
	ran := 0
	for _, line := range readmeBlockAfter(t, "## Use") {
		args := commandLine(line)
		endless := strings.Contains(line, "--listen") || slices.Contains(args, "web") // they do not end with their input
		if args[0] != "bin/appserver" || endless || slices.Contains(args, "models") {
			continue
		}
		ran++
		status, out, errs := apptest.Execute(t, t.TempDir(), args[1:]...)
		require.Zero(t, status, "%s: %s", line, errs)
		require.Empty(t, out, line)
	}
	require.Equal(t, 3, ran)
}

// TestReadmeSessionWorks sends the lines that the README shows.
func TestReadmeSessionWorks(t *testing.T) {
	t.Parallel()
	c := apptest.StartProcess(t, apptest.ServerCommand(t, t.TempDir(), "-c", "model_provider=offline"))
	id := ""
	for _, line := range readmeBlockAfter(t, "A session by hand:") {
		line = strings.ReplaceAll(strings.ReplaceAll(line, "/path/to/project", t.TempDir()), "…", id)
		c.Write(line)
		var m apptest.Message
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		if m.ID == nil {
			continue
		}
		answer := c.UntilResponse(string(m.ID))
		require.Nil(t, answer.Error, answer.Line)
		if m.Method == "thread/start" {
			var started struct{ Thread struct{ ID string } }
			require.NoError(t, json.Unmarshal(answer.Result, &started))
			id = started.Thread.ID
		}
	}
	require.Equal(t, "completed", c.AwaitTurn().Status)
	c.Close()
}

// TestReadmeContextCommandsWork runs the commands on a thread that has the named items.
func TestReadmeContextCommandsWork(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	for range 9 {
		c.Turn(id, "run: echo hello")
	}
	items := c.ContextList(id).Items
	require.Greater(t, len(items), 34)
	c.Close()
	for _, line := range readmeBlockAfter(t, "## Context from the command line") {
		args := commandLine(line)
		require.Equal(t, "appserver", args[0], line)
		args = strings.Fields(strings.ReplaceAll(strings.Join(args[1:], " "), "r22", items[22].ID))
		if args[1] == "edit" {
			t.Run("edit", func(t *testing.T) {
				p := startPane(t, home, 80, 24, nil, args...)
				p.await("run: echo hello", "q quit")
				p.press("q")
				p.awaitEnd(0)
			})
			continue
		}
		status, out, errs := apptest.Execute(t, home, args...)
		require.Zero(t, status, "%s: %s", line, errs)
		require.NotEmpty(t, out, line)
	}
}
