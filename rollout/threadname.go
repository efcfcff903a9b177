package rollout

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"appserver/protocol"
)

const namesFile = "session_index.jsonl"

// namedThread is a line of home/session_index.jsonl.
type namedThread struct {
	ID   string `json:"id"`
	Name string `json:"thread_name"`
	// UpdatedAt is a time in RFC 3339 format, in UTC.
	UpdatedAt string `json:"updated_at"`
}

// Names returns the names of threads by id. The last line of a thread is valid. Malformed
// lines are skipped, and a missing file has no names.
func (s *Store) Names() (map[string]string, error) {
	lines, err := s.namedThreads()
	names := make(map[string]string, len(lines))
	for id, named := range lines {
		names[id] = named.Name
	}
	return names, err
}

// NameOf returns the name of a thread and the time it was set, or "".
func (s *Store) NameOf(id string) (name string, at time.Time, err error) {
	lines, err := s.namedThreads()
	if named, ok := lines[id]; ok {
		name = named.Name
		at, _ = time.Parse(time.RFC3339, named.UpdatedAt) // the zero time if it is malformed
	}
	return name, at, err
}

func (s *Store) namedThreads() (map[string]namedThread, error) {
	path := filepath.Join(s.home, namesFile)
	file, info, err := s.open(path, os.O_RDONLY)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := readAll(file, info.Size())
	if err != nil {
		return nil, diskError("read", path, err)
	}
	return parseNames(data), nil
}

func parseNames(data []byte) map[string]namedThread {
	names := map[string]namedThread{}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	for line := range bytes.Lines(data) {
		var named namedThread
		if protocol.Unmarshal(line, &named) == nil && named.ID != "" {
			names[named.ID] = named
		}
	}
	return names
}

// AppendName appends the name of a thread, durably and all or nothing.
func (s *Store) AppendName(id, name string, at time.Time) error {
	names := s.LineFile(namesFile)
	line, err := protocol.Marshal(namedThread{id, name, at.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		return diskError("append to", names.path, err)
	}
	lock, err := names.Lock(Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	return names.Append(append(line, '\n'))
}
