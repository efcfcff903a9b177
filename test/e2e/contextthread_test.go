package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// otherID has the beginning of LegacyID and another end.
const otherID = "0199a213-81c0-7800-8aa1-bbab2a0300ff"

// TestContextFindsThreads accepts ids, their beginnings, names and paths.
func TestContextFindsThreads(t *testing.T) {
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	other := apptest.PutRollout(t, home, otherID, strings.ReplaceAll(apptest.LegacyRollout, apptest.LegacyID, otherID)+
		`{"timestamp":"2026-01-02T03:04:05Z","type":"event_msg","payload":{"type":"other"}}`+"\n")
	out, _ := apptest.ContextCommand(t, home, 0, "exclude", "--last", "0")
	require.Contains(t, out, "appserver context undo "+otherID+"\n", "its last line is the latest")
	apptest.ContextCommand(t, home, 0, "undo", otherID)
	for word, want := range map[string]string{
		apptest.LegacyID: apptest.LegacyID, strings.ToUpper(otherID): otherID, "2a035a53": apptest.LegacyID, "00FF": otherID,
		path: apptest.LegacyID, other: otherID,
	} {
		out, _ := apptest.ContextCommand(t, home, 0, "exclude", word, "0")
		require.Contains(t, out, "appserver context undo "+want+"\n", word)
		apptest.ContextCommand(t, home, 0, "undo", want)
	}
	_, errs := apptest.ContextCommand(t, home, 1, "list", "0199a213")
	require.Contains(t, errs, `the ids of 2 threads begin or end with "0199a213"`)
	require.Contains(t, errs, apptest.LegacyID+"  list \ufffd31mthe",
		"ids are distinct, and control characters are escaped")
	require.Contains(t, errs, otherID)
}

// TestContextFindsArchivedThreads finds threads in the archive.
func TestContextFindsArchivedThreads(t *testing.T) {
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	archived := filepath.Join(home, "archived_sessions", filepath.Base(path))
	require.NoError(t, os.Mkdir(filepath.Dir(archived), 0o700))
	require.NoError(t, os.Rename(path, archived))
	for _, word := range []string{apptest.LegacyID, "0199", archived} {
		apptest.ContextCommand(t, home, 0, "list", word)
	}
	_, errs := apptest.ContextCommand(t, home, 1, "list", "--last")
	require.Contains(t, errs, "there are no threads below "+home)
}

// TestContextExplainsMissingThreads names the next action.
func TestContextExplainsMissingThreads(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesPaths)
	t.Parallel()
	home, path := apptest.LegacyHome(t)
	foreign := apptest.PutRollout(t, t.TempDir(), apptest.LegacyID, apptest.LegacyRollout)
	unknown := apptest.PutRollout(t, t.TempDir(), otherID, apptest.LegacyRollout)
	nameless := filepath.Join(home, "some.jsonl")
	require.NoError(t, os.WriteFile(nameless, nil, 0o600))
	for word, want := range map[string]string{
		otherID:                    "there is no thread " + otherID + " below " + home,
		"ffff":                     `no thread below ` + home + ` has an id that begins or ends with "ffff"`,
		"\x1b[2J":                  "no thread below",
		foreign:                    "which is " + path,
		unknown:                    "there is no thread " + otherID,
		filepath.Join(home, "x/y"): "no such file",
		nameless:                   "has no thread id in its name",
		strings.Repeat("x", 36):    "is not a UUID",
	} {
		_, errs := apptest.ContextCommand(t, home, 1, "list", word)
		require.Contains(t, errs, "appserver: context list: ")
		require.Contains(t, errs, want)
		require.NotContains(t, errs, "\x1b")
	}
	_, errs := apptest.ContextCommand(t, home, 2, "exclude", "", "2")
	require.Contains(t, errs, "THREAD is empty")
	missing := filepath.Join(home, "gone")
	_, errs = apptest.ContextCommand(t, missing, 1, "list", apptest.LegacyID)
	require.Contains(t, errs, missing+" does not exist; set CODEX_HOME")
	require.NoDirExists(t, missing)
	_, errs = apptest.ContextCommand(t, t.TempDir(), 1, "usage", "--last")
	require.Contains(t, errs, "there are no threads below")
}

