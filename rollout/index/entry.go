package index

import (
	"hash/crc32"
	"io/fs"
	"path"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"appserver/protocol"
	"appserver/rollout"
)

const (
	// beginSize is how much of a file's begin is remembered to know it again, maxText how
	// much of a message is kept, maxPiece how much text of a file is taken in at once, all
	// in bytes.
	beginSize = 1 << 10
	maxText   = 64 << 10
	maxCall   = 1 << 10
	maxChunk  = 4 << 20
	// maxHistory bounds what is taken in of the files that one goes on from.
	maxHistory = 4 * maxChunk

	titleLength = 80

	// unread is the size of a file that could not be read, so that it is tried again.
	sizeUnread = -1
)

// place is a rollout, below which root it is and where.
type location struct{ root, path string }

func (p location) folder() string {
	if dir := path.Dir(p.path); dir != "." {
		return dir
	}
	return ""
}

// state is what tells whether a file has changed.
type fileState struct{ inode, size, modTime int64 }

func fileStateOf(info fs.FileInfo) fileState {
	s := fileState{size: info.Size(), modTime: info.ModTime().UnixNano()}
	if system, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = int64(system.Ino)
	}
	return s
}

// known is what the index knows of a file.
type indexedState struct {
	fileState
	// offset is behind the last line that was read.
	offset int64
	// beginSize bytes at the file's begin have the checksum beginSum.
	beginSize, beginSum int64
}

// entry is what a reading of a file adds.
type entry struct {
	location
	// before is what the reading went on from; the zero known where it began anew.
	previous indexedState
	indexedState
	listed   bool
	head     rollout.Head
	messages []message
	// latest is the state that the lines of this reading give.
	latest rollout.Latest
}

type message struct {
	rollout.Message
	offset int64
}

// reader reads files for the index.
type fileReader struct {
	store    *rollout.Store
	follower rollout.Follower
	// stop ends the reading of a file; nil does not.
	stop *atomic.Bool
}

// read reads what is new in a file. One that cannot be read has an entry, too.
func (r *fileReader) read(p location, before indexedState, info fs.FileInfo) entry {
	e := entry{location: p, previous: before, indexedState: indexedState{fileState: fileStateOf(info)}}
	var headErr error
	e.head, e.listed, headErr = r.store.ListedHead(p.root, p.path)
	file, _, err := r.store.OpenRead(p.root, p.path)
	if err != nil {
		e.size = sizeUnread
		return e
	}
	defer func() { _ = file.Close() }()
	if rollout.IsTransient(headErr) {
		e.size = sizeUnread
		return e
	}
	if before.inode != e.inode || before.offset > e.size || !hasSameStart(file, before) {
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

// begins tells whether a file begins as it did.
func hasSameStart(file rollout.File, k indexedState) bool {
	return k.beginSize > 0 && checksum(file, k.beginSize) == k.beginSum
}

// sum is that of the first bytes of a file, -1 where they cannot be read.
func checksum(file rollout.File, size int64) int64 {
	data := make([]byte, size)
	if _, err := file.ReadAt(data, 0); size > 0 && err != nil {
		return -1
	}
	return int64(crc32.ChecksumIEEE(data))
}

// hearing is what was read of messages. One may stand in a file several times.
type messageCollector struct {
	// last is the last text of each role.
	last     map[string]string
	messages []message
	size     int
}

func (h *messageCollector) add(offset int64, l protocol.RolloutLine) {
	m, ok := rollout.MessageOf(l)
	if m.Text = prefixOf(m.Text, limit(m)); ok && h.last[m.Role] != m.Text {
		h.last[m.Role] = m.Text
		h.size += len(m.Text)
		h.messages = append(h.messages, message{m, offset})
	}
}

// take takes the messages in. Of a file with much text it takes a piece: then its size is
// said to be where the piece ends, so that the file seems to have grown.
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
	case full && end < e.size:
		e.size = end
	}
}

func (r *fileReader) stopped() bool { return r.stop != nil && r.stop.Load() }

// takeHistory takes in what comes before a file's own lines, up to a bound, so that it is found
// in this thread too. Its messages have offsets below 0, in their order. What of it cannot be
// read the thread itself tells when it is read; the error is the last reason.
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

func (r *fileReader) readSegment(collector *messageCollector, p rollout.Segment, at int64) error {
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

func limit(m rollout.Message) int {
	if m.ToolName != "" {
		return maxCall
	}
	return maxText
}

// cut is the begin of a text, at most so many bytes, without half a character.
func prefixOf(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// title is the first line of a preview.
func title(preview string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(preview), "\n")
	runes := []rune(strings.TrimSpace(prefixOf(line, utf8.UTFMax*titleLength)))
	return string(runes[:min(len(runes), titleLength)])
}

// stored is what the index keeps of a head as JSON: what lists show of it.
type headJSON struct {
	Meta protocol.SessionMeta `json:"meta"`
	// Context tells whether there is a turn_context, which has the others.
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
