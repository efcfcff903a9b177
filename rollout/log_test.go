package rollout_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

const createNew = os.O_RDWR | os.O_APPEND | os.O_CREATE | os.O_EXCL

func TestAppendWritesOneObjectALine(t *testing.T) {
	store, mem := memStore()
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	ordinal := int64(7)
	require.NoError(t, log.Append([]protocol.RolloutLine{
		{Timestamp: "T", Ordinal: &ordinal, Type: "session_meta", Payload: json.RawMessage(`{"a":"<&>"}`)},
		{Timestamp: `"`, Type: "a\nb", Payload: json.RawMessage("[1,\n 2]")},
	}, true))
	require.Equal(t, `{"timestamp":"T","ordinal":7,"type":"session_meta","payload":{"a":"<&>"}}`+"\n"+
		`{"timestamp":"\"","type":"a\nb","payload":[1,2]}`+"\n", get(t, mem, log.Path()))
	require.NoError(t, log.Close())
}

func TestAppendLeavesInOneWrite(t *testing.T) {
	disk := faultfs.Wrap(faultfs.NewMem(home),
		faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: 1, Err: syscall.EIO})
	log, err := rollout.NewStore(disk, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 100), false), "the second write would have failed")
	require.NoError(t, log.Close())
}

func TestAppendRefusesWhatCouldNotBeReadBack(t *testing.T) {
	store, mem := memStore()
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	for _, bad := range []protocol.RolloutLine{
		{Type: "event_msg", Payload: json.RawMessage(`{"cut":`)},
		{Type: "event_msg"},
		{Payload: json.RawMessage(`{}`)},
	} {
		require.ErrorContains(t, log.Append([]protocol.RolloutLine{line(0), bad}, true), "line 1")
	}
	require.Empty(t, mem.Files(home), "all or nothing")
	require.NoError(t, log.Close())
}

func TestNothingTouchesTheDiskBeforeTheFirstAppend(t *testing.T) {
	store, mem := memStore()
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(nil, true))
	require.NoError(t, log.Close())
	require.Empty(t, mem.Files(home))
	entries, err := mem.ReadDir(home)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	log, err := rollout.NewStore(rollout.OS(), dir).Create(threadA, begin)
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "sessions/2026/01/02/rollout-2026-01-02T03-04-05-"+threadA+".jsonl"), log.Path())
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	require.NoError(t, log.Close())
	for path, mode := range map[string]fs.FileMode{
		log.Path():                           0o600,
		filepath.Dir(log.Path()):             0o700 | fs.ModeDir,
		dir:                                  0o700 | fs.ModeDir,
		filepath.Join(dir, "sessions"):       0o700 | fs.ModeDir,
		filepath.Join(dir, "sessions", "20"): 0,
	} {
		info, err := os.Stat(path)
		if mode == 0 {
			require.ErrorIs(t, err, fs.ErrNotExist)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode(), path)
	}
}

func TestCreateNeverTouchesAnExistingFile(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	err = log.Append(linesFrom(0, 1), true)
	require.ErrorIs(t, err, fs.ErrExist)
	require.ErrorContains(t, err, path)
	require.NoError(t, log.Close())
	require.Equal(t, metaLine, get(t, mem, path))
}

func TestCreateWantsAUUID(t *testing.T) {
	store, _ := memStore()
	for _, id := range []string{"", "..", "../../../../etc/passwd-0000-0000-0000", "{" + threadA + "}",
		"urn:uuid:" + threadA, threadA + "x"} {
		_, err := store.Create(id, begin)
		var bad *rollout.NameError
		require.ErrorAs(t, err, &bad, id)
	}
}

func TestOpenAppendsAfterExistingLines(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine)
	log, contents, err := store.Open(path)
	require.NoError(t, err)
	require.Len(t, contents.Lines, 1)
	require.EqualValues(t, 1, contents.Next)
	require.NoError(t, log.Append([]protocol.RolloutLine{line(1)}, true))
	require.NoError(t, log.Append([]protocol.RolloutLine{line(2)}, false))
	require.NoError(t, log.Close())
	contents, err = store.Read(path)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2}, ordinals(contents))
	require.Equal(t, threadA, contents.ThreadID)
}