// TestContextRejectsEditsOfLockedThreads shows a thread that another process writes, and rejects
// edits.
func TestContextRejectsEditsOfLockedThreads(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	home, id, _ := newStoredThread(t)
	c := apptest.StartOffline(t, home)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	for _, args := range [][]string{{"exclude", id, "0"}, {"delete", id, "0", "--yes"},
		{"prune", id, "--category", "reasoning"}, {"restore", id}} {
		_, errs := apptest.ContextCommand(t, home, 1, args...)
		require.Contains(t, errs, "thread "+id+" already has an active writer: close it there")
	}
	out, _ := apptest.ContextCommand(t, home, 0, "list", id)
	require.Contains(t, out, "the first")
	apptest.ContextCommand(t, home, 0, "preview", id, "--category", "userMessage")
	c.Close()
	apptest.ContextCommand(t, home, 0, "exclude", id, "0")
}

// TestContextOnReadOnlyHome shows a thread, and rejects edits.
func TestContextOnReadOnlyHome(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesHome)
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	apptest.GiveHome(t, home)
	require.NoError(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		require.NoError(t, err)
		return os.Chmod(path, 0o555)
	}))
	t.Cleanup(func() { _ = os.Chmod(home, 0o700) })
	for _, args := range []string{"list --last", "usage --last", "prompt --last", "edits --last",
		"preview --last --category toolOutput"} {
		out, errs, status := contextAsNobody(t, home, args)
		require.Zero(t, status, errs)
		require.NotEmpty(t, out)
	}
	for _, args := range []string{"exclude --last 0", "delete --last 0 --yes", "prune --last --category toolOutput"} {
		out, errs, status := contextAsNobody(t, home, args)
		require.Equal(t, 1, status)
		require.Empty(t, out)
		require.Contains(t, errs, home)
		require.Contains(t, errs, "permission denied: give this user access to it")
	}
}

// contextAsNobody runs a context command as a user with the file permissions of others.
func contextAsNobody(t *testing.T, home, args string) (out, errs string, status int) {
	t.Helper()
	cmd := apptest.Unprivileged(t, apptest.ServerCommand(t, home,
		append([]string{"context"}, strings.Fields(args)...)...), home)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		require.NotNil(t, cmd.ProcessState, "%v", err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// TestContextEditWithoutReader writes the output of an edit to a full device. The edit is made, the
// command fails, and the thread is unlocked.
func TestContextEditWithoutReader(t *testing.T) {
	t.Parallel()
	home, _ := apptest.LegacyHome(t)
	cmd := apptest.ThroughShell(apptest.ServerCommand(t, home, "context", "exclude", apptest.LegacyID, "0"),
		`"$@" >/dev/full; test $? = 1`)
	require.NoError(t, cmd.Run())
	out, _ := apptest.ContextCommand(t, home, 0, "list", apptest.LegacyID)
	require.Contains(t, rowOf(t, out, "0 r1"), "excluded")
	_, err := os.Stat(filepath.Join(home, "thread-writer-locks", apptest.LegacyID+".lock"))
	require.ErrorIs(t, err, syscall.ENOENT)
}

// TestContextEditsThreadsThatAServerHasOpen edits a loaded thread through its server, by the control
// socket or the page. The journal names the command, and errors of the server are those of the command.
func TestContextEditsThreadsThatAServerHasOpen(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for name, start := range map[string]func(*testing.T, string) *apptest.Client{
		"socket": func(t *testing.T, home string) *apptest.Client {
			cmd := apptest.OfflineCommand(t, home, "--listen", "unix://")
			return apptest.LaunchDaemon(t, cmd, home).ConnectInitialized().Client
		},
		"page": func(t *testing.T, home string) *apptest.Client {
			return apptest.StartOffline(t, home, "--web", "127.0.0.1:0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := apptest.ShortDir(t)
			c := start(t, home)
			id := c.StartTrusted()
			c.Turn(id, "hello")
			out, _ := apptest.ContextCommand(t, home, 0, "exclude", id, "1")
			require.Contains(t, out, "1 item")
			require.False(t, c.ContextList(id).Items[1].Included)
			edits := c.CallJSON("context/listEdits", apptest.Object{"threadId": id}).Get("edits")
			require.Equal(t, "appserver", edits.Get("0.clientName").Str)
			_, errs := apptest.ContextCommand(t, home, 1, "redo", id)
			require.Contains(t, errs, "there is no undone edit")
		})
	}
}
