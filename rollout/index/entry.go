package index

import (
	"hash/crc32"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/line"
	"appserver/rollout/listing"
)

const (
	// Limits in bytes. beginSize is the length of the checksummed start of a file. maxText limits a
	// stored message, maxCall a stored tool call, and maxChunk the text of one read.
	beginSize = 1 << 10
	maxText   = 64 << 10
	maxCall   = 1 << 10
	maxChunk  = 4 << 20
	// maxHistory limits the text that is read from origin files.
	maxHistory = 4 * maxChunk

	titleLength = 80

	// sizeUnread is stored as the size of an unreadable file. It differs from every real size,
	// so the file is read again.
	sizeUnread = -1

	// sizePart is stored as the size of a compressed file of which a part was read.
	sizePart = -2
)

// location identifies a rollout by its root and the path below it.
type location struct{ root, path string }

func (p location) folder() string {
	if dir := path.Dir(p.path); dir != "." {
		return dir
	}
	return ""
}

// fileState detects changes of a file.
type fileState struct{ inode, size, modTime int64 }

func fileStateOf(info fs.FileInfo) fileState {
	return fileState{inode: inodeOf(info), size: info.Size(), modTime: info.ModTime().UnixNano()}
}

// indexedState is the state of a file in the index.
type indexedState struct {
	fileState
	// offset is the end of the last line that was read.
	offset int64
	// beginSum is the checksum of the first beginSize bytes.
	beginSize, beginSum int64
}

type message struct {
	listing.Message
	offset int64
}

// fileReader reads files for the index.
type fileReader struct {
	store    *rollout.Store
	follower line.Follower
	// stop ends the reading of a file. It may be nil.
	stop *atomic.Bool
}

// read reads the new lines of a file. An unreadable file has an entry as well.
func (r *fileReader) read(p location, before indexedState, info fs.FileInfo) entry {
	e := entry{location: p, known: before, previous: before, indexedState: indexedState{fileState: fileStateOf(info)}}
	var headErr error
	e.head, e.listed, headErr = r.store.ListedHead(p.root, p.path)
	file, _, err := r.store.OpenRead(p.root, p.path)
	if err != nil {
		e.size = sizeUnread
		return e
	}
	defer func() { _ = file.Close() }()
	if rollout.IsTransient(headErr) || headErr != nil && isCompressed(file) {
		e.size = sizeUnread
		return e
	}
	shrunk := !isCompressed(file) && before.offset > e.size
	if before.inode != e.inode || shrunk || !hasSameStart(file, before) {
		e.previous = indexedState{}
	}
	e.offset = e.previous.offset
	collector := messageCollector{last: map[string]string{}}
	if e.offset == 0 && e.head.Origin != "" {
		if rollout.IsTransient(r.readHistory(&collector, e.head.Path)) {
			e.size = sizeUnread
			return e
		}
	}
	r.readMessages(&e, &collector, file)
	e.messages = collector.messages
	e.beginSize = min(beginSize, e.offset)
	e.beginSum = checksum(file, e.beginSize)
	return e
}

// isCompressed reports whether the size of a file is not that of its content.
func isCompressed(file rollout.File) bool {
	_, compressed := file.(rollout.Compressed)
	return compressed
}

// hasSameStart reports whether the start of a file is unchanged.
func hasSameStart(file rollout.File, k indexedState) bool {
	return k.beginSize > 0 && checksum(file, k.beginSize) == k.beginSum
}

// checksum returns the checksum of the first bytes of a file, or -1 if they cannot be read.
func checksum(file rollout.File, size int64) int64 {
	data := make([]byte, size)
	if _, err := file.ReadAt(data, 0); size > 0 && err != nil {
		return -1
	}
	return int64(crc32.ChecksumIEEE(data))
}

// messageCollector collects messages. It removes repetitions, because a rollout may have a
// message both as an item and as an event.
type messageCollector struct {
	// last is the last text of each role.
	last     map[string]string
	messages []message
	size     int
}

