package rollout

import (
	"bufio"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
)

const (
	// cacheDir holds what can be made again of rollouts, in a file per thread. It can be
	// deleted at any time.
	cacheDir = "appserver-cache"
	// bookmarkForm changes with the form of bookmarks.
	snapshotCacheForm = 1
	// bookmarkFrom is how much must have been read to be worth a bookmark, in bytes.
	snapshotCacheMin = 16 << 20
	// sampled is how many lines are compared before a bookmark is believed.
	sampled = 64
)

// bookmark says how far a rollout was read. In its file, the snapshot of what was read so
// far follows, and the checksum of both. Offsets are those of the full log: what is before
// them may have become the backup's since.
type snapshotCache struct {
	Form int
	// Reader is the program that made the snapshot.
	Reader string
	// Size is how much of the log was read, which ended with LF, and Lines how many lines
	// that were.
	Size  int64
	Lines int
	// ModTime is when the file was changed last, in Unix nanoseconds.
	ModTime int64
	// Offset and Length are those of the sound lines, Samples the checksums of some.
	Offset  []int64
	Length  []uint32
	Samples []uint32
	Damage  []Damage
	Next    int64
	Above   int64
	Marked  bool
	Sum     Summary
	// Marker is the payload of the last context_backup line, nil without one.
	Marker json.RawMessage
}

func (s *Store) snapshotCachePath(id string) string { return filepath.Join(s.home, cacheDir, id) }

// forget removes what was kept of a thread's rollout beside it.
func (s *Store) removeSnapshotCache(id string) {
	_ = s.disk.Remove(s.snapshotCachePath(id)) // it can be made again, and may not be there
}

// goToBookmark goes on in a stretch behind the bookmark that its thread has, if any.
func (l *loading) readSnapshotCache(s *span) {
	file, info, err := l.store.open(l.store.snapshotCachePath(l.ThreadID), os.O_RDONLY)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	body := info.Size() - crc32.Size
	if body < 0 || !l.store.hasValidChecksum(file, body) {
		return
	}
	in := bufio.NewReader(io.NewSectionReader(file, 0, body))
	var b snapshotCache
	if gob.NewDecoder(in).Decode(&b) == nil && b.Form == snapshotCacheForm && b.Reader == l.store.SnapshotVersion && len(b.Length) == len(b.Offset) {
		l.resumeFrom(&b, s, in)
	}
}

// sound tells whether a file's content has the checksum that follows it.
func (s *Store) hasValidChecksum(file File, size int64) bool {
	sum := newSum()
	for c, err := range s.chunks(file, 0, size) {
		if err != nil || c.omitted > 0 {
			return false
		}
		_, _ = sum.Write(c.data) // a hash takes all
	}
	var want [crc32.Size]byte
	n, _ := file.ReadAt(want[:], size)
	return n == len(want) && binary.BigEndian.Uint32(want[:]) == sum.Sum32()
}

func newSum() hash.Hash32 { return crc32.New(crc32.MakeTable(crc32.Castagnoli)) }

// goTo goes on behind a bookmark, if it is one of this file.
func (l *loading) resumeFrom(b *snapshotCache, s *span, snapshot io.Reader) {
	rewritten := b.Size == s.to && s.file == l.file && b.ModTime != l.ModTime.UnixNano()
	if b.Size > s.to || rewritten {
		return
	}
	l.lines.positions = make([]linePosition, len(b.Offset))
	for i := range b.Offset {
		l.lines.positions[i] = linePosition{b.Offset[i], b.Length[i], s.file}
	}
	if !slices.Equal(l.lines.samples(), b.Samples) || !l.resume(snapshot) {
		l.lines.positions = nil
		return
	}
	s.from, s.lines = b.Size, b.Lines
	l.Next, l.maxNext, l.marked, l.Damage, *l.summary = b.Next, b.Above, b.Marked, b.Damage, b.Sum
	for i := range l.Damage {
		l.Damage[i].Path = s.path
	}
	if b.Marker != nil {
		l.marker = &marker{payload: b.Marker}
	}
}

// samples are the checksums of some lines, the first and the last among them; that of a line
// which cannot be read is of zeros.
func (t *LineReader) samples() (sums []uint32) {
	n := len(t.positions)
	for k := range min(n, sampled) {
		p := t.positions[k*(n-1)/max(min(n, sampled)-1, 1)]
		raw := make([]byte, p.size)
		_, _ = t.files[p.file].ReadAt(raw, p.offset)
		sums = append(sums, checksum(raw))
	}
	return sums
}

// keepBookmark writes one at the end of a stretch whose lines are all that were taken. That
// fails without a word: the next reader reads more. What two write at once is no bookmark,
// or that of one.
func (l *loading) saveSnapshotCache(s *span) {
	path := l.store.snapshotCachePath(l.ThreadID)
	sub := tempFile{l.store, path + temporarySuffix}
	if sub.remove() != nil {
		return
	}
	file, err := l.store.create(sub.path)
	if err != nil {
		return
	}
	if err = firstError(l.writeSnapshotCache(file, s), file.Close()); err == nil {
		err = l.store.disk.Rename(sub.path, path)
	}
	if err != nil {
		_ = sub.remove()
	}
}

func (l *loading) writeSnapshotCache(file File, s *span) error {
	sum := newSum()
	out := bufio.NewWriterSize(io.MultiWriter(file, sum), writeSize)
	err := firstError(gob.NewEncoder(out).Encode(l.newSnapshotCache(s)), l.keep(out), out.Flush())
	if err == nil {
		_, err = file.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	}
	return err
}

// mark is the bookmark of the lines that were taken.
func (l *loading) newSnapshotCache(s *span) *snapshotCache {
	b := &snapshotCache{
		Form: snapshotCacheForm, Reader: l.store.SnapshotVersion, Size: s.to, Lines: s.lines, ModTime: l.ModTime.UnixNano(), Damage: l.Damage,
		Samples: l.lines.samples(), Next: l.Next, Above: l.maxNext, Marked: l.marked, Sum: *l.summary,
	}
	if l.marker != nil {
		b.Marker = l.marker.payload
	}
	for _, p := range l.lines.positions {
		b.Offset, b.Length = append(b.Offset, p.offset), append(b.Length, p.size)
	}
	return b
}
