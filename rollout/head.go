package rollout

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// Head is what a list shows of a thread, from the begin of its rollout.
type Head struct {
	// ID comes from the file's name, or from Meta where that has none.
	ID   string
	Path string
	// Meta has an ID where the first line was lost, and what Context tells.
	Meta protocol.SessionMeta
	// Context is the first turn_context of the head, or nil. A list sets its model, provider, folder and effort, and
	// those of Meta, to the last ones of the file.
	Context *protocol.TurnContext
	// Preview is the text of the first user message, up to a mebibyte, also where that is in
	// the file that this one goes on from.
	Preview string
	// Origin is the id of the file that this one goes on from; "" where it has all lines.
	Origin string
	// CreatedAt is the time in Meta, else that in the file's name, else UpdatedAt.
	CreatedAt time.Time
	// UpdatedAt is the time of the last line in a list, else that of the file.
	UpdatedAt time.Time
	// whole is set where all of the file was looked at.
	whole bool
}

// The head is the first 64 KiB of a file, and up to 1 MiB where those hold no user
// message. Of a line that is longer than 64 KiB, such as a message with an image, no more counts
// there; but nothing behind longHead is read, in bytes, which is more than a message of a client has.
const (
	headSize    = 64 << 10
	headGrowth  = 4
	maxHeadSize = 1 << 20
	maxLongHead = 96 << 20

	// maxPreview is of a preview, in bytes.
	maxPreview = 1 << 20
)

// ReadHead reads the head of a rollout, whether List would show it or not.
func (s *Store) ReadHead(path string) (Head, error) {
	reader := headReader{store: s}
	found, err := reader.read(path)
	if err == nil {
		reader.update(&found.head)
	}
	return found.head, err
}

// headReader keeps its buffer from file to file.
type headReader struct {
	store *Store
	buf   []byte
}

// listed is the head of a file, and whether that belongs in a list. The error tells why
// that is not known.
func (r *headReader) readListed(path string) (Head, bool, error) {
	found, err := r.read(path)
	if err == nil && found.empty {
		err = diskError("list", path, errEmpty)
	}
	return found.head, err == nil && found.hasUser(), err
}

func (r *headReader) read(path string) (headScan, error) { return r.readFrom(path, 0) }

func (r *headReader) readFrom(path string, depth int) (headScan, error) {
	found, err := r.readOwn(path)
	if err == nil && found.origin.id != "" && depth < maxOrigins {
		if before, ok := r.readOrigin(found.origin, depth); ok {
			found.inherit(before)
		}
	}
	if err == nil {
		found.finish(path)
	}
	return found, err
}

// readOrigin is the head of the file that another goes on from. One that cannot be read is
// told of when the thread is.
func (r *headReader) readOrigin(o origin, depth int) (headScan, bool) {
	path, err := r.store.findFile(o.id)
	if err != nil {
		return headScan{}, false
	}
	before, err := r.readFrom(path, depth+1)
	return before, err == nil
}

// readOwn is what the file itself tells.
func (r *headReader) readOwn(path string) (headScan, error) {
	file, info, err := r.store.openFilled(path)
	if err != nil {
		return headScan{}, err
	}
	defer func() { _ = file.Close() }()
	var found headScan
	var data []byte
	for size := int64(headSize); ; size *= headGrowth {
		size = min(size, maxHeadSize, info.Size())
		if data, err = r.fill(file, size); err != nil {
			return headScan{}, diskError("read", path, err)
		}
		found = headScan{}
		found.scan(data)
		if found.hasUser() || size == info.Size() || size == maxHeadSize {
			break
		}
	}
	if !found.hasUser() && int64(len(data)) < info.Size() && skippedBytes(data) > 0 {
		if found, err = r.readPastLongLines(file, info.Size()); err != nil {
			return headScan{}, diskError("read", path, err)
		}
	}
	found.empty = info.Size() == 0
	found.head.UpdatedAt = info.ModTime()
	if found.head.whole = info.Size() <= headSize; found.head.whole {
		latest := latestIn(data)
		latest.Update(&found.head)
	}
	return found, nil
}

// uncounted is how many bytes of a head do not count, since the lines that they are in are long.
func skippedBytes(head []byte) (n int) {
	for line := range bytes.Lines(head) {
		n += max(0, len(line)-headSize)
	}
	return n
}

// readLong is what a file tells in whose head there are long lines.
func (r *headReader) readPastLongLines(file File, size int64) (found headScan, err error) {
	left := maxHeadSize
	for c, err := range r.store.chunkReader.chunks(file, 0, min(size, maxLongHead)) {
		if err != nil {
			return found, err
		}
		for line := range bytes.Lines(c.data) {
			if found.scan(line); found.hasUser() || left <= 0 {
				return found, nil
			}
			left -= min(len(line), headSize)
		}
	}
	return found, nil
}

