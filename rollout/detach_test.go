package rollout_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func TestDetachedLinesAreReadAfterTheLogIsClosed(t *testing.T) {
	mem := faultfs.NewMem(home)
	log, err := rollout.NewStore(mem, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 40), true))
	read, release, err := log.LineReader().Detach()
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(40, 41), true))
	require.NoError(t, log.Close())
	for _, n := range []int{0, 1, 2, 30, 39, 5, 0} {
		payload, err := read(n)
		require.NoError(t, err)
		require.JSONEq(t, string(line(n).Payload), string(payload))
	}
	release()
	release()
	require.Empty(t, mem.Held())
	_, err = read(0)
	require.ErrorContains(t, err, "the log is closed")
}

func TestLinesAreNotDetachedIfTheirPathLeadsToAnotherFile(t *testing.T) {
	mem := faultfs.NewMem(home)
	log, err := rollout.NewStore(mem, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 2), true))
	require.NoError(t, mem.Rename(log.Path(), log.Path()+".moved"))
	_, _, err = log.LineReader().Detach()
	require.ErrorIs(t, err, os.ErrNotExist)
	other, err := mem.OpenFile(log.Path(), os.O_CREATE|os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, other.Close())
	_, _, err = log.LineReader().Detach()
	require.ErrorIs(t, err, rollout.ErrChanged)
	require.NoError(t, log.Close())
}

func TestALineThatChangedIsAnErrorOfDetachedLines(t *testing.T) {
	mem := faultfs.NewMem(home)
	log, err := rollout.NewStore(mem, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 2), true))
	read, release, err := log.LineReader().Detach()
	require.NoError(t, err)
	defer release()
	file, err := mem.OpenFile(log.Path(), os.O_RDWR, 0o600)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(5))
	_, err = read(1)
	require.Error(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, log.Close())
}

// TestLinesAreReadInARow reads neighbouring lines, before and after an append and while payloads are kept.
func TestLinesAreReadInARow(t *testing.T) {
	log, err := rollout.NewStore(faultfs.NewMem(home), home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 40), true))
	kept := map[int]json.RawMessage{}
	read := func(numbers ...int) {
		for _, n := range numbers {
			require.Contains(t, string(log.LineReader().Peek(n)), string(line(n).Payload))
			kept[n] = log.LineReader().Payload(n)
		}
	}
	read(0, 1, 2, 3, 20, 19, 21, 22, 39)
	require.NoError(t, log.Append(linesFrom(40, 60), true))
	read(40, 41, 42, 59, 4, 5)
	require.NoError(t, log.LineReader().Err())
	for n, payload := range kept {
		require.JSONEq(t, string(line(n).Payload), string(payload))
	}
	reader := log.LineReader()
	require.Nil(t, reader.Peek(-1))
	require.Nil(t, reader.Peek(60))
	require.NoError(t, log.Close())
	require.Nil(t, reader.Peek(0))
}