func TestOpenClosesOffATornTail(t *testing.T) {
	for name, tail := range map[string]string{
		"cut in a line":     `{"timestamp":"x","type":"event_msg","payl`,
		"cut before the LF": `{"timestamp":"x","type":"event_msg","payload":{"type":"test"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			store, mem := memStore()
			path := put(t, mem, store.PathFor(threadA, begin), metaLine+tail)
			log, before, err := store.Open(path)
			require.NoError(t, err)
			require.Equal(t, metaLine+tail, get(t, mem, path), "opening changes nothing")
			require.NoError(t, log.Append(linesFrom(2, 3), true))
			require.NoError(t, log.Append(linesFrom(3, 4), true))
			require.NoError(t, log.Close())
			content := get(t, mem, path)
			require.Equal(t, metaLine+tail+"\n", content[:len(metaLine+tail)+1])
			require.NotContains(t, content, "\n\n", "closed off once")
			after, err := store.Read(path)
			require.NoError(t, err)
			require.Equal(t, append(payloads(before.Lines), payloads(linesFrom(2, 4))...), payloads(after.Lines))
		})
	}
}

func TestOpenWantsAThreadsName(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, filepath.Join(home, "notes.jsonl"), metaLine)
	_, _, err := store.Open(path)
	var bad *rollout.NameError
	require.ErrorAs(t, err, &bad)
	contents, err := store.Read(path)
	require.NoError(t, err, "looking is allowed")
	require.Empty(t, contents.ThreadID)
}

func TestCloseIsFinalAndIdempotent(t *testing.T) {
	store, mem := memStore()
	log, err := store.Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), false))
	require.NoError(t, log.Close())
	require.NoError(t, log.Close())
	require.Empty(t, mem.Held())
	require.ErrorContains(t, log.Append(linesFrom(1, 2), false), "closed")
	contents, err := store.Read(log.Path())
	require.NoError(t, err)
	require.Len(t, contents.Lines, 1)
}

func TestAFileWithoutALineDoesNotStay(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, Count: -1, Err: syscall.ENOSPC,
		Partial: true})
	log, err := rollout.NewStore(disk, home).Create(threadA, begin)
	require.NoError(t, err)
	require.ErrorIs(t, log.Append(linesFrom(0, 1), true), syscall.ENOSPC)
	require.Len(t, mem.Files(filepath.Join(home, "sessions")), 1)
	require.NoError(t, log.Close())
	require.Empty(t, mem.Files(filepath.Join(home, "sessions")))
}

func TestCloseKeepsAnEmptyFileThatItFound(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), "")
	log, contents, err := store.Open(path)
	require.NoError(t, err)
	require.Empty(t, contents.Lines)
	require.NoError(t, log.Close())
	require.Equal(t, []string{path}, mem.Files(filepath.Join(home, "sessions")))
}

func TestAFullDiskIsReportedAndRecovers(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: -1,
		Err: syscall.ENOSPC, Partial: true})
	log, err := rollout.NewStore(disk, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	before := get(t, mem, log.Path())
	for range 3 {
		err = log.Append(linesFrom(1, 3), true)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, log.Path())
		require.ErrorContains(t, err, "free space")
		require.Equal(t, before, get(t, mem, log.Path()), "cut back to the last whole line")
	}
	disk.Heal()
	require.NoError(t, log.Append(linesFrom(1, 3), true))
	require.NoError(t, log.Close())
	contents, err := rollout.NewStore(mem, home).Read(log.Path())
	require.NoError(t, err)
	require.Equal(t, payloads(linesFrom(0, 3)), payloads(contents.Lines))
	require.Empty(t, contents.Damage)
}

func TestWhatCannotBeCutIsClosedOff(t *testing.T) {
	mem := faultfs.NewMem(home)
	failing := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpTruncate}, Count: -1, Err: syscall.EPERM})
	disk := faultfs.Wrap(failing,
		faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: 1, Err: syscall.EIO, Partial: true})
	log, err := rollout.NewStore(disk, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	require.ErrorIs(t, log.Append(linesFrom(1, 2), true), syscall.EIO)
	require.NoError(t, log.Append(linesFrom(1, 2), true))
	require.NoError(t, log.Close())
	contents, err := rollout.NewStore(mem, home).Read(log.Path())
	require.NoError(t, err)
	require.Equal(t, payloads(linesFrom(0, 2)), payloads(contents.Lines))
	require.Len(t, contents.Damage, 1, "the half that could not be cut off")
}

func TestACutThatFailedIsTriedAgain(t *testing.T) {
	for name, then := range map[string]func(*rollout.Log) error{
		"by the next append": func(log *rollout.Log) error { return log.Append(linesFrom(1, 2), true) },
		"by close":           (*rollout.Log).Close,
	} {
		t.Run(name, func(t *testing.T) {
			mem := faultfs.NewMem(home)
			failing := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpTruncate}, Count: 1, Err: syscall.EIO})
			disk := faultfs.Wrap(failing,
				faultfs.Fault{Only: []faultfs.Op{faultfs.OpWrite}, First: 1, Count: 1, Err: syscall.EIO, Partial: true})
			log, err := rollout.NewStore(disk, home).Create(threadA, begin)
			require.NoError(t, err)
			require.NoError(t, log.Append(linesFrom(0, 1), true))
			require.ErrorIs(t, log.Append(linesFrom(1, 2), true), syscall.EIO)
			require.NoError(t, then(log))
			contents, err := rollout.NewStore(mem, home).Read(log.Path())
			require.NoError(t, err)
			require.Empty(t, contents.Damage)
			require.False(t, contents.Torn)
			require.NoError(t, log.Close())
		})
	}
}

func TestAFailedSyncTakesItsLinesBack(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpSync}, First: 1, Count: 1, Err: syscall.EIO})
	log, err := rollout.NewStore(disk, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), true))
	require.ErrorIs(t, log.Append(linesFrom(1, 2), true), syscall.EIO)
	contents, err := rollout.NewStore(mem, home).Read(log.Path())
	require.NoError(t, err)
	require.Len(t, contents.Lines, 1)
	require.NoError(t, log.Append(linesFrom(1, 2), true))
	require.NoError(t, log.Close())
}

func TestAppendOfNothingSyncsWhatWaits(t *testing.T) {
	mem := faultfs.NewMem(home)
	disk := faultfs.Wrap(mem, faultfs.Fault{Only: []faultfs.Op{faultfs.OpSync}, First: 0, Count: 1, Err: syscall.EIO})
	log, err := rollout.NewStore(disk, home).Create(threadA, begin)
	require.NoError(t, err)
	require.NoError(t, log.Append(linesFrom(0, 1), false), "no sync was asked for")
	require.ErrorIs(t, log.Append(nil, true), syscall.EIO)
	require.NoError(t, log.Append(nil, true))
	require.NoError(t, log.Close())
}
