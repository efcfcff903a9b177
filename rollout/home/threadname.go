package home

import (
	"bytes"
	"os"
	"path/filepath"
	"time"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/line"
)

// NamesFile is the name of the file with the names of threads.
const NamesFile = "session_index.jsonl"

// NamedThread is a line of home/session_index.jsonl.
type NamedThread struct {
	ID   string `json:"id"`
	Name string `json:"thread_name"`
	// UpdatedAt is a time in RFC 3339 format, in UTC.
	UpdatedAt string `json:"updated_at"`
}

// Names returns the names of threads by id. The last line of a thread is valid. Malformed
// lines are skipped, and a missing file has no names.
func (h *Home) Names() (map[string]string, error) {
	lines, err := h.namedThreads()
	names := make(map[string]string, len(lines))
	for id, named := range lines {
		names[id] = named.Name
	}
	return names, err
}

// NameOf returns the name of a thread and the time it was set, or "".
func (h *Home) NameOf(id string) (name string, at time.Time, err error) {
	lines, err := h.namedThreads()
	if named, ok := lines[id]; ok {
		name = named.Name
		at, _ = time.Parse(time.RFC3339, named.UpdatedAt) // the zero time if it is malformed
	}
	return name, at, err
}

func (h *Home) namedThreads() (map[string]NamedThread, error) {
	path := filepath.Join(h.dir, NamesFile)
	file, info, err := disk.Open(h.disk, path, os.O_RDONLY)
	if disk.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := disk.ReadAll(file, info.Size())
	if err != nil {
		return nil, disk.Wrap("read", path, err)
	}
	return parseNames(data), nil
}

func parseNames(data []byte) map[string]NamedThread {
	names := map[string]NamedThread{}
	data = bytes.TrimPrefix(data, []byte(line.ByteOrderMark))
	for text := range bytes.Lines(data) {
		var named NamedThread
		if protocol.Unmarshal(text, &named) == nil && named.ID != "" {
			names[named.ID] = named
		}
	}
	return names
}

// AppendName appends the name of a thread, durably and all or nothing.
func (h *Home) AppendName(id, name string, at time.Time) error {
	names := h.LineFile(NamesFile)
	text, err := protocol.Marshal(NamedThread{id, name, at.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		return disk.Wrap("append to", names.path, err)
	}
	lock, err := names.Lock(disk.Exclusive)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }()
	return names.Append(append(text, '\n'))
}
