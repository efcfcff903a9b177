package rollout

import (
	"hash/crc32"
	"io"
	"io/fs"
	"os"

	"appserver/protocol"
)

// Take is given the lines of a rollout in their order. What a line points to may be kept,
// and keeps some of its neighbours in memory.
type LineHandler func(line *protocol.RolloutLine)

// Reader makes something of the lines of a rollout. It may read payloads again of lines
// that it was given.
type Loader interface {
	// Begin gives what takes the lines from the first on.
	Begin(text *LineReader) LineHandler
	// Continue gives what takes the lines behind those that a Snapshot was made of, which
	// the text has; it is false where the snapshot is of no use.
	Continue(text *LineReader, snapshot io.Reader) (LineHandler, bool)
	// Snapshot writes what the lines so far come to; an error leaves things as they are.
	Snapshot(to io.Writer) error
}

// Load reads a rollout as Read does, but holds a few of its lines in memory at a time, and
// of a large one that was loaded before, reads only what is new. The caller closes the
// Text.
func (s *Store) Load(path string, to Loader) (*Contents, *LineReader, error) {
	restored, err := s.restore(path)
	if err != nil {
		return nil, nil, diskError("restore", path, err)
	}
	file, _, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	text := &LineReader{}
	text.addFile(file, path, true)
	l, err := s.load(path, text, to)
	if err != nil {
		_ = text.Close()
		return nil, nil, err
	}
	l.Restored = restored
	return l.Contents, text, nil
}

// loading is a rollout that is read line by line.
type loading struct {
	*Contents
	store *Store
	lines *LineReader
	// file is its number in the text.
	file   uint32
	handle func(line *protocol.RolloutLine, at linePosition)
	// resume goes on behind a snapshot, keep gives one; nil for what another rollout goes
	// on from.
	resume  func(snapshot io.Reader) bool
	keep    func(to io.Writer) error
	summary *Summary
	// marker is the last one that was met.
	marker *marker
	// leans is set where it goes on from another rollout.
	dependent bool
	// short is why what it goes on from could not be opened at the moment.
	shortage error
	// astray is set where the backup is not beside the file, open where the file does not
	// end with LF.
	misplacedBackup, unterminated bool
}

// load reads the rollout that is the text's first file.
func (s *Store) load(path string, text *LineReader, to Loader) (*loading, error) {
	l, err := s.loadingOf(path, text, 0)
	if err != nil {
		return nil, err
	}
	take := to.Begin(text)
	l.handle = l.afterOrigin(func(line *protocol.RolloutLine, at linePosition) {
		l.summary.add(line)
		text.positions = append(text.positions, at)
		take(line)
	}, 0)
	l.keep = to.Snapshot
	l.resume = func(snapshot io.Reader) bool {
		further, ok := to.Continue(text, snapshot)
		if ok {
			take = further
		}
		return ok
	}
	if err := firstError(l.run(), l.shortage); err != nil {
		return nil, diskError("read", path, err)
	}
	l.Summary = *l.summary
	return l, nil
}

// loadingOf is the loading of one of the text's files.
func (s *Store) loadingOf(path string, text *LineReader, file uint32) (*loading, error) {
	info, err := text.files[file].Stat()
	if err != nil {
		return nil, diskError("read", path, err)
	}
	return &loading{Contents: contentsOf(path, info), store: s, lines: text, file: file, summary: &Summary{Last: -1}}, nil
}

// run reads the backup, where there is one that belongs to the file, and the file.
func (l *loading) run() error {
	own := span{file: l.file, to: l.Size}
	path := l.store.backupPath(l.Path)
	backup, info, err := l.store.open(path, os.O_RDONLY)
	if !isNotExist(err) {
		m, markerErr := l.store.chunkReader.lastMarkerOf(l.lines.files[l.file], l.Size)
		if err = firstError(markerErr, l.joinBackup(&own, path, m, backupFile{backup, info, err})); err != nil {
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

// withoutBackup is what a file says that was read without one.
func (l *loading) checkNoBackup(path string) Backup {
	named, ok := l.marker.decode()
	switch {
	case !ok:
		return Backup{Err: &BackupError{Path: path, Reason: backupUnnamed}}
	case named.Bytes > 0:
		return Backup{Err: &BackupError{Path: path, Reason: backupMissing}}
	}
	return Backup{}
}

// backupFile is what came of opening a backup.
type backupFile struct {
	File
	info fs.FileInfo
	err  error
}

// join reads the backup if it is what a marker names. Then only what is from there on is
// the file's own.
func (l *loading) joinBackup(own *span, path string, m *marker, backup backupFile) error {
	named, ok := m.decode()
	reason := error(nil)
	if ok && named.Bytes > 0 {
		reason = backup.check(path, named, l.store.chunkReader)
		if reason == nil && !sameThread(l.thread(), l.store.chunkReader.metaIn(backup, named.Bytes)) {
			reason = &BackupError{Path: path, Reason: backupForeign}
		}
	}
	if !ok || named.Bytes == 0 || reason != nil {
		l.Backup.Err = reason
		return backup.close()
	}
	l.Backup, l.misplacedBackup = Backup{Joined: true}, path != l.Path+backupSuffix
	own.from, own.lines = m.offset, m.line-1
	_, err := l.readFirstSpan(span{file: l.lines.addFile(backup, path, true), path: path, to: named.Bytes})
	return err
}

// scanFirst scans the stretch that the log begins with, from the bookmark on if there is
// one, and keeps another where much was read.
func (l *loading) readFirstSpan(s span) (end int64, err error) {
	if l.keep == nil || s.to < l.store.snapshotCacheMin {
		return l.readSpan(&s)
	}
	l.readSnapshotCache(&s)
	from := s.from
	end, err = l.readSpan(&s)
	if err != nil || end-from < l.store.snapshotCacheMin || end != s.to || l.unterminated || l.Torn || l.dependent || l.ThreadID == "" {
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

// check makes sure that a backup begins with the bytes that a marker names.
func (b backupFile) check(path string, named protocol.ContextBackup, k chunkReader) error {
	switch {
	case b.err != nil:
		return backupError(path, b.err)
	case b.info.Size() < named.Bytes:
		return &BackupError{Path: path, Reason: backupDamaged}
	}
	sum, last := uint32(0), byte(0)
	for part, err := range k.chunks(b, 0, named.Bytes) {
		if err != nil {
			return backupError(path, err)
		}
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part.data)
		last = part.data[len(part.data)-1]
	}
	if last != '\n' || sum != named.CRC32C {
		return &BackupError{Path: path, Reason: backupDamaged}
	}
	return nil
}

// thread is the id in the file's name or, where that has none, in its session_meta.
func (l *loading) thread() string {
	if l.ThreadID != "" {
		return l.ThreadID
	}
	return l.store.chunkReader.metaIn(l.lines.files[l.file], l.Size)
}

// metaIn is the id in a session_meta line at the begin of a file, "" where there is none.
func (k chunkReader) metaIn(file File, size int64) string {
	for part, err := range k.chunks(file, 0, size) {
		if err != nil {
			return ""
		}
		return firstMeta(parseBlocks(part.data, workersFor(len(part.data))))
	}
	return ""
}
