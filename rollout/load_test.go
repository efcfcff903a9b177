package rollout_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout"
)

// FuzzLoad has arbitrary bytes as file and backup, like FuzzJoin. Reading in small chunks
// gives the same lines as in one, and each payload can be read again.
func FuzzLoad(f *testing.F) {
	for i, main := range joinSeeds {
		for _, backup := range joinSeeds {
			f.Add([]byte(main), []byte(backup), i%2 == 0, uint8(i*7))
		}
	}
	f.Fuzz(func(t *testing.T, main, backup []byte, named bool, size uint8) {
		if named {
			sum := crc32.Checksum(backup, crc32.MakeTable(crc32.Castagnoli))
			main = fmt.Appendf(main, "\n"+`{"type":"context_backup","payload":{"bytes":%d,"crc32c":%d}}`+"\n", len(backup), sum)
		}
		if len(main) == 0 {
			return // only a load restores the file from the backup
		}
		store, mem := memStore()
		path := put(t, mem, store.PathFor(threadA, begin), string(main))
		put(t, mem, path+".bak", string(backup))
		want, err := store.Read(path)
		require.NoError(t, err)
		requireLoaded(t, store.InChunks(1+int64(size), 1<<20, 1<<20), want)
		keeping := store.InChunks(1+int64(size), 1<<20, 1)
		requireLoaded(t, keeping, want)
		requireLoaded(t, keeping, want)
	})
}

// keeper is a Loader that keeps the lines. Its snapshots consist of the lines.
type keeper struct {
	text     *rollout.LineReader
	lines    []protocol.RolloutLine
	payloads []json.RawMessage
	// read counts the handled lines.
	read int
}

func (k *keeper) Begin(text *rollout.LineReader) rollout.LineHandler {
	k.text, k.lines = text, []protocol.RolloutLine{}
	return func(line *protocol.RolloutLine) {
		k.payloads = append(k.payloads, text.Payload(len(k.lines)))
		k.lines = append(k.lines, *line)
		k.read++
	}
}

func (k *keeper) Continue(text *rollout.LineReader, snapshot []byte) (rollout.LineHandler, bool) {
	take := k.Begin(text)
	var kept []keptLine
	err := gob.NewDecoder(bytes.NewReader(snapshot)).Decode(&kept)
	for _, l := range kept {
		k.lines = append(k.lines, protocol.RolloutLine{Timestamp: l.Timestamp, Ordinal: &l.Ordinal, Type: l.Type,
			Payload: l.Payload})
		k.payloads = append(k.payloads, l.Payload)
	}
	return take, err == nil
}

// keptLine is a line for gob, which does not encode a pointer to 0.
type keptLine struct {
	Timestamp, Type string
	Ordinal         int64
	Payload         []byte
}

func (k *keeper) Snapshot(to io.Writer) error {
	kept := []keptLine{}
	for _, l := range k.lines {
		kept = append(kept, keptLine{l.Timestamp, l.Type, *l.Ordinal, l.Payload})
	}
	return gob.NewEncoder(to).Encode(kept)
}

// requireLoaded loads a rollout and compares it with want.
func requireLoaded(t *testing.T, store *rollout.Store, want *rollout.Contents) *keeper {
	t.Helper()
	k := &keeper{}
	got, text, err := store.Load(want.Path, k)
	require.NoError(t, err)
	got.Lines = k.lines
	require.Equal(t, want, got)
	for i := range k.lines {
		require.Equal(t, string(k.lines[i].Payload), string(k.payloads[i]), "while it is loaded")
		require.Equal(t, string(k.lines[i].Payload), string(text.Payload(i)), "later")
	}
	require.Nil(t, text.Payload(-1))
	require.Nil(t, text.Payload(len(k.lines)))
	require.NoError(t, text.Err())
	require.NoError(t, text.Close())
	return k
}

