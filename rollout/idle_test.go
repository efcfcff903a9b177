package rollout_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// suspended returns a log with a line that its store has suspended.
func suspended(t *testing.T) (*rollout.Store, *faultfs.Mem, *rollout.Log) {
	t.Helper()
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, Count: 1, Err: syscall.EMFILE})
	store := rollout.NewStore(disk, home)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 2), true))
	log.SetIdle(true)
	path, err := store.Find(threadA)
	require.NoError(t, err, "a directory is read once the log has freed its descriptors")
	require.Equal(t, log.Path(), path)
	require.Equal(t, 1, disk.Failures())
	require.Empty(t, mem.Held())
	log.SetIdle(false)
	return store, mem, log
}

func TestIdleLogsFreeTheirDescriptorsWhenThereAreNoOthers(t *testing.T) {
	store, mem, log := suspended(t)
	require.NoError(t, log.Append(linesFrom(2, 3), true))
	require.NotEmpty(t, mem.Held())
	require.JSONEq(t, string(line(0).Payload), string(log.LineReader().Payload(0)))
	_, _, err := rollout.NewStore(mem, home).Open(log.Path())
	requireLocked(t, err)
	require.NoError(t, log.Close())
	contents, err := store.Read(log.Path())
	require.NoError(t, err)
	require.Equal(t, payloads(linesFrom(0, 3)), payloads(contents.Lines))
}

func TestBusyLogsKeepTheirDescriptors(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, Count: 2, Err: syscall.EMFILE})
	store := rollout.NewStore(disk, home)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	log.SetIdle(true)
	log.SetIdle(false)
	_, err = store.Find(threadA)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.NotEmpty(t, mem.Held())
	require.NoError(t, log.Close())
}

func TestLogsThatAreNotDurableAreNotSuspended(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpReadDir}, Count: 2, Err: syscall.EMFILE})
	store := rollout.NewStore(disk, home)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), false))
	log.SetIdle(true)
	_, err = store.Find(threadA)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.NotEmpty(t, mem.Held())
	require.NoError(t, log.Close())
}

func TestASuspendedLogYieldsToAnotherWriter(t *testing.T) {
	_, mem, log := suspended(t)
	other, contents, err := rollout.NewStore(mem, home).Open(log.Path())
	require.NoError(t, err)
	require.Len(t, contents.Lines, 2)
	requireLocked(t, log.Append(linesFrom(2, 3), true))
	require.NoError(t, other.Append(linesFrom(2, 3), true))
	require.NoError(t, other.Close())
	require.ErrorIs(t, log.Append(linesFrom(2, 3), true), rollout.ErrChanged, "another wrote to it")
	require.Empty(t, mem.Held())
	require.NoError(t, log.Close())
	require.Contains(t, get(t, mem, log.Path()), string(line(2).Payload))
}

func TestASuspendedLogOfAFileThatIsGoneCannotResume(t *testing.T) {
	_, mem, log := suspended(t)
	require.NoError(t, mem.Remove(log.Path()))
	require.ErrorIs(t, log.Resume(), rollout.ErrChanged)
	require.NoError(t, log.Close())
	require.Empty(t, mem.Held())
}

func TestASuspendedLogIsRewrittenWhenItCloses(t *testing.T) {
	store, mem, log := suspended(t)
	require.NoError(t, log.CloseRewritten(nil))
	require.Empty(t, mem.Held())
	_, _, err := store.Open(log.Path())
	require.NoError(t, err)
}

// TestAClosedReaderReportsAnError reads a line after its log was closed.
func TestAClosedReaderReportsAnError(t *testing.T) {
	log, err := rollout.NewStore(faultfs.NewMem(home), home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	reader := log.LineReader()
	require.NotNil(t, reader.Payload(0))
	require.NoError(t, log.Close())
	require.NoError(t, reader.Err())
	require.Nil(t, reader.Payload(0))
	require.ErrorContains(t, reader.Err(), "the log is closed")
}
