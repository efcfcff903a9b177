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
	// UpdatedAt is RFC 3339 in UTC.
	UpdatedAt string `json:"updated_at"`
}

// Names are the threads' names by id. The last line for a thread wins; lines that are
// none are skipped, and where there is no file there are no names.
func (s *Store) Names() (map[string]string, error) {
	lines, err := s.namedThreads()
	names := make(map[string]string, len(lines))
	for id, named := range lines {
		names[id] = named.Name
	}
	return names, err
}

// NameOf is a thread's name and when it got it; "" where it has none.
func (s *Store) NameOf(id string) (name string, at time.Time, err error) {
	lines, err := s.namedThreads()
	if named, ok := lines[id]; ok {
		name = named.Name
		at, _ = time.Parse(time.RFC3339, named.UpdatedAt) // the zero time where it is none
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

// AppendName records a thread's name; it is durable when nil is returned, and not
// recorded otherwise.
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
