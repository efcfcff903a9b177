package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// TestExportedThreadCanBeImported imports a thread into another home. It is equal there, and
// continues.
func TestExportedThreadCanBeImported(t *testing.T) {
	t.Parallel()
	home, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "new")
	c := apptest.StartOffline(t, home)
	id := c.StartTrusted()
	c.Turn(id, "run: echo one")
	c.Turn(id, "two")
	c.Call("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 1, "summary": "One was printed."})
	want := apptest.PromptOf(c, id)
	c.Close()

	status, text, errs := apptest.Execute(t, home, "thread", "export", id)
	require.Zero(t, status, errs)
	require.Contains(t, text, "# run: echo one\n")
	require.Contains(t, text, "```console\n$ /bin/bash -lc 'echo one'\none\n```\n")
	require.Contains(t, text, "*Earlier messages: 2 taken out of the context*\n\n> One was printed.\n")
	status, page, errs := apptest.Execute(t, home, "thread", "--format=html", "export", "--last")
	require.Zero(t, status, errs)
	require.Contains(t, page, "<title>run: echo one</title>")
	file := filepath.Join(t.TempDir(), "thread.json")
	status, _, errs = apptest.Execute(t, home, "thread", "export", "--format", "json", "--out", file, id[:13])
	require.Zero(t, status, errs)
	status, _, errs = apptest.Execute(t, home, "thread", "export", "--out", file, id)
	require.NotZero(t, status)
	require.Contains(t, errs, "file exists")

	status, out, errs := apptest.Execute(t, elsewhere, "thread", "import", file)
	require.Zero(t, status, errs)
	require.Equal(t, id+"\n", out)
	status, again, errs := apptest.Execute(t, elsewhere, "thread", "export", "--last")
	require.Zero(t, status, errs)
	require.Equal(t, text, again)
	c = apptest.StartOffline(t, elsewhere)
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, want, apptest.PromptOf(c, id))
	require.Equal(t, "completed", c.Turn(id, "three").Status)
	c.Close()
	status, _, errs = apptest.Execute(t, elsewhere, "thread", "import", file)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "thread "+id+" exists already")
}

// TestImportAcceptsOtherVersions imports rollouts of other versions, and rejects other files.
func TestImportAcceptsOtherVersions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for version := range apptest.Corpus(t) {
		status, id, errs := apptest.Execute(t, home, "thread", "import",
			apptest.Root("test/apptest/testdata/corpus", version+".jsonl"))
		require.Zero(t, status, errs)
		status, text, errs := apptest.Execute(t, home, "thread", "export", strings.TrimSpace(id))
		require.Zero(t, status, errs)
		require.Contains(t, text, "\nfine\n", version)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.jsonl": "", "other.json": `{"lines":[]}`, "words.txt": "hello\n",
		"noMeta.jsonl": `{"timestamp":"2026-01-02T03:04:05Z","type":"event_msg","payload":{"type":"x"}}` + "\n",
		"noID.jsonl":   `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"../x"}}` + "\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		status, _, errs := apptest.Execute(t, home, "thread", "import", path)
		require.Equal(t, 1, status, name)
		require.Contains(t, errs, "thread import: ", name)
	}
	fifo := filepath.Join(dir, "fifo.jsonl")
	require.NoError(t, posix.Mkfifo(fifo, 0o600))
	status, _, errs := apptest.Execute(t, home, "thread", "import", fifo)
	require.Equal(t, 1, status)
	require.Contains(t, errs, "not a regular file")
	if apptest.UsesDatabase() {
		status, out, errs := apptest.Execute(t, home, "store", "status")
		require.Zero(t, status, errs)
		require.Contains(t, out, "\nthreads: 12\n", "a rejected import left a thread")
		return
	}
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*"))
	require.NoError(t, err)
	require.Len(t, paths, 12, "a rejected import left a file")
}

func TestThreadCommandRejectsWrongArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"thread nothing": `unknown command "thread nothing"`, "thread export": "THREAD is missing", "thread import": "FILE is missing",
		"thread import --last": "thread import has no flag --last",
		"thread export a b":    `"b"`, "thread export a --format pdf": "pdf", "thread export --no-such": "no-such",
	} {
		status, _, errs := apptest.Execute(t, t.TempDir(), strings.Fields(args)...)
		require.Equal(t, 2, status, args)
		require.Contains(t, errs, want, args)
	}
	status, out, _ := apptest.Execute(t, t.TempDir(), "thread")
	require.Zero(t, status)
	require.Contains(t, out, "Usage: appserver thread COMMAND")
	require.False(t, gjson.Valid(out))
}
