package command

import (
	"os"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// minCommands is the least number of commands in the table.
const minCommands = 150

// TestReadingTable checks the verdicts of testdata/reading.txt. test/sandbox runs the same table on the server.
func TestReadingTable(t *testing.T) {
	text, err := os.ReadFile("testdata/reading.txt")
	require.NoError(t, err)
	words := map[string]Reading{"asks": MayWrite, "confined": ReadsConfined, "reads": ReadsAnywhere}
	count := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.SplitN(line, "\t", 4)
		require.Len(t, columns, 4, line)
		require.Contains(t, words, columns[0], line)
		shell, dir, script := columns[1], columns[2], strings.ReplaceAll(columns[3], "@PID@", "4242")
		if shell == "-" {
			shell = "/bin/bash"
		}
		if !path.IsAbs(dir) {
			dir = path.Join("/home/me/work", strings.TrimPrefix(dir, "-"))
		}
		if unquoted, err := strconv.Unquote(script); err == nil {
			script = unquoted
		}
		require.Equal(t, words[columns[0]], ReadingFor(shell, dir, script), line)
		count++
	}
	require.GreaterOrEqual(t, count, minCommands)
}

// TestReadingDoesNotDependOnTheDirectoryName requires that folders named like /proc and /dev do not matter.
func TestReadingDoesNotDependOnTheDirectoryName(t *testing.T) {
	for dir, want := range map[string]Reading{
		"/home/dev/work": ReadsConfined, "/home/me/processor": ReadsConfined, "/home/me/dev": ReadsConfined,
		"/proc": MayWrite, "/proc/1": MayWrite, "/repo/../proc/1/": MayWrite, "/dev/fd": MayWrite, "/dev": MayWrite,
		"/host/proc/1": MayWrite, "/": ReadsConfined,
	} {
		require.Equal(t, want, ReadingIn(dir, "cat environ"), dir)
	}
}
