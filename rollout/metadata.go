package rollout

import (
	"bytes"
	"encoding/json"
	"os"

	"appserver/protocol"
)

// tailSize is how much of a file's end a list looks at, in bytes.
const tailSize = 256 << 10

// MetadataOf is what a line says of the thread's repository; ok is false where it is about
// something else.
func MetadataOf(l protocol.RolloutLine) (m protocol.ThreadMetadata, ok bool) {
	return m, l.Type == protocol.LineThreadMetadata && json.Unmarshal(l.Payload, &m) == nil
}

// update makes a head tell what a client has told of the repository last, where that is near
// the end of the file.
func (r *headReader) update(h *Head) {
	if h.whole {
		return
	}
	file, info, err := r.store.open(h.Path, os.O_RDONLY)
	if err != nil {
		return // it has been read a moment ago
	}
	defer func() { _ = file.Close() }()
	tail := make([]byte, min(info.Size(), tailSize))
	if _, err := file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil {
		return
	}
	h.tell(tail)
}

// tell takes what lines tell of the repository.
func (h *Head) tell(lines []byte) {
	if m, ok := lastMetadata(lines); ok {
		h.Meta.Git = m.Git
	}
}

// lastMetadata is that of the last line of the kind.
func lastMetadata(data []byte) (protocol.ThreadMetadata, bool) {
	for {
		at := bytes.LastIndex(data, []byte(`"`+protocol.LineThreadMetadata+`"`))
		if at < 0 {
			return protocol.ThreadMetadata{}, false
		}
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		line, _, _ := bytes.Cut(data[begin:], []byte{'\n'})
		line, _ = trimLine(line)
		if p, reason := parseLine(line); reason == "" {
			if m, ok := MetadataOf(p.RolloutLine); ok {
				return m, true
			}
		}
		data = data[:begin]
	}
}
