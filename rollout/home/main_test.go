package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/rollout/faultfs"
	"appserver/rollout/home"
)

var dir = filepath.FromSlash("/home/codex")

const (
	threadA  = "0190a6f8-1111-7aaa-8bbb-00000000000a"
	threadB  = "0190a6f8-1111-7aaa-8bbb-00000000000b"
	metaLine = `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{"id":"` + threadA +
		`"}}` + "\n"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// memHome returns a home on a file system in memory.
func memHome() (*home.Home, *faultfs.Mem) {
	mem := faultfs.NewMem(dir)
	return home.New(mem, dir, nil), mem
}

// put writes a file of the home, and its folders.
func put(t *testing.T, files disk.FS, path, content string) string {
	t.Helper()
	require.NoError(t, files.MkdirAll(filepath.Dir(path), 0o700))
	f, err := files.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path
}

func get(t *testing.T, files disk.FS, path string) string {
	t.Helper()
	f, err := files.OpenFile(path, 0, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(data)
}

// threads creates files of threads numbered from 0, each 13 hours after the one before.
func threads(t *testing.T, files disk.FS, h *home.Home, n int) {
	t.Helper()
	for i := range n {
		put(t, files, h.PathFor(idOf(i), begin.Add(time.Duration(i)*13*time.Hour)), "")
	}
}

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }
