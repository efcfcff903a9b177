package rollout

import (
	"io"
	"os"
	"slices"
	"time"

	"appserver/protocol"
	"appserver/rollout/disk"
	"appserver/rollout/line"
)

// CreateFrom creates a thread that begins with lines of another thread. The first append
// writes these lines and its own to a temporary file, syncs it and renames it. So a crash
// leaves all of the lines or none.
func (s *Store) CreateFrom(id string, at time.Time, lines []protocol.RolloutLine) (*Log, error) {
	l, err := s.Create(id, at)
	if err == nil {
		l.seed = lines
	}
	return l, err
}

// createFromSeed creates the file with the seed and the given lines.
func (l *Log) createFromSeed(lines []protocol.RolloutLine) (err error) {
	encoded, err := line.Encode(slices.Concat(l.seed, lines))
	if err != nil {
		return err
	}
	if l.lock == nil {
		if l.lock, err = l.store.Lock(l.id); err != nil {
			return err
		}
	}
	if err := l.writeSeeded(encoded); err != nil {
		_ = l.store.disk.Remove(l.path) // the append failed, so the file must not exist
		return err
	}
	l.seed, l.created, l.entriesSynced, l.appended = nil, true, true, true
	return nil
}

func (l *Log) writeSeeded(encoded []byte) error {
	temp := disk.NewTempFile(l.store.disk, l.path)
	err := temp.Write(func(out io.Writer) error {
		_, err := out.Write(encoded)
		return err
	})
	if err := temp.Publish(err, l.path); err != nil {
		return err
	}
	if err := l.store.SyncEntries(l.path); err != nil {
		return err
	}
	file, _, err := disk.Open(l.store.disk, l.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	l.tail = &disk.Appender{File: file, Size: int64(len(encoded))}
	return nil
}
