package listing

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"appserver/platform/disk"
	"appserver/protocol"
	"appserver/rollout/home"
	"appserver/rollout/line"
)

// Head holds what lists show of a thread. It is read from the start and the end of a rollout.
type Head struct {
	// ID is the thread id of the file name, or of Meta if the name has none.
	ID   string
	Path string
	// Name is the name that a client gave the thread, or "". Lists of a store of threads have it.
	Name string
	// Running is set while a turn is under way, if lists of a store of threads know that.
	Running bool
	// Meta is the session_meta. If that line is lost, Meta has the ID and the members that
	// Context provides.
	Meta protocol.SessionMeta
	// Context is the first turn_context of the head, or nil. In lists, the last lines of the
	// file override its model, provider, folder and effort, and those of Meta.
	Context *protocol.TurnContext
	// Preview is the text of the first user message, at most 1 MiB. In a fork of the reference
	// implementation the message may be in the origin file.
	Preview string
	// Origin is the id of the file in which the history begins, or "" if this file has all
	// lines.
	Origin string
	// CreatedAt is the time in Meta, or in the file name, or UpdatedAt.
	CreatedAt time.Time
	// UpdatedAt is the time of the last line in lists, or else the modification time of the
	// file.
	UpdatedAt time.Time
	// whole is set if the head includes the whole file.
	whole bool
}

// The head is the first 64 KiB of a file. Without a user message it is up to 1 MiB. Only the
// first 64 KiB of a longer line count, for example of a message with an image. maxLongHead
// bounds the bytes that are read; it is more than the longest client message.
const (
	headSize    = 64 << 10
	headGrowth  = 4
	maxHeadSize = 1 << 20
	maxLongHead = 96 << 20

	// maxPreview is the maximum length of a preview, in bytes.
	maxPreview = 1 << 20
)

var (
	errEmpty  = disk.Cause{Text: "it is empty", Next: "remove it, or put a copy back"}
	errNoLine = errors.New("no line of it can be read")
	errLong   = errors.New("it is too long to be read for a list")
)

// ReadHead reads the head of a rollout, even if List omits the rollout.
func (l *Lister) ReadHead(path string) (Head, error) {
	reader := headReader{lister: l}
	found, err := reader.read(path)
	if err == nil {
		reader.update(&found.head)
	}
	return found.head, err
}

// headReader reads heads. It reuses its buffer for several files.
type headReader struct {
	lister *Lister
	buf    []byte
}

// readListed returns the head of a file and whether lists include the file. The error explains
// why that is unknown.
func (r *headReader) readListed(path string) (Head, bool, error) {
	found, err := r.read(path)
	if err == nil && found.empty {
		err = disk.Wrap("list", path, errEmpty)
	}
	return found.head, err == nil && found.hasUser(), err
}

func (r *headReader) read(path string) (headScan, error) { return r.readFrom(path, 0) }

func (r *headReader) readFrom(path string, depth int) (headScan, error) {
	found, err := r.readOwn(path)
	if err == nil && found.origin.ID != "" && depth < line.MaxOrigins {
		if before, ok := r.readOrigin(found.origin, depth); ok {
			found.inherit(before)
		}
	}
	if err == nil {
		found.finish(path)
	}
	return found, err
}

// readOrigin returns the head of the origin file, or false if it cannot be read. Loading the
// thread reports the error.
func (r *headReader) readOrigin(o line.Origin, depth int) (headScan, bool) {
	path, err := r.lister.home.FindFile(o.ID)
	if err != nil {
		return headScan{}, false
	}
	before, err := r.readFrom(path, depth+1)
	return before, err == nil
}

// readOwn returns the head without the origin file.
func (r *headReader) readOwn(path string) (headScan, error) {
	file, info, err := r.lister.home.OpenFilled(path)
	if err != nil {
		return headScan{}, err
	}
	defer func() { _ = file.Close() }()
	var found headScan
	var data []byte
	bound := lengthBound(file, info)
	ended := false
	for size := int64(headSize); ; size *= headGrowth {
		size = min(size, maxHeadSize, bound)
		if data, err = r.fill(file, size); err != nil {
			return headScan{}, disk.Wrap("read", path, err)
		}
		found = headScan{}
		found.scan(data)
		ended = size == bound || int64(len(data)) < size
		if found.hasUser() || ended || size == maxHeadSize {
			break
		}
	}
	if !found.hasUser() && !ended && skippedBytes(data) > 0 {
		if found, err = r.readPastLongLines(file, bound); err != nil {
			return headScan{}, disk.Wrap("read", path, err)
		}
	}
	if found.empty = len(data) == 0; found.empty && disk.Problem(file) != nil {
		return headScan{}, disk.Wrap("read", path, disk.Problem(file))
	}
	found.head.UpdatedAt = info.ModTime()
	if found.head.whole = ended && len(data) <= headSize; found.head.whole {
		latest := latestIn(data)
		latest.Update(&found.head)
	}
	return found, nil
}