func (h *messageCollector) add(offset int64, l protocol.RolloutLine) {
	m, ok := listing.MessageOf(l)
	if m = m.Truncate(limit(m)); ok && h.last[m.Role] != m.Text {
		h.last[m.Role] = m.Text
		h.size += len(m.Text)
		h.messages = append(h.messages, message{m, offset})
	}
}

// readMessages reads the messages of a file. It stops after maxChunk bytes of text. It then
// stores the end of that part as the size. So the file seems to have grown.
func (r *fileReader) readMessages(e *entry, collector *messageCollector, file rollout.File) {
	full, before := false, collector.size
	end, err := r.follower.Follow(file, e.offset, func(offset int64, l protocol.RolloutLine) bool {
		collector.add(offset, l)
		e.latest.Add(l)
		full = collector.size-before >= maxChunk
		return !full && !r.stopped()
	})
	e.offset = end
	switch {
	case err != nil:
		e.size = sizeUnread
	case full && isCompressed(file):
		e.size = sizePart
	case full && end < e.size:
		e.size = end
	}
}

func (r *fileReader) stopped() bool { return r.stop != nil && r.stop.Load() }

// readHistory reads the messages that precede a file's own lines, at most maxHistory bytes. So
// a search finds them in this thread too. Their offsets are negative and in order. The error
// is the last one; loading the thread reports it.
func (r *fileReader) readHistory(collector *messageCollector, path string) error {
	segments, failed := r.store.History(path)
	at := int64(0)
	for _, p := range segments {
		at -= p.End
	}
	for _, p := range segments {
		if err := r.readSegment(collector, p, at); err != nil {
			failed = err
		}
		at += p.End
	}
	return failed
}

func (r *fileReader) readSegment(collector *messageCollector, p listing.Segment, at int64) error {
	root, name, _ := r.store.RelPath(p.Path)
	file, _, err := r.store.OpenRead(root, name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	_, err = r.follower.Follow(file, 0, func(offset int64, l protocol.RolloutLine) bool {
		if offset < p.End {
			collector.add(at+offset, l)
		}
		return offset < p.End && collector.size < maxHistory && !r.stopped()
	})
	return err
}

func limit(m listing.Message) int {
	if m.ToolName != "" {
		return maxCall
	}
	return maxText
}

// title returns the first titleLength runes of a preview's first line.
func title(preview string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(preview), "\n")
	line, count := strings.TrimSpace(line), 0
	for i := range line {
		if count == titleLength {
			return line[:i]
		}
		count++
	}
	return line
}

// headJSON is the part of a head that lists show.
type headJSON struct {
	Meta protocol.SessionMeta `json:"meta"`
	// Context is set if the head has a turn_context. Model and Effort belong to it.
	Context bool    `json:"context,omitempty"`
	Model   string  `json:"model,omitempty"`
	Effort  *string `json:"effort,omitempty"`
	// Updated is in Unix nanoseconds.
	Updated int64 `json:"updated"`
}

func encodeHead(h rollout.Head) (string, error) {
	s := headJSON{Meta: h.Meta, Context: h.Context != nil, Updated: h.UpdatedAt.UnixNano()}
	s.Meta.BaseInstructions, s.Meta.DeveloperInstructions = nil, nil
	if s.Context {
		s.Model, s.Effort = h.Context.Model, h.Context.Effort
	}
	text, err := protocol.Marshal(s)
	return string(text), err
}

func decodeHead(text string, h *rollout.Head) error {
	var s headJSON
	if err := protocol.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	h.Meta, h.UpdatedAt = s.Meta, nanoTime(s.Updated)
	if s.Context {
		h.Context = &protocol.TurnContext{Model: s.Model, Effort: s.Effort}
	}
	return nil
}

func nanoTime(n int64) time.Time { return time.Unix(0, n) }
