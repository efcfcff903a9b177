package rollout

import (
	"io"
	"os"
	"time"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/line"
)

// CreateFrom creates a thread that begins with lines of another thread. The first append
// writes these lines and its own to a temporary file, syncs it and renames it. So a crash
// leaves all of the lines or none.
func (s *Store) CreateFrom(id string, at time.Time, seed *Seed) (*Log, error) {
	l, err := s.Create(id, at)
	if err == nil {
		l.seed = seed
	}
	return l, err
}

// createFromSeed creates the file with the seed and the given lines.
func (l *Log) createFromSeed(lines []protocol.RolloutLine) (err error) {
	encoded, err := line.Encode(lines)
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
	w := seedWriter{positions: make([]linePosition, len(l.seed.Ordinals))}
	err := temp.Write(func(out io.Writer) error {
		w.out = out
		err := l.seed.Each(func(n int, _ protocol.RolloutLine, text []byte) error { return w.add(n, text) })
		if err == nil {
			_, err = out.Write(encoded)
		}
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
	l.tail = &disk.Appender{File: file, Size: w.size + int64(len(encoded))}
	l.lines = l.seed.From
	l.lines.moveTo(file, l.path, w.positions)
	l.lines.addAppended(encoded, w.size)
	return nil
}
