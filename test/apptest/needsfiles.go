package apptest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// FilesReason is a part of the server that belongs to files. docs/fleet.md has a row for each.
type FilesReason string

// The parts that belong to files.
const (
	FilesLines    FilesReason = "Damaged, unreadable and foreign rollouts are read as far as possible, and reported"
	FilesBackup   FilesReason = "Excluded items leave the rollout of an unloaded thread, and stay in its backup"
	FilesCommands FilesReason = "`appserver rollout`"
	FilesTimes    FilesReason = "A thread is as old as its file (`history.maxAge`)"
	FilesIndex    FilesReason = "The index of rollouts, and its state in `server/diagnostics`"
	FilesPaths    FilesReason = "A command names a thread by the path of its rollout"
	FilesHome     FilesReason = "Threads of a read-only home can be read"
	FilesExchange FilesReason = "The reference implementation continues the threads of the server, and the server its threads"
	FilesDisk     FilesReason = "A full disk rejects turns, and loses no line that was stored"
)

// skipsVariable is the environment variable with the name of a file to which the skipped tests are appended. make
// prints it, because the go command hides the output of tests that pass.
const skipsVariable = "APPSERVER_TEST_SKIPS"

// skipped are the tests that were skipped, each with its part.
var skipped struct {
	mu    sync.Mutex
	lines []string
}

// NeedsFiles skips a test of a part that belongs to files if the threads are in a database.
func NeedsFiles(t testing.TB, part FilesReason) {
	t.Helper()
	if !UsesDatabase() {
		return
	}
	skipped.mu.Lock()
	skipped.lines = append(skipped.lines, fmt.Sprintf("%s: %s\n", part, t.Name()))
	skipped.mu.Unlock()
	t.Skip("threads in a database: " + string(part))
}

// reportSkipped prints the skipped tests, or appends them to the file of make.
func reportSkipped() (err error) {
	skipped.mu.Lock()
	defer skipped.mu.Unlock()
	slices.Sort(skipped.lines)
	out := os.Stdout
	if path := os.Getenv(skipsVariable); path != "" {
		if out, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
	}
	_, err = out.WriteString(strings.Join(skipped.lines, ""))
	return err
}

// RequireBackup requires that a rollout with excluded items was rewritten. A database keeps all lines.
func RequireBackup(t testing.TB, path string) {
	t.Helper()
	if !UsesDatabase() {
		require.FileExists(t, path+".bak", "the rollout was rewritten")
	}
}
