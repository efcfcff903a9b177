package rollout

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

// LineHandler handles the lines of a rollout in order. It may keep parts of a line, but they
// keep a chunk of the file in memory.
type LineHandler func(line *protocol.RolloutLine)

// Loader builds a value from the lines of a rollout. It may read the payloads of handled lines
// again.
type Loader interface {
	// Begin returns the handler for all lines, from the first on. It is called first in any case.
	Begin(reader *LineReader) LineHandler
	// Continue restores the value from a snapshot. It may follow Begin, with the same reader. It returns the
	// handler for the lines after the snapshot. The reader has the lines before. It returns false if the snapshot
	// cannot be used.
	Continue(reader *LineReader, snapshot []byte) (LineHandler, bool)
	// Snapshot writes the present value. An error means that no snapshot is kept.
	Snapshot(to io.Writer) error
}

// Load reads a rollout as Read does, with a few lines in memory at a time. Of a large rollout
// that was loaded before, it reads only the new lines. The caller closes the LineReader.
func (s *Store) Load(path string, to Loader) (*Contents, *LineReader, error) {
	path = zst.Plain(path)
	restored, err := s.restore(path)
	if err != nil {
		return nil, nil, disk.Wrap("restore", path, err)
	}
	file, _, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	reader := &LineReader{disk: s.disk}
	reader.addFile(file, path, true)
	l, err := s.load(path, reader, to)
	if err != nil {
		_ = reader.Close()
		return nil, nil, err
	}
	l.Restored = restored
	return l.Contents, reader, nil
}

// loading is the state of a load.
type loading struct {
	*Contents
	store *Store
	lines *LineReader
	// file is the number of the rollout in the LineReader.
	file   uint32
	handle func(line *line.Parsed, at linePosition)
	// resume continues from a snapshot, and keep writes one. Both are nil for origin files.
	resume  func(snapshot []byte) bool
	keep    func(to io.Writer) error
	summary *Summary
	// marker is the last marker that was read.
	marker *line.Marker
	// dependent is set if the history begins in another file.
	dependent bool
	// shortage is the error of an origin that could not be opened because of a resource limit.
	shortage error
	// misplacedBackup is set if the backup is not beside the file. unterminated is set if the
	// file does not end with LF.
	misplacedBackup, unterminated bool
}

// load reads the rollout that is the first file of the reader.
func (s *Store) load(path string, reader *LineReader, to Loader) (*loading, error) {
	l, err := s.loadingOf(path, reader, 0)
	if err != nil {
		return nil, err
	}
	handle := to.Begin(reader)
	l.handle = l.afterOrigin(func(line *line.Parsed, at linePosition) {
		l.summary.add(&line.RolloutLine)
		reader.positions.add(at)
		handle(&line.RolloutLine)
	}, 0)
	l.keep = to.Snapshot
	l.resume = func(snapshot []byte) bool {
		further, ok := to.Continue(reader, snapshot)
		if ok {
			handle = further
		}
		return ok
	}
	if err := cmp.Or(l.run(), l.shortage); err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	l.Summary = *l.summary
	return l, nil
}

// loadingOf returns the state for loading one of the reader's files.
func (s *Store) loadingOf(path string, reader *LineReader, file uint32) (*loading, error) {
	contents, err := contentsOf(path, reader.files[file].File)
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	return &loading{
		Contents: contents,
		store:    s,
		lines:    reader,
		file:     file,
		summary:  &Summary{Last: -1},
	}, nil
}

// run reads the backup, if a marker names one, and then the file.
func (l *loading) run() (err error) {
	backup := l.openBackup()
	var m *line.Marker
	if !disk.IsNotExist(backup.err) {
		m, err = l.store.chunks.LastMarker(l.lines.files[l.file], l.Size)
	}
	own, first := l.join(m, backup)
	switch {
	case err != nil:
	case first == nil:
		l.Size, err = l.readFirstSpan(own)
	default:
		if _, err = l.readFirstSpan(*first); err == nil {
			l.Size, err = l.readAfterBackup(own)
		}
	}
	l.finish()
	if l.Backup == (Backup{}) {
		l.Backup = l.checkNoBackup(backup.path)
	}
	file := l.lines.files[l.file].File
	return cmp.Or(err, l.addProblem(file, disk.Problem(file)))
}

// readAfterBackup reads the lines of the file from the marker on. It counts the lines before only if some are damaged.
func (l *loading) readAfterBackup(own span) (end int64, err error) {
	before := len(l.Damage)
	end, err = l.readSpan(&own)
	if err != nil || len(l.Damage) == before {
		return end, err
	}
	lines, err := line.CountLines(l.lines.files[own.file], own.from)
	for i := range l.Damage[before:] {
		l.Damage[before+i].Line += lines
	}
	return end, err
}

