package rollout

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"hash/crc32"
	"io"
	"os"
	"slices"

	"appserver/platform/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

const (
	// snapshotCacheForm is the version of the file format.
	snapshotCacheForm = 2
	// snapshotCacheMin is the amount of data that is worth a cache, in bytes.
	snapshotCacheMin = 2 << 20
	// snapshotCacheMax is the amount of new data that is always worth another one.
	snapshotCacheMax = 16 << 20
	// sampled is the number of lines whose checksums are compared before a cache is used.
	sampled = 64
	// headLength is the number of bytes of the length of the head.
	headLength = 4
)

// snapshotCache is the head of a cache file. The file has the length of the head in four bytes, the head by
// encoding/gob, the positions of the sound lines, the snapshot of the Loader, and the checksum of all of these.
// Offsets are those of the full log, because a rewrite may move lines to the backup.
type snapshotCache struct {
	Form int
	// Reader is the Store.SnapshotVersion of the program that wrote the snapshot.
	Reader string
	// Size is the number of bytes that were read, up to an LF. Lines is the number of lines in
	// them.
	Size  int64
	Lines int
	// ModTime is the modification time of the file in Unix nanoseconds.
	ModTime int64
	// Positions is the number of sound lines. Samples holds checksums of some of them.
	Positions int
	Samples   []uint32
	Damage    []line.Damage
	Next      int64
	Above     int64
	Marked    bool
	Sum       Summary
	// Marker is the payload of the last context_backup line, or nil.
	Marker json.RawMessage
}

func (s *Store) snapshotCachePath(id string) string { return s.Path(home.CacheDir, id) }

// RemoveSnapshotCache removes the cache of a thread.
func (s *Store) RemoveSnapshotCache(id string) {
	_ = s.disk.Remove(s.snapshotCachePath(id)) // a stale cache is detected, so an error does no harm
}

// readSnapshotCache moves the start of the span behind the thread's cache, if a valid one
// exists.
func (l *loading) readSnapshotCache(s *span) {
	file, info, err := disk.Open(l.store.disk, l.store.snapshotCachePath(l.ThreadID), os.O_RDONLY)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	text, err := disk.ReadAll(file, info.Size())
	if err != nil {
		return
	}
	text, valid := withoutChecksum(text)
	if !valid || len(text) < headLength {
		return
	}
	if b, rest := decodeSnapshotHead(text); b != nil && b.Reader == l.store.SnapshotVersion &&
		b.Positions <= len(rest)/positionSize {
		end := b.Positions * positionSize
		l.resumeFrom(b, s, rest[:end:end], rest[end:])
	}
}

// decodeSnapshotHead returns the head of a cache file and the text behind it, or nil.
func decodeSnapshotHead(text []byte) (head *snapshotCache, rest []byte) {
	length := uint64(binary.BigEndian.Uint32(text))
	if text = text[headLength:]; length > uint64(len(text)) {
		return nil, nil
	}
	var b snapshotCache
	err := gob.NewDecoder(bytes.NewReader(text[:length])).Decode(&b)
	if err != nil || b.Form != snapshotCacheForm || b.Positions < 0 {
		return nil, nil
	}
	return &b, text[length:]
}

// withoutChecksum returns the text before the checksum that ends it.
func withoutChecksum(text []byte) (content []byte, valid bool) {
	end := len(text) - crc32.Size
	if end < 0 {
		return nil, false
	}
	return text[:end], binary.BigEndian.Uint32(text[end:]) == line.Checksum(text[:end])
}

// resumeFrom applies a cache if it belongs to this file.
func (l *loading) resumeFrom(b *snapshotCache, s *span, stored, snapshot []byte) {
	rewritten := b.Size == s.to && s.file == l.file && b.ModTime != l.ModTime.UnixNano()
	if b.Size > s.to || rewritten {
		return
	}
	l.lines.positions = positions{stored: stored, storedIn: s.file}
	if !slices.Equal(l.lines.samples(), b.Samples) || !l.resume(snapshot) {
		l.lines.positions = positions{}
		return
	}
	s.from, s.lines = b.Size, b.Lines
	l.ordinals = line.Ordinals{Next: b.Next, Above: b.Above, Marked: b.Marked}
	l.Damage, *l.summary = b.Damage, b.Sum
	for i := range l.Damage {
		l.Damage[i].Path = s.path
	}
	if b.Marker != nil {
		l.marker = &line.Marker{Payload: b.Marker}
	}
}

// samples returns checksums of some lines, including the first and the last. A line that
// cannot be read counts as zeros.
func (t *LineReader) samples() (sums []uint32) {
	n := t.positions.len()
	for k := range min(n, sampled) {
		p := t.positions.at(k * (n - 1) / max(min(n, sampled)-1, 1))
		raw := make([]byte, p.size)
		_, _ = t.files[p.file].ReadAt(raw, p.offset)
		sums = append(sums, line.Checksum(raw))
	}
	return sums
}

// isWorthSnapshotCache reports whether lines of this length, at the end of a span, are worth a cache. A cache takes
// time in proportion to the whole span.
func (l *loading) isWorthSnapshotCache(length int64, s *span) bool {
	return length >= max(l.store.snapshotCacheMin, min(s.to/8, snapshotCacheMax))
}

// saveSnapshotCache writes a cache at the end of a span. Errors are ignored, because the next
// load then reads more. Concurrent writers produce one of their caches, or an invalid one.
func (l *loading) saveSnapshotCache(s *span) {
	path := l.store.snapshotCachePath(l.ThreadID)
	temp := disk.NewTempFile(l.store.disk, path)
	if temp.Remove() != nil {
		return
	}
	file, err := disk.Create(l.store.disk, temp.Path)
	if err != nil {
		return
	}
	if err = cmp.Or(l.writeSnapshotCache(file, s), file.Close()); err == nil {
		err = l.store.disk.Rename(temp.Path, path)
	}
	if err != nil {
		_ = temp.Remove()
	}
}

func (l *loading) writeSnapshotCache(file disk.File, s *span) error {
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	out := bufio.NewWriterSize(io.MultiWriter(file, sum), disk.WriteSize)
	err := cmp.Or(l.writeHead(out, s), l.keep(out), out.Flush())
	if err == nil {
		_, err = file.Write(binary.BigEndian.AppendUint32(nil, sum.Sum32()))
	}
	return err
}

// writeHead writes the head and the positions.
func (l *loading) writeHead(out io.Writer, s *span) error {
	var head bytes.Buffer
	if err := gob.NewEncoder(&head).Encode(l.newSnapshotCache(s)); err != nil {
		return err
	}
	length := binary.BigEndian.AppendUint32(nil, uint32(head.Len()))
	for _, text := range [][]byte{length, head.Bytes(), l.lines.positions.encode()} {
		if _, err := out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// newSnapshotCache returns the cache of the lines read so far.
func (l *loading) newSnapshotCache(s *span) *snapshotCache {
	b := &snapshotCache{
		Form: snapshotCacheForm, Reader: l.store.SnapshotVersion,
		Size: s.to, Lines: s.lines, Positions: l.lines.positions.len(), ModTime: l.ModTime.UnixNano(),
		Damage: l.Damage, Samples: l.lines.samples(), Sum: *l.summary,
		Next: l.ordinals.Next, Above: l.ordinals.Above, Marked: l.ordinals.Marked,
	}
	if l.marker != nil {
		b.Marker = l.marker.Payload
	}
	return b
}