// fill reads the first size bytes, or fewer if the file has become shorter.
func (r *headReader) fill(file File, size int64) ([]byte, error) {
	if int64(len(r.buf)) < size {
		r.buf = make([]byte, max(size, headSize))
	}
	n, err := file.ReadAt(r.buf[:size], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return r.buf[:n], err
}

// headScan collects a head from the lines of a file.
type headScan struct {
	head Head
	// meta is set once session_meta was found, empty where the file has no bytes.
	meta, empty bool
	// lines is set once a line was read.
	lines bool
	// event is set once an event told the user's first message; item is that of the
	// first response item that looks like one. Each has its ordinal.
	event, item     *string
	eventAt, itemAt int64
	// origin is what the file goes on from.
	origin origin
}

// inherit takes over the user's first message from what the file goes on from.
func (h *headScan) inherit(before headScan) {
	if before.event != nil && h.origin.includes(before.eventAt) {
		h.event, h.eventAt = before.event, before.eventAt
	}
	if before.item != nil && h.origin.includes(before.itemAt) {
		h.item, h.itemAt = before.item, before.itemAt
	}
}

// hasUser tells whether there is a user message.
func (h *headScan) hasUser() bool { return h.event != nil || h.item != nil }

// scan reads lines until it has seen all it looks for. What the end of the data cuts
// short is no JSON object.
func (h *headScan) scan(data []byte) {
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	for line := range bytes.Lines(data) {
		if line, _ = trimLine(line); len(line) == 0 {
			continue
		}
		if p, reason := parseLine(line); reason == "" {
			h.lines = true
			h.addLine(p)
		}
		if h.event != nil && h.head.Context != nil && h.meta {
			return
		}
	}
}

func (h *headScan) addLine(p parsed) {
	lineType, payload := p.Type, p.Payload
	switch {
	case lineType == protocol.LineSessionMeta && !h.meta:
		h.meta = true
		// A member of the wrong type costs that member.
		_ = protocol.Unmarshal(payload, &h.head.Meta)
		h.origin = originIn(payload)
		h.head.Origin = h.origin.id
	case lineType == protocol.LineTurnContext && h.head.Context == nil:
		var context protocol.TurnContext
		if protocol.Unmarshal(payload, &context) == nil {
			h.head.Context = &context
		}
	case lineType == protocol.LineEventMsg && h.event == nil:
		h.event, h.eventAt = eventText(payload), p.ordinal
	case lineType == protocol.LineResponseItem && h.item == nil && h.event == nil:
		h.item, h.itemAt = itemText(payload), p.ordinal
	}
}

// finish fills the head in, of which UpdatedAt is known.
func (h *headScan) finish(path string) {
	head := &h.head
	head.Path = path
	switch {
	case h.event != nil:
		head.Preview = prefixOf(protocol.PreviewOf(*h.event), maxPreview)
	case h.item != nil:
		head.Preview = prefixOf(protocol.PreviewOf(*h.item), maxPreview)
	}
	head.ID = threadID(path)
	if head.ID == "" {
		head.ID = head.Meta.ID
	}
	if head.Meta.ID == "" {
		head.Meta.ID = head.ID
	}
	if c := head.Context; c != nil && !h.meta {
		head.Meta.Cwd, head.Meta.ModelProvider = c.Cwd, c.ModelProvider
	}
	head.CreatedAt = head.UpdatedAt
	if at, ok := nameTimeOf(path); ok {
		head.CreatedAt = at
	}
	if at, err := time.Parse(time.RFC3339Nano, head.Meta.Timestamp); err == nil {
		head.CreatedAt = at
	}
}

// beginOf is the begin of a text, at most so many bytes, without half a character.
func prefixOf(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// eventText is the text of an event that tells a user message, else nil.
func eventText(payload []byte) *string {
	switch gjson.GetBytes(payload, "type").Str {
	case protocol.EventUserMessage:
		text := gjson.GetBytes(payload, "message").String()
		return &text
	case protocol.EventItemCompleted:
		if gjson.GetBytes(payload, "item.type").Str == "UserMessage" {
			return contentText(gjson.GetBytes(payload, "item.content"))
		}
	}
	return nil
}

// itemText is the text of a message that the user wrote, else nil.
func itemText(payload []byte) *string {
	item := gjson.ParseBytes(payload)
	if item.Get("type").Str != "message" || item.Get("role").Str != protocol.RoleUser {
		return nil
	}
	text := contentText(item.Get("content"))
	for _, mark := range injectedPrefixes {
		if strings.HasPrefix(strings.TrimSpace(*text), mark) {
			return nil
		}
	}
	return text
}

// injected are the begins of messages that are put in on the user's behalf.
var injectedPrefixes = []string{"<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md", protocol.PluginsTag, protocol.ReminderHead}

func contentText(content gjson.Result) *string {
	var text strings.Builder
	for _, part := range content.Array() {
		switch part.Get("type").Str {
		case "text", protocol.ContentInputText:
			text.WriteString(part.Get("text").Str)
		}
	}
	whole := text.String()
	return &whole
}