func TestALineThatIsTooLongIsDamage(t *testing.T) {
	store, mem := memStore()
	long := `{"type":"long","payload":"` + strings.Repeat("x", 5000) + `"}` + "\n"
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+long+metaLine+long+long+metaLine)
	contents, text, err := store.InChunks(64, 1000, 1<<20).Load(path, &keeper{})
	require.NoError(t, err)
	require.Equal(t, int64(len(long)*3+len(metaLine)*3), contents.Size)
	require.Equal(t, []rollout.Damage{
		{Line: 2, Offset: int64(len(metaLine)), Reason: "not JSON"},
		{Line: 4, Offset: int64(2*len(metaLine) + len(long)), Reason: "not JSON"},
		{Line: 5, Offset: int64(2*len(metaLine) + 2*len(long)), Reason: "not JSON"},
	}, contents.Damage)
	for n := range 3 {
		require.JSONEq(t, `{"id":"`+threadA+`"}`, string(text.Payload(n)))
	}
	require.NoError(t, text.Close())
}

func TestAChangedLineIsReadAgain(t *testing.T) {
	store := rollout.NewStore(rollout.OS(), t.TempDir())
	path := put(t, rollout.OS(), store.PathFor(threadA, begin), metaLine)
	_, text, err := store.Load(path, &keeper{})
	require.NoError(t, err)
	overwrite(t, path, "")
	require.Nil(t, text.Payload(0))
	require.Error(t, text.Err())
	require.NoError(t, text.Close())
}

func TestAForkIsLoadedWithItsOrigin(t *testing.T) {
	store, mem := memStore()
	origin := bytes.NewBufferString(metaLine)
	for n := range 40 {
		fmt.Fprintf(origin, `{"ordinal":%d,"type":"event_msg","payload":{"n":%d}}`+"\n", n+1, n)
	}
	put(t, mem, store.PathFor(threadA, begin), origin.String())
	fork := `{"ordinal":0,"type":"session_meta","payload":{"id":"` + threadB + `","history_base":{"thread_id":"` +
		threadA + `","end_ordinal_exclusive":30}}}` + "\n" +
		`{"ordinal":30,"type":"event_msg","payload":{"n":"own"}}` + "\n"
	path := put(t, mem, store.PathFor(threadB, begin), fork)
	want, err := store.Read(path)
	require.NoError(t, err)
	require.Len(t, want.Lines, 31)
	requireLoaded(t, store.InChunks(50, 1000, 1), want)
	requireLoaded(t, store.InChunks(50, 1000, 1), want)
}

// panickingFS is a file system whose files panic when bytes after an offset are read.
type panickingFS struct {
	rollout.FS
	after int64
}

type panickingFile struct {
	disk.File
	after int64
}

func (p panickingFS) OpenFile(path string, flag int, perm fs.FileMode) (disk.File, error) {
	file, err := p.FS.OpenFile(path, flag, perm)
	return panickingFile{file, p.after}, err
}

func (p panickingFile) ReadAt(b []byte, offset int64) (int, error) {
	if offset > p.after {
		panic("read")
	}
	return p.File.ReadAt(b, offset)
}

// TestAPanicWhileLinesAreReadAheadPassesToTheCaller reads the first lines of a file.
func TestAPanicWhileLinesAreReadAheadPassesToTheCaller(t *testing.T) {
	_, mem := memStore()
	store := rollout.NewStore(panickingFS{mem, 300}, home).InChunks(200, 1<<20, 1<<20)
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+strings.Repeat(userLine("text"), 10))
	var k keeper
	require.PanicsWithValue(t, "read", func() { _, _, _ = store.Load(path, &k) })
	require.NotEmpty(t, k.lines)
}

// TestAPanicOfALoaderEndsTheLoad loads more lines than are read ahead. TestMain checks that no goroutine is left.
func TestAPanicOfALoaderEndsTheLoad(t *testing.T) {
	store, mem := memStore()
	path := put(t, mem, store.PathFor(threadA, begin), metaLine+strings.Repeat(userLine("text"), 10))
	store = store.InChunks(200, 1<<20, 1<<20)
	require.PanicsWithValue(t, "line", func() { _, _, _ = store.Load(path, panickingLoader{}) })
}

type panickingLoader struct{ rollout.Loader }

func (panickingLoader) Begin(*rollout.LineReader) rollout.LineHandler {
	return func(*protocol.RolloutLine) { panic("line") }
}
