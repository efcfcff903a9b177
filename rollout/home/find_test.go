package home_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/faultfs"
	"appserver/rollout/home"
)

func TestFind(t *testing.T) {
	h, mem := memHome()
	threads(t, mem, h, 5)
	archived := put(t, mem, filepath.Join(dir, "archived_sessions", filepath.Base(h.PathFor(threadA, begin))), metaLine)
	odd := put(t, mem, filepath.Join(dir, "sessions", "moved", "rollout-x-"+threadB+".jsonl"), metaLine)
	path, err := h.Find(idOf(3))
	require.NoError(t, err)
	require.Equal(t, h.PathFor(idOf(3), begin.Add(39*time.Hour)), path)
	path, err = h.Find(threadA)
	require.NoError(t, err)
	require.Equal(t, archived, path)
	path, err = h.Find(threadB)
	require.NoError(t, err)
	require.Equal(t, odd, path)
	for _, id := range []string{idOf(99), "", "x", "*"} {
		_, err = h.Find(id)
		var missing *home.NotFoundError
		require.ErrorAs(t, err, &missing)
		require.EqualError(t, err, "no rollout found for thread id "+id)
	}
}

func TestFindReportsUnreadableFolders(t *testing.T) {
	mem := faultfs.NewMem(dir)
	threads(t, mem, home.New(mem, dir, nil), 3)
	files := faultfs.Wrap(
		mem,
		faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, First: 3, Count: 1, Err: syscall.EMFILE},
	)
	_, err := home.New(files, dir, nil).Find(idOf(99))
	require.ErrorIs(t, err, syscall.EMFILE)
}
