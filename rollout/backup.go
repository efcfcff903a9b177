package rollout

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
	"appserver/rollout/zst"
)

// Backup reports the use of a rollout's backup. The zero value means that the rollout is
// complete without one.
type Backup struct {
	// Joined is set if the lines before the last context_backup line were read from the
	// backup.
	Joined bool
	// Err is a *BackupError if a backup is required and cannot be used. The lines are then
	// those of the file alone.
	Err error
}

// joinBackup replaces the lines before the marker by those of the backup.
func (s *Store) joinBackup(r *reading) Backup {
	path := s.BackupPath(r.Path)
	named, ok := r.marker.Decode()
	switch {
	case !ok:
		return Backup{Err: &BackupError{Path: path, Reason: backupUnnamed}}
	case named.Bytes == 0:
		return Backup{}
	}
	data, err := s.readBackup(path, named)
	if err != nil {
		return Backup{Err: err}
	}
	blocks := line.ParseFile(data)
	if !sameThread(r.thread(), line.FirstMeta(blocks)) {
		return Backup{Err: &BackupError{Path: path, Reason: backupForeign}}
	}
	for i := range blocks {
		blocks[i].SetPath(path)
	}
	r.misplacedBackup = path != r.Path+home.BackupSuffix
	r.backup, r.padding, r.tail = data, line.Padding(r.marker.Offset-named.Bytes), r.fromMarker()
	r.blocks = append(blocks, r.tailBlocks()...)
	return Backup{Joined: true}
}

// readBackup reads the bytes that a marker names and verifies their checksum.
func (s *Store) readBackup(path string, named protocol.ContextBackup) ([]byte, error) {
	file, info, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return nil, backupError(path, err)
	}
	defer func() { _ = file.Close() }()
	length, err := disk.Length(file, info)
	if err != nil {
		return nil, backupError(path, err)
	}
	if length < named.Bytes {
		return nil, &BackupError{Path: path, Reason: backupDamaged}
	}
	data, err := disk.ReadAll(file, named.Bytes)
	if err != nil {
		return nil, backupError(path, err)
	}
	if int64(len(data)) < named.Bytes || data[len(data)-1] != '\n' || line.Checksum(data) != named.CRC32C {
		return nil, &BackupError{Path: path, Reason: backupDamaged}
	}
	return data, nil
}

// backupError converts an error from opening or reading a backup.
func backupError(path string, err error) *BackupError {
	if disk.IsNotExist(err) {
		return &BackupError{Path: path, Reason: backupMissing}
	}
	if failed := new(disk.Error); errors.As(err, &failed) && disk.IsEnvironment(err) {
		err = failed.Err // BackupError has the path and the advice itself
	}
	return &BackupError{Path: path, Reason: backupUnreadable, Err: err}
}

// reading is the state of a rollout that was read into memory.
type reading struct {
	*Contents
	// data holds the bytes of the file.
	data []byte
	// marker is the last marker of the file, or nil.
	marker *line.Marker
	// backup, padding and tail are nil unless the backup was joined. They are the bytes that
	// the marker names, the spaces after them, and the file from the marker on.
	backup, padding, tail []byte
	// misplacedBackup is set if the backup is not beside the file.
	misplacedBackup bool
	// blocks hold the lines without final ordinals.
	blocks []line.Block
	// problem is the reason why the rest of a compressed file cannot be decompressed, or nil.
	problem error
}

// fullLog returns the full log in consecutive parts.
func (r *reading) fullLog() [][]byte {
	if r.Backup.Joined {
		return [][]byte{r.backup, r.padding, r.tail}
	}
	return [][]byte{r.data}
}

// fromMarker returns the bytes of the file from the last marker on. A short tail is copied, so
// that it does not keep the whole file in memory.
func (r *reading) fromMarker() []byte {
	tail := bytes.TrimPrefix(r.data[r.marker.Offset:], []byte(line.ByteOrderMark))
	if len(tail) < len(r.data)/4 {
		return bytes.Clone(tail)
	}
	return tail
}

// tailBlocks parses the lines from the last marker on.
func (r *reading) tailBlocks() []line.Block {
	blocks := line.ParseFile(r.tail)
	for i := range blocks {
		blocks[i].Shift(r.marker.Line-1, int64(len(r.data)-len(r.tail)))
	}
	return blocks
}

// thread returns the thread id of the file name, or of its session_meta if the name has none.
func (r *reading) thread() string {
	if r.ThreadID != "" {
		return r.ThreadID
	}
	return line.FirstMeta(r.blocks)
}

// sameThread reports whether two ids may be of one thread. An empty id is unknown and matches
// any.
func sameThread(a, b string) bool { return a == "" || b == "" || strings.EqualFold(a, b) }

// CheckBackup returns nil if excluded items can be restored from the rollout's backup.
// Otherwise it returns a *BackupError. If the rollout itself cannot be read, the errors are
// those of Read. The backup of a complete rollout must be an earlier state of it.
func (s *Store) CheckBackup(path string) error {
	path = zst.Plain(path)
	file, _, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := s.read(path, file)
	switch {
	case err != nil:
		return err
	case r.Backup != Backup{}:
		return r.Backup.Err
	}
	return s.checkEarlier(path+home.BackupSuffix, file, r.Size)
}

// checkEarlier returns an error unless the backup of a complete file is an earlier state of
// that file.
func (s *Store) checkEarlier(path string, whole io.ReaderAt, size int64) error {
	err := s.compareEarlier(path, whole, size)
	if err != nil {
		err.Whole = true
		return err
	}
	return nil
}

func (s *Store) compareEarlier(path string, whole io.ReaderAt, size int64) *BackupError {
	file, info, err := disk.Open(s.disk, path, os.O_RDONLY)
	if err != nil {
		return backupError(path, err)
	}
	defer func() { _ = file.Close() }()
	length, err := disk.Length(file, info)
	if err != nil {
		return backupError(path, err)
	}
	if problem := disk.Problem(file); problem != nil {
		return backupError(path, problem)
	}
	if length > size {
		return &BackupError{Path: path, Reason: backupOther}
	}
	same, err := haveSameBytes(file, whole, length)
	if err != nil {
		return backupError(path, err)
	}
	if !same {
		return &BackupError{Path: path, Reason: backupOther}
	}
	return nil
}

// haveSameBytes reports whether the first bytes of two files are equal.
func haveSameBytes(a, b io.ReaderAt, size int64) (bool, error) {
	left, right := make([]byte, min(size, disk.WriteSize)), make([]byte, min(size, disk.WriteSize))
	for at := int64(0); at < size; at += disk.WriteSize {
		n := min(size-at, disk.WriteSize)
		if _, err := a.ReadAt(left[:n], at); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		if read, err := b.ReadAt(right[:n], at); int64(read) < n || !bytes.Equal(left[:n], right[:n]) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return false, err
		}
	}
	return true, nil
}