// lengthBound returns the length of a file, or a bound that no content of a compressed file reaches. That length is
// unknown before all of it is decompressed.
func lengthBound(file disk.File, info fs.FileInfo) int64 {
	if _, ok := file.(disk.Compressed); ok {
		return math.MaxInt64
	}
	return info.Size()
}

// skippedBytes returns the number of bytes in long lines that do not count towards the head.
func skippedBytes(head []byte) (n int) {
	for text := range bytes.Lines(head) {
		n += max(0, len(text)-headSize)
	}
	return n
}

// readPastLongLines reads the head of a file with long lines.
func (r *headReader) readPastLongLines(file disk.File, size int64) (found headScan, err error) {
	left := maxHeadSize
	for c, err := range r.lister.chunks.Chunks(file, 0, min(size, maxLongHead)) {
		if err != nil {
			return found, err
		}
		for text := range bytes.Lines(c.Data) {
			if found.scan(text); found.hasUser() || left <= 0 {
				return found, nil
			}
			left -= min(len(text), headSize)
		}
	}
	return found, nil
}

// fill reads the first size bytes, or fewer if the file is shorter by now.
func (r *headReader) fill(file disk.File, size int64) ([]byte, error) {
	if int64(len(r.buf)) < size {
		r.buf = make([]byte, max(size, headSize))
	}
	n, err := file.ReadAt(r.buf[:size], 0)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return r.buf[:n], err
}

// headScan collects a head from lines.
type headScan struct {
	head Head
	// meta is set after session_meta was found. empty is set if the file has no bytes.
	meta, empty bool
	// lines is set after a line was read.
	lines bool
	// event is the first user message of an event, and item that of a response item, or nil.
	// eventAt and itemAt are their ordinals.
	event, item     *string
	eventAt, itemAt int64
	// origin is the origin of the file.
	origin line.Origin
}

// inherit copies the first user message from the origin file.
func (h *headScan) inherit(before headScan) {
	if before.event != nil && h.origin.Includes(before.eventAt) {
		h.event, h.eventAt = before.event, before.eventAt
	}
	if before.item != nil && h.origin.Includes(before.itemAt) {
		h.item, h.itemAt = before.item, before.itemAt
	}
}

// hasUser reports whether a user message was found.
func (h *headScan) hasUser() bool { return h.event != nil || h.item != nil }

// scan reads lines until the head is complete. A line that is cut off at the end of data is
// not JSON and is skipped.
func (h *headScan) scan(data []byte) {
	data = bytes.TrimPrefix(data, []byte(line.ByteOrderMark))
	for text := range bytes.Lines(data) {
		if text, _ = line.Trim(text); len(text) == 0 {
			continue
		}
		for p := range line.Records(text) {
			h.lines = true
			h.addLine(p)
		}
		if h.event != nil && h.head.Context != nil && h.meta {
			return
		}
	}
}

func (h *headScan) addLine(p line.Parsed) {
	lineType, payload := p.Type, p.Payload
	switch {
	case lineType == protocol.LineSessionMeta && !h.meta:
		h.meta = true
		// A member of the wrong type stays empty; the others are decoded.
		_ = protocol.Unmarshal(payload, &h.head.Meta)
		h.origin = line.OriginIn(payload)
		h.head.Origin = h.origin.ID
	case lineType == protocol.LineTurnContext && h.head.Context == nil:
		var context protocol.TurnContext
		if protocol.Unmarshal(payload, &context) == nil {
			h.head.Context = &context
		}
	case lineType == protocol.LineEventMsg && h.event == nil:
		h.event, h.eventAt = eventText(payload), p.Stated
	case lineType == protocol.LineResponseItem && h.item == nil && h.event == nil:
		h.item, h.itemAt = itemText(payload), p.Stated
	}
}

// finish sets the remaining fields. UpdatedAt must be set before.
func (h *headScan) finish(path string) {
	head := &h.head
	head.Path = path
	head.Preview = h.preview()
	head.ID = home.ThreadID(path)
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
	if at, ok := home.TimeOf(path); ok {
		head.CreatedAt = at
	}
	if at, err := time.Parse(time.RFC3339Nano, head.Meta.Timestamp); err == nil {
		head.CreatedAt = at
	}
}

// eventText returns the text of an event with a user message, or nil.
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

// itemText returns the text of a response item that the user wrote, or nil.
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

// injectedPrefixes are the starts of user messages that a program has inserted.
var injectedPrefixes = []string{
	"<environment_context>",
	"<user_instructions>",
	"<turn_aborted>",
	"# AGENTS.md",
	protocol.PluginsTag,
	protocol.ToolDefinitionTag,
	protocol.ReminderHead,
	protocol.AgentNoticeTag,
}

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
