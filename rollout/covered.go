package rollout

import (
	"encoding/binary"
	"io"
	"os"

	"appserver/platform/disk"
)

// Covered describes the lines of a rollout that its snapshot cache covers.
type Covered struct {
	// Lines is the number of lines. The last one is from Begin to End, with its LF.
	Lines, Begin, End int64
}

// Covered returns the lines that the snapshot cache of a thread covers, or the zero value if there is none or if it
// has damaged lines. The rollout may have changed since. The time does not depend on the length of the rollout.
func (s *Store) Covered(id string) (c Covered) {
	file, info, err := disk.Open(s.disk, s.snapshotCachePath(id), os.O_RDONLY)
	if err != nil {
		return c
	}
	defer func() { _ = file.Close() }()
	b, behind := s.readSnapshotHead(file, info.Size())
	if b == nil || b.Positions == 0 || b.Positions != b.Lines || len(b.Damage) > 0 {
		return c
	}
	stored := make([]byte, positionSize)
	if _, err := file.ReadAt(stored, behind+int64(b.Positions-1)*positionSize); err != nil {
		return c
	}
	last := (&positions{stored: stored}).at(0)
	if last.offset+int64(last.size)+1 != b.Size {
		return c
	}
	return Covered{Lines: int64(b.Lines), Begin: last.offset, End: b.Size}
}

// readSnapshotHead returns the head of a cache file and the offset behind it, or nil if another program has written
// the snapshot.
func (s *Store) readSnapshotHead(file io.ReaderAt, size int64) (head *snapshotCache, behind int64) {
	length := make([]byte, headLength)
	if _, err := file.ReadAt(length, 0); err != nil {
		return nil, 0
	}
	behind = headLength + int64(binary.BigEndian.Uint32(length))
	if behind > size {
		return nil, 0
	}
	text := make([]byte, behind)
	if _, err := file.ReadAt(text, 0); err != nil {
		return nil, 0
	}
	if head, _ = decodeSnapshotHead(text); head == nil || head.Reader != s.SnapshotVersion {
		return nil, 0
	}
	return head, behind
}
