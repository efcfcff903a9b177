package apptest

import (
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
	FilesDisk     FilesReason = "A full disk rejects turns, and loses no line that was stored"
)

// NeedsFiles skips a test of a part that belongs to files if the threads are in a database.
func NeedsFiles(t testing.TB, part FilesReason) {
	t.Helper()
	if UsesDatabase() {
		t.Skip("threads in a database: " + string(part))
	}
}

// RequireBackup requires that a rollout with excluded items was rewritten. A database keeps all lines.
func RequireBackup(t testing.TB, path string) {
	t.Helper()
	if !UsesDatabase() {
		require.FileExists(t, path+".bak", "the rollout was rewritten")
	}
}
