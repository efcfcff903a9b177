package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

const (
	backupSuffix    = ".bak"
	temporarySuffix = ".tmp"
)

// Backup says how a rollout's lines were come by. The zero Backup is that of a file
// that is whole.
type Backup struct {
	// Joined is set where the lines before the file's last context_backup line are
	// those of the backup.
	Joined bool
	// Err is a *BackupError where they should be, but are the file's own.
	Err error
}

// marker is a context_backup line.
type marker struct {
	// line and offset are as those of Damage.
	line    int
	offset  int64
	payload json.RawMessage
}

// lastMarker is nil where there is none.
func lastMarker(runs []block) *marker {
	for i := len(runs) - 1; i >= 0; i-- {
		if runs[i].marker != nil {
			return runs[i].marker
		}
	}
	return nil
}

// names is what a marker says; it is false where that cannot be understood. No marker
// says what one with 0 bytes does.
func (m *marker) decode() (protocol.ContextBackup, bool) {
	if m == nil {
		return protocol.ContextBackup{}, true
	}
	var said struct {
		Bytes  *int64  `json:"bytes"`
		CRC32C *uint32 `json:"crc32c"`
	}
	if protocol.Unmarshal(m.payload, &said) != nil || said.Bytes == nil || said.CRC32C == nil || *said.Bytes < 0 {
		return protocol.ContextBackup{}, false
	}
	return protocol.ContextBackup{Bytes: *said.Bytes, CRC32C: *said.CRC32C}, true
}

// join puts the backup's lines in the place of those before the marker.
func (s *Store) joinBackup(r *reading) Backup {
	path := s.backupPath(r.Path)
	named, ok := r.marker.decode()
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
	runs := parseBlocks(data, workersFor(len(data)))
	if !sameThread(r.thread(), firstMeta(runs)) {
		return Backup{Err: &BackupError{Path: path, Reason: backupForeign}}
	}
	for i := range runs {
		runs[i].setPath(path)
	}
	r.misplacedBackup = path != r.Path+backupSuffix
	r.backup, r.padding, r.tail = data, padding(r.marker.offset-named.Bytes), r.fromMarker()
	r.blocks = append(runs, r.tailBlocks()...)
	return Backup{Joined: true}
}

// readBackup reads the bytes that a marker names, and makes sure that they are those.
func (s *Store) readBackup(path string, named protocol.ContextBackup) ([]byte, error) {
	file, info, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return nil, backupError(path, err)
	}
	defer func() { _ = file.Close() }()
	if info.Size() < named.Bytes {
		return nil, &BackupError{Path: path, Reason: backupDamaged}
	}
	data, err := readAll(file, named.Bytes)
	if err != nil {
		return nil, backupError(path, err)
	}
	if int64(len(data)) < named.Bytes || data[len(data)-1] != '\n' || checksum(data) != named.CRC32C {
		return nil, &BackupError{Path: path, Reason: backupDamaged}
	}
	return data, nil
}

// backupError is what went wrong with a backup.
func backupError(path string, err error) *BackupError {
	if isNotExist(err) {
		return &BackupError{Path: path, Reason: backupMissing}
	}
	if disk := new(DiskError); errors.As(err, &disk) && isEnvironment(err) {
		err = disk.Err // the path and the advice are in the error already
	}
	return &BackupError{Path: path, Reason: backupUnreadable, Err: err}
}

// checksum is the CRC-32C of parts that follow each other.
func checksum(parts ...[]byte) (sum uint32) {
	for _, part := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
	return sum
}

// whole is the full log, in parts that follow each other.
func (r *reading) fullLog() [][]byte {
	if r.Backup.Joined {
		return [][]byte{r.backup, r.padding, r.tail}
	}
	return [][]byte{r.data}
}

// fromMarker is the file's bytes from the last marker on. They get a buffer of their
// own where they are few, so that nothing keeps the rest in memory.
func (r *reading) fromMarker() []byte {
	tail := bytes.TrimPrefix(r.data[r.marker.offset:], []byte(byteOrderMark))
	if len(tail) < len(r.data)/4 {
		return bytes.Clone(tail)
	}
	return tail
}

// tailRuns are the lines from the last marker on.
func (r *reading) tailBlocks() []block {
	runs := parseBlocks(r.tail, workersFor(len(r.tail)))
	for i := range runs {
		runs[i].shift(r.marker.line-1, int64(len(r.data)-len(r.tail)))
	}
	return runs
}

// place makes damage that of another file.
func (r *block) setPath(path string) {
	for i := range r.damage {
		r.damage[i].Path = path
	}
}

// thread is the id in the file's name or, where that has none, in its session_meta.
func (r *reading) thread() string {
	if r.ThreadID != "" {
		return r.ThreadID
	}
	return firstMeta(r.blocks)
}

// firstMeta is the id in the first session_meta line, "" where none tells one.
func firstMeta(runs []block) string {
	for _, r := range runs {
		for i := range r.lines {
			if r.lines[i].Type == protocol.LineSessionMeta {
				return gjson.GetBytes(r.lines[i].Payload, "id").Str
			}
		}
	}
	return ""
}

// sameThread is true also where one of the ids is not known.
func sameThread(a, b string) bool { return a == "" || b == "" || strings.EqualFold(a, b) }

// CheckBackup tells whether excluded items can be brought back: it is nil where the
// rollout's backup is there and right. A rollout that is whole has a right one if that
// is an earlier state of it. What is wrong with a backup is a *BackupError, whatever
// keeps the rollout itself from being read an error as those of Read.
func (s *Store) CheckBackup(path string) error {
	file, _, err := s.open(path, os.O_RDONLY)
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
	return s.checkEarlier(path+backupSuffix, r.data)
}

// checkEarlier makes sure that the backup of a file that is whole is an earlier state
// of it.
func (s *Store) checkEarlier(path string, whole []byte) error {
	err := s.compareEarlier(path, whole)
	if err != nil {
		err.Whole = true
		return err
	}
	return nil
}

func (s *Store) compareEarlier(path string, whole []byte) *BackupError {
	file, info, err := s.open(path, os.O_RDONLY)
	if err != nil {
		return backupError(path, err)
	}
	defer func() { _ = file.Close() }()
	if info.Size() > int64(len(whole)) {
		return &BackupError{Path: path, Reason: backupOther}
	}
	data, err := readAll(file, info.Size())
	if err != nil {
		return backupError(path, err)
	}
	if !bytes.HasPrefix(whole, data) {
		return &BackupError{Path: path, Reason: backupOther}
	}
	return nil
}
