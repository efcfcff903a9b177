package app

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestFilesOfToolsAreBounded in number and size, and end with their thread.
func TestFilesOfToolsAreBounded(t *testing.T) {
	home := t.TempDir()
	files := newToolFiles(home, func(string) bool { return true })
	first, err := files.keep("thread", []byte("first"), ".bin")
	require.NoError(t, err)
	again, err := files.keep("thread", []byte("first"), ".bin")
	require.NoError(t, err)
	require.Equal(t, first, again)
	info, err := os.Stat(first)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
	require.NoError(t, os.Chtimes(first, time.Time{}, time.Now().Add(-time.Hour)))
	for i := range maxToolFiles {
		_, err := files.keep("thread", []byte{byte(i)}, ".bin")
		require.NoError(t, err)
	}
	require.NoFileExists(t, first, "the oldest one makes room")
	left, err := os.ReadDir(filepath.Dir(first))
	require.NoError(t, err)
	require.Len(t, left, maxToolFiles)

	_, err = files.keep("thread", make([]byte, maxToolBytes), ".bin")
	require.NoError(t, err)
	left, err = os.ReadDir(filepath.Dir(first))
	require.NoError(t, err)
	require.Len(t, left, 1)
	_, err = files.keep("thread", bytes.Repeat([]byte{1}, maxToolBytes+1), ".bin")
	require.ErrorContains(t, err, "64 MiB")

	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc"} {
		_, err := files.keep(name, []byte("x"), ".bin")
		require.Error(t, err, name)
		require.NoError(t, files.forget(name))
	}
	require.NoError(t, files.forget("thread"))
	require.NoDirExists(t, filepath.Dir(first))
}

// TestFilesOfThreadsThatDoNotExistAreSwept, but not those of yesterday's threads that exist.
func TestFilesOfThreadsThatDoNotExistAreSwept(t *testing.T) {
	home := t.TempDir()
	old := newToolFiles(home, func(string) bool { return true })
	folders := map[string]string{}
	for _, thread := range []string{"stored", "gone", "young"} {
		path, err := old.keep(thread, []byte("x"), ".bin")
		require.NoError(t, err)
		folders[thread] = filepath.Dir(path)
	}
	for _, thread := range []string{"stored", "gone"} {
		require.NoError(t, os.Chtimes(folders[thread], time.Time{}, time.Now().Add(-2*orphanAge)))
	}
	_, err := newToolFiles(home, func(thread string) bool { return thread == "stored" }).keep("new", []byte("x"), ".bin")
	require.NoError(t, err)
	require.DirExists(t, folders["stored"])
	require.DirExists(t, folders["young"])
	require.NoDirExists(t, folders["gone"])
}