// addProblem reports the end of a compressed file that cannot be decompressed.
func (c *Contents) addProblem(file disk.File, problem error) error {
	if problem == nil {
		return nil
	}
	lines, err := line.CountLines(file, c.Size)
	c.Damage = append(c.Damage, line.Damage{Line: lines + 1, Offset: c.Size, Reason: problem.Error()})
	return err
}

// checkNoBackup returns the backup state of a file that was read without one.
func (l *loading) checkNoBackup(path string) Backup {
	named, ok := l.marker.Decode()
	switch {
	case !ok:
		return Backup{Err: &BackupError{Path: path, Reason: backupUnnamed}}
	case named.Bytes > 0:
		return Backup{Err: &BackupError{Path: path, Reason: backupMissing}}
	}
	return Backup{}
}

// backupFile is the result of opening a backup.
type backupFile struct {
	disk.File
	path string
	// length is the length of the content.
	length int64
	err    error
}

func (l *loading) openBackup() backupFile {
	b := backupFile{path: l.store.BackupPath(l.Path)}
	var info fs.FileInfo
	if b.File, info, b.err = disk.Open(l.store.disk, b.path, os.O_RDONLY); b.err != nil {
		return b
	}
	if b.length, b.err = disk.Length(b.File, info); b.err != nil {
		_ = b.File.Close() // it was opened for reading
	}
	return b
}

// join returns the parts of the log: the file and, if the marker names a backup that matches, that part of the backup
// before it. The file's own lines then begin at the marker.
func (l *loading) join(m *line.Marker, backup backupFile) (own span, first *span) {
	own = span{file: l.file, to: l.Size}
	named, ok := m.Decode()
	reason := error(nil)
	if ok && named.Bytes > 0 {
		reason = backup.check(named)
		if reason == nil && !sameThread(l.thread(), metaIn(l.store.chunks, backup, named.Bytes)) {
			reason = &BackupError{Path: backup.path, Reason: backupForeign}
		}
	}
	if !ok || named.Bytes == 0 || reason != nil {
		l.Backup.Err = reason
		backup.close()
		return own, nil
	}
	l.Backup, l.misplacedBackup = Backup{Joined: true}, backup.path != l.Path+home.BackupSuffix
	own.from = m.Offset
	return own, &span{file: l.lines.addFile(backup, backup.path, true), path: backup.path, to: named.Bytes}
}

// readFirstSpan reads the first span of the log, from the snapshot cache on. It saves a new
// cache after a long read.
func (l *loading) readFirstSpan(s span) (end int64, err error) {
	if l.keep == nil || s.to < l.store.snapshotCacheMin {
		return l.readSpan(&s)
	}
	l.readSnapshotCache(&s)
	from := s.from
	end, err = l.readSpan(&s)
	if err != nil || !l.isWorthSnapshotCache(end-from, &s) || end != s.to || l.unterminated || l.Torn || l.dependent ||
		l.ThreadID == "" {
		return end, err
	}
	l.saveSnapshotCache(&s)
	return end, nil
}

func (b backupFile) close() {
	if b.err == nil {
		_ = b.File.Close() // it was opened for reading
	}
}

// check verifies that a backup starts with the bytes that a marker names.
func (b backupFile) check(named protocol.ContextBackup) error {
	switch {
	case b.err != nil:
		return backupError(b.path, b.err)
	case b.length < named.Bytes:
		return &BackupError{Path: b.path, Reason: backupDamaged}
	}
	terminated, err := endsWithLF(b, named.Bytes)
	sum := uint32(0)
	if err == nil {
		sum, err = line.FileChecksum(0, b, 0, named.Bytes)
	}
	switch {
	case err != nil:
		return backupError(b.path, err)
	case !terminated || sum != named.CRC32C:
		return &BackupError{Path: b.path, Reason: backupDamaged}
	}
	return nil
}

// endsWithLF reports whether the last one of the first bytes of a file is LF.
func endsWithLF(file io.ReaderAt, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	last := make([]byte, 1)
	n, err := file.ReadAt(last, size-1)
	if n == 1 || errors.Is(err, io.EOF) {
		err = nil
	}
	return last[0] == '\n', err
}

// thread returns the thread id of the file name, or of its session_meta if the name has none.
func (l *loading) thread() string {
	if l.ThreadID != "" {
		return l.ThreadID
	}
	return metaIn(l.store.chunks, l.lines.files[l.file], l.Size)
}

// metaIn returns the id of a session_meta line at the start of a file, or "".
func metaIn(k line.ChunkReader, file disk.File, size int64) string {
	for part, err := range k.Chunks(file, 0, size) {
		if err != nil {
			return ""
		}
		return line.FirstMeta(line.ParseFile(part.Data))
	}
	return ""
}
