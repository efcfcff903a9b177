package rollout

import (
	"hash/crc32"
	"io/fs"
	"os"

	"appserver/protocol"
)

// Take is given the lines of a rollout in their order. What a line points to may be kept,
// and keeps some of its neighbours in memory.
type Take func(line *protocol.RolloutLine)

// Load reads a rollout as Read does, but holds a few of its lines in memory at a time.
// What begin gives takes them; it may read payloads again of lines that it was given. The
// caller closes the Text.
func (s *Store) Load(path string, begin func(*Text) Take) (*Contents, *Text, error) {
	file, _, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return nil, nil, err
	}
	text := &Text{}
	text.add(file, path, true)
	l, err := s.load(path, text, begin)
	if err != nil {
		_ = text.Close()
		return nil, nil, err
	}
	return l.Contents, text, nil
}

// loading is a rollout that is read line by line.
type loading struct {
	*Contents
	store *Store
	text  *Text
	// file is its number in the text.
	file uint32
	take func(line *protocol.RolloutLine, at place)
	// marker is the last one that was met.
	marker *marker
	// astray is set where the backup is not beside the file, open where the file does not
	// end with LF.
	astray, open bool
}

// load reads the rollout that is the text's first file.
func (s *Store) load(path string, text *Text, begin func(*Text) Take) (*loading, error) {
	take, sum := begin(text), Summary{last: -1}
	l, err := s.loadFile(path, text, 0, func(line *protocol.RolloutLine, at place) {
		sum.note(line)
		text.places = append(text.places, at)
		take(line)
	}, 0)
	if err == nil {
		l.Summary = sum
	}
	return l, err
}

// loadFile reads one of the text's files, and what it goes on from.
func (s *Store) loadFile(path string, text *Text, file uint32, take func(*protocol.RolloutLine, place), depth int) (*loading, error) {
	info, err := text.files[file].Stat()
	if err != nil {
		return nil, diskError("read", path, err)
	}
	l := &loading{Contents: contentsOf(path, info), store: s, text: text, file: file}
	l.take = l.afterOrigin(take, depth)
	if err := l.run(info.Size()); err != nil {
		return nil, diskError("read", path, err)
	}
	return l, nil
}

// run reads the backup, where there is one that belongs to the file, and the file.
func (l *loading) run(size int64) error {
	own := stretch{file: l.file, to: size}
	path := l.store.backupOf(l.Path)
	backup, info, err := l.store.open(path, os.O_RDONLY)
	if !absent(err) {
		m, markerErr := l.store.chunking.lastMarkerOf(l.text.files[l.file], size)
		if err = first(markerErr, l.join(path, m, backupFile{backup, info, err})); err != nil {
			return err
		}
		if l.Backup.Joined {
			own.from, own.lines = m.offset, m.line-1
		}
	}
	l.Size, err = l.scan(own)
	l.end()
	if l.Backup == (Backup{}) {
		l.Backup = l.withoutBackup(path)
	}
	return err
}

// withoutBackup is what a file says that was read without one.
func (l *loading) withoutBackup(path string) Backup {
	named, ok := l.marker.names()
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

// join reads the backup if it is what a marker names.
func (l *loading) join(path string, m *marker, backup backupFile) error {
	named, ok := m.names()
	reason := error(nil)
	if ok && named.Bytes > 0 {
		reason = backup.check(path, named, l.store.chunking)
		if reason == nil && !sameThread(l.thread(), l.store.chunking.metaIn(backup, named.Bytes)) {
			reason = &BackupError{Path: path, Reason: backupForeign}
		}
	}
	if !ok || named.Bytes == 0 || reason != nil {
		l.Backup.Err = reason
		return backup.close()
	}
	l.Backup, l.astray = Backup{Joined: true}, path != l.Path+backupSuffix
	_, err := l.scan(stretch{file: l.text.add(backup, path, true), path: path, to: named.Bytes})
	return err
}

func (b backupFile) close() error {
	if b.err != nil {
		return nil
	}
	return b.File.Close()
}

// check makes sure that a backup begins with the bytes that a marker names.
func (b backupFile) check(path string, named protocol.ContextBackup, k chunking) error {
	switch {
	case b.err != nil:
		return backupError(path, b.err)
	case b.info.Size() < named.Bytes:
		return &BackupError{Path: path, Reason: backupDamaged}
	}
	sum, last := uint32(0), byte(0)
	for part, err := range k.of(b, 0, named.Bytes) {
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
	return l.store.chunking.metaIn(l.text.files[l.file], l.Size)
}

// metaIn is the id in a session_meta line at the begin of a file, "" where there is none.
func (k chunking) metaIn(file File, size int64) string {
	for part, err := range k.of(file, 0, size) {
		if err != nil {
			return ""
		}
		return firstMeta(parseRuns(part.data, shares(len(part.data))))
	}
	return ""
}
