package rollout_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// conversation returns the lines of thread A.
func conversation(t *testing.T) []protocol.RolloutLine {
	mem := faultfs.NewMem(home)
	put(t, mem, home+"/elsewhere/rollout-2026-01-02T03-04-05-"+threadA+".jsonl",
		metaOfA+itemLine("user", "hi")+itemLine("assistant", "yes?"))
	contents, err := rollout.NewStore(mem,
		home).Read(home + "/elsewhere/rollout-2026-01-02T03-04-05-" + threadA + ".jsonl")
	require.NoError(t, err)
	require.Len(t, contents.Lines, 3)
	return contents.Lines
}

func TestImport(t *testing.T) {
	mem := faultfs.NewMem(home)
	store := rollout.NewStore(mem, home)
	lines := conversation(t)
	path, err := store.Import(lines)
	require.NoError(t, err)
	contents, err := store.Read(path)
	require.NoError(t, err)
	require.Equal(t, lines, contents.Lines)
	require.Empty(t, mem.Held())

	var exists *rollout.ExistsError
	_, err = store.Import(lines)
	require.ErrorAs(t, err, &exists)
	_, err = store.Archive(path)
	require.NoError(t, err)
	_, err = store.Import(lines)
	require.ErrorAs(t, err, &exists, "an archived thread is there, too")
	for _, wrong := range [][]protocol.RolloutLine{nil, lines[1:]} {
		_, err = store.Import(wrong)
		require.ErrorContains(t, err, "not session_meta")
	}
}

// TestImportFails fails each operation in turn. A failed import leaves nothing behind.
func TestImportFails(t *testing.T) {
	lines := conversation(t)
	for n := 0; ; n++ {
		mem := faultfs.NewMem(home)
		disk := faultfs.Wrap(mem, faultfs.Fault{First: n, Count: 1, Err: syscall.ENOSPC})
		path, err := rollout.NewStore(disk, home).Import(lines)
		sound := rollout.NewStore(mem, home)
		found, lost := sound.Find(threadA)
		require.Empty(t, mem.Held())
		if err != nil {
			require.Error(t, lost, "operation %d fails: %v", n, err)
			continue
		}
		require.Equal(t, path, found)
		contents, err := sound.Read(found)
		require.NoError(t, err)
		require.Equal(t, lines, contents.Lines)
		if disk.Failures() == 0 {
			return
		}
	}
}
