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
	bookmarkForm = 1
	// bookmarkFrom is how much must have been read to be worth a bookmark, in bytes.
	bookmarkFrom = 16 << 20
	// sampled is how many lines are compared before a bookmark is believed.
	sampled = 64
)

// bookmark says how far a rollout was read. In its file, the snapshot of what was read so
// far follows, and the checksum of both. Offsets are those of the full log: what is before
// them may have become the backup's since.
type bookmark struct {
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

func (s *Store) bookmarkPath(id string) string { return filepath.Join(s.home, cacheDir, id) }

// forget removes what was kept of a thread's rollout beside it.
func (s *Store) forget(id string) {
	_ = s.disk.Remove(s.bookmarkPath(id)) // it can be made again, and may not be there
}

// goToBookmark goes on in a stretch behind the bookmark that its thread has, if any.
func (l *loading) goToBookmark(s *stretch) {
	file, info, err := l.store.open(l.store.bookmarkPath(l.ThreadID), os.O_RDONLY)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	body := info.Size() - crc32.Size
	if body < 0 || !l.store.sound(file, body) {
		return
	}
	in := bufio.NewReader(io.NewSectionReader(file, 0, body))
	var b bookmark
	if gob.NewDecoder(in).Decode(&b) == nil && b.Form == bookmarkForm && b.Reader == l.store.Reader && len(b.Length) == len(b.Offset) {
		l.goTo(&b, s, in)
	}
}

// sound tells whether a file's content has the checksum that follows it.
func (s *Store) sound(file File, size int64) bool {
	sum := newSum()
	for c, err := range s.of(file, 0, size) {
		if err != nil || c.cut > 0 {
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
func (l *loading) goTo(b *bookmark, s *stretch, snapshot io.Reader) {
	rewritten := b.Size == s.to && s.file == l.file && b.ModTime != l.ModTime.UnixNano()
	if b.Size > s.to || rewritten {
		return
	}
	l.text.places = make([]place, len(b.Offset))
	for i := range b.Offset {
		l.text.places[i] = place{b.Offset[i], b.Length[i], s.file}
	}
	if !slices.Equal(l.text.samples(), b.Samples) || !l.resume(snapshot) {
		l.text.places = nil
		return
	}
	s.from, s.lines = b.Size, b.Lines
	l.Next, l.above, l.marked, l.Damage, *l.sum = b.Next, b.Above, b.Marked, b.Damage, b.Sum
	for i := range l.Damage {
		l.Damage[i].Path = s.path
	}
	if b.Marker != nil {
		l.marker = &marker{payload: b.Marker}
	}
}

// samples are the checksums of some lines, the first and the last among them; that of a line
// which cannot be read is of zeros.
func (t *Text) samples() (sums []uint32) {
	n := len(t.places)
	for k := range min(n, sampled) {
		p := t.places[k*(n-1)/max(min(n, sampled)-1, 1)]
		raw := make([]byte, p.size)
		_, _ = t.files[p.file].ReadAt(raw, p.offset)
		sums = append(sums, checksum(raw))
	}
	return sums
}

// keepBookmark writes one at the end of a stretch whose lines are all that were taken. That
// fails without a word: the next reader reads more. What two write at once is no bookmark,
// or that of one.
func (l *loading) keepBookmark(s *stretch) {
	path := l.store.bookmarkPath(l.ThreadID)
	sub := substitute{l.store, path + temporarySuffix}
	if sub.clear() != nil {
		return
	}
	file, err := l.store.make(sub.temporary)
	if err != nil {
		return
	}
	if err = first(l.writeBookmark(file, s), file.Close()); err == nil {
		err = l.store.disk.Rename(sub.temporary, path)
	}
	if err != nil {
		_ = sub.clear()
	}
}

func (l *loading) writeBookmark(file File, s *stretch) error {
	sum := newSum()
	out := bufio.NewWriterSize(io.MultiWriter(file, sum), writeSize)
	err := first(gob.NewEncoder(out).Encode(l.mark(s)), l.keep(out), out.Flush())
	if err == nil {
		_, err = file.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	}
	return err
}

// mark is the bookmark of the lines that were taken.
func (l *loading) mark(s *stretch) *bookmark {
	b := &bookmark{
		Form: bookmarkForm, Reader: l.store.Reader, Size: s.to, Lines: s.lines, ModTime: l.ModTime.UnixNano(), Damage: l.Damage,
		Samples: l.text.samples(), Next: l.Next, Above: l.above, Marked: l.marked, Sum: *l.sum,
	}
	if l.marker != nil {
		b.Marker = l.marker.payload
	}
	for _, p := range l.text.places {
		b.Offset, b.Length = append(b.Offset, p.offset), append(b.Length, p.size)
	}
	return b
}
