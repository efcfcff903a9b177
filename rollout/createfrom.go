package rollout

import (
	"os"
	"slices"
	"time"

	"appserver/protocol"
)

// CreateFrom is Create for a thread that begins with lines of another one. The first
// append writes them before its own, and makes all of it durable under a temporary name
// before the file gets its own: no crash leaves a part of them.
func (s *Store) CreateFrom(id string, at time.Time, lines []protocol.RolloutLine) (*Log, error) {
	l, err := s.Create(id, at)
	if err == nil {
		l.seed = lines
	}
	return l, err
}

// plant makes the file of a thread that begins with lines of another.
func (l *Log) createFromSeed(lines []protocol.RolloutLine) (err error) {
	encoded, err := encode(slices.Concat(l.seed, lines))
	if err != nil {
		return err
	}
	if l.lock == nil {
		if l.lock, err = l.store.lock(l.id); err != nil {
			return err
		}
	}
	if err := l.writeSeeded(encoded); err != nil {
		_ = l.store.disk.Remove(l.path) // nobody was told of it
		return err
	}
	l.seed, l.created, l.entriesSynced, l.appended = nil, true, true, true
	return nil
}

func (l *Log) writeSeeded(encoded []byte) error {
	sub := tempFile{l.store, l.path + temporarySuffix}
	err := sub.write(func(out *paddedWriter) error {
		_, err := out.Write(encoded)
		return err
	})
	if err := sub.publish(err, l.path); err != nil {
		return err
	}
	if err := l.store.syncEntries(l.path); err != nil {
		return err
	}
	file, _, err := l.store.open(l.path, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	l.tail = &appender{file: file, validSize: int64(len(encoded))}
	return nil
}
