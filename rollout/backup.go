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

// marker is a context_backup line.
type marker struct {
	// line and offset are counted as in Damage.
	line    int
	offset  int64
	payload json.RawMessage
}

// lastMarker returns the last marker, or nil.
func lastMarker(blocks []block) *marker {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].marker != nil {
			return blocks[i].marker
		}
	}
	return nil
}

// decode returns the payload of a marker, or false if it is malformed. A nil marker decodes as
// one with 0 bytes.
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

// joinBackup replaces the lines before the marker by those of the backup.
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
	blocks := parseBlocks(data, workersFor(len(data)))
	if !sameThread(r.thread(), firstMeta(blocks)) {
		return Backup{Err: &BackupError{Path: path, Reason: backupForeign}}
	}
	for i := range blocks {
		blocks[i].setPath(path)
	}
	r.misplacedBackup = path != r.Path+backupSuffix
	r.backup, r.padding, r.tail = data, padding(r.marker.offset-named.Bytes), r.fromMarker()
	r.blocks = append(blocks, r.tailBlocks()...)
	return Backup{Joined: true}
}

// readBackup reads the bytes that a marker names and verifies their checksum.
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

// backupError converts an error from opening or reading a backup.
func backupError(path string, err error) *BackupError {
	if isNotExist(err) {
		return &BackupError{Path: path, Reason: backupMissing}
	}
	if disk := new(DiskError); errors.As(err, &disk) && isEnvironment(err) {
		err = disk.Err // BackupError has the path and the advice itself
	}
	return &BackupError{Path: path, Reason: backupUnreadable, Err: err}
}

// checksum returns the CRC-32C of consecutive parts.
func checksum(parts ...[]byte) (sum uint32) {
	for _, part := range parts {
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
	return sum
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
	tail := bytes.TrimPrefix(r.data[r.marker.offset:], []byte(byteOrderMark))
	if len(tail) < len(r.data)/4 {
		return bytes.Clone(tail)
	}
	return tail
}

// tailBlocks parses the lines from the last marker on.
func (r *reading) tailBlocks() []block {
	blocks := parseBlocks(r.tail, workersFor(len(r.tail)))
	for i := range blocks {
		blocks[i].shift(r.marker.line-1, int64(len(r.data)-len(r.tail)))
	}
	return blocks
}

// setPath assigns damage to another file.
func (r *block) setPath(path string) {
	for i := range r.damage {
		r.damage[i].Path = path
	}
}

// thread returns the thread id of the file name, or of its session_meta if the name has none.
func (r *reading) thread() string {
	if r.ThreadID != "" {
		return r.ThreadID
	}
	return firstMeta(r.blocks)
}

// firstMeta returns the id of the first session_meta line, or "".
func firstMeta(blocks []block) string {
	for _, r := range blocks {
		for i := range r.lines {
			if r.lines[i].Type == protocol.LineSessionMeta {
				return gjson.GetBytes(r.lines[i].Payload, "id").Str
			}
		}
	}
	return ""
}

// sameThread reports whether two ids may be of one thread. An empty id is unknown and matches
// any.
func sameThread(a, b string) bool { return a == "" || b == "" || strings.EqualFold(a, b) }

// CheckBackup returns nil if excluded items can be restored from the rollout's backup.
// Otherwise it returns a *BackupError. If the rollout itself cannot be read, the errors are
// those of Read. The backup of a complete rollout must be an earlier state of it.
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

// checkEarlier returns an error unless the backup of a complete file is an earlier state of
// that file.
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
