package rollout

import (
	"cmp"
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"appserver/protocol"
	"appserver/rollout/disk"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// LineHandler handles the lines of a rollout in order. It may keep parts of a line, but they
// keep a chunk of the file in memory.
type LineHandler func(line *protocol.RolloutLine)

// Loader builds a value from the lines of a rollout. It may read the payloads of handled lines
// again.
type Loader interface {
	// Begin returns the handler for all lines, from the first on.
	Begin(reader *LineReader) LineHandler
	// Continue restores the value from a snapshot. It returns the handler for the lines after
	// the snapshot. The reader has the lines before. It returns false if the snapshot cannot
	// be used.
	Continue(reader *LineReader, snapshot []byte) (LineHandler, bool)
	// Snapshot writes the present value. An error means that no snapshot is kept.
	Snapshot(to io.Writer) error
}

// Load reads a rollout as Read does, with a few lines in memory at a time. Of a large rollout
// that was loaded before, it reads only the new lines. The caller closes the LineReader.
func (s *Store) Load(path string, to Loader) (*Contents, *LineReader, error) {
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
	handle func(line *protocol.RolloutLine, at linePosition)
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
	l.handle = l.afterOrigin(func(line *protocol.RolloutLine, at linePosition) {
		l.summary.add(line)
		reader.positions.add(at)
		handle(line)
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
	info, err := reader.files[file].Stat()
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	return &loading{
		Contents: contentsOf(path, info),
		store:    s,
		lines:    reader,
		file:     file,
		summary:  &Summary{Last: -1},
	}, nil
}

// run reads the backup, if a marker names one, and then the file.
func (l *loading) run() error {
	own := span{file: l.file, to: l.Size}
	path := l.store.BackupPath(l.Path)
	backup, info, err := disk.Open(l.store.disk, path, os.O_RDONLY)
	if !disk.IsNotExist(err) {
		m, markerErr := l.store.chunks.LastMarker(l.lines.files[l.file], l.Size)
		if err = cmp.Or(markerErr, l.joinBackup(&own, path, m, backupFile{backup, info, err})); err != nil {
			return err
		}
	}
	if l.Backup.Joined {
		l.Size, err = l.readSpan(&own)
	} else {
		l.Size, err = l.readFirstSpan(own)
	}
	l.finish()
	if l.Backup == (Backup{}) {
		l.Backup = l.checkNoBackup(path)
	}
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
	info fs.FileInfo
	err  error
}

// joinBackup reads the backup if it matches the marker. The file's own lines then begin at the
// marker.
func (l *loading) joinBackup(own *span, path string, m *line.Marker, backup backupFile) error {
	named, ok := m.Decode()
	reason := error(nil)
	if ok && named.Bytes > 0 {
		reason = backup.check(path, named, l.store.chunks)
		if reason == nil && !sameThread(l.thread(), metaIn(l.store.chunks, backup, named.Bytes)) {
			reason = &BackupError{Path: path, Reason: backupForeign}
		}
	}
	if !ok || named.Bytes == 0 || reason != nil {
		l.Backup.Err = reason
		return backup.close()
	}
	l.Backup, l.misplacedBackup = Backup{Joined: true}, path != l.Path+home.BackupSuffix
	own.from, own.lines = m.Offset, m.Line-1
	_, err := l.readFirstSpan(span{file: l.lines.addFile(backup, path, true), path: path, to: named.Bytes})
	return err
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

func (b backupFile) close() error {
	if b.err != nil {
		return nil
	}
	return b.File.Close()
}

// check verifies that a backup starts with the bytes that a marker names.
func (b backupFile) check(path string, named protocol.ContextBackup, k line.ChunkReader) error {
	switch {
	case b.err != nil:
		return backupError(path, b.err)
	case b.info.Size() < named.Bytes:
		return &BackupError{Path: path, Reason: backupDamaged}
	}
	sum, last := uint32(0), byte(0)
	for part, err := range k.Chunks(b, 0, named.Bytes) {
		if err != nil {
			return backupError(path, err)
		}
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part.Data)
		last = part.Data[len(part.Data)-1]
	}
	if last != '\n' || sum != named.CRC32C {
		return &BackupError{Path: path, Reason: backupDamaged}
	}
	return nil
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
