package line

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"unsafe"

	"github.com/tidwall/gjson"

	"appserver/platform/disk"
	"appserver/protocol"
)

const (
	// maxOrdinal is the limit of ordinals. Every JSON parser represents smaller integers
	// exactly.
	maxOrdinal = 1 << 53

	// ByteOrderMark is skipped at the start of a file.
	ByteOrderMark = "\ufeff"
)

// Reasons of Damage.
const (
	reasonNotJSON   = "not JSON"
	reasonZeroBytes = "not JSON: it has zero bytes"
	reasonNotObject = "not a JSON object"
	reasonNoType    = `no string "type"`
	reasonNoPayload = `no "payload"`
)

// Damage describes bytes that are not a line.
type Damage struct {
	// Path is the path of the backup if the damage is there, or else "".
	Path string
	// Line is the line number in the file, from 1, with blank lines included.
	Line int
	// Offset is the offset of the line, in bytes.
	Offset int64
	// Reason describes the defect.
	Reason string
}

// Parsed is a line without its final ordinal, which [Ordinals] assigns.
type Parsed struct {
	protocol.RolloutLine
	// Stated is the ordinal in the text, or negative.
	Stated int64
	// DamagedBefore is the number of damaged lines directly before this line.
	DamagedBefore int
	// Text is the line without surrounding space. Offset is its offset in the block, and Indent the number
	// of bytes of the line before it.
	Text   []byte
	Offset int64
	Indent int
}

// Block is the result of parsing consecutive lines.
type Block struct {
	Lines  []Parsed
	Damage []Damage
	// Marker is the last context_backup line, or nil.
	Marker *Marker
	// DamagedAfter is the number of damaged lines after the last sound one.
	DamagedAfter int
	// Count is the number of all lines.
	Count int
	// Torn is set if the block ends with a torn tail.
	Torn bool
	// Begin is the offset of the block in the file, in bytes.
	Begin int64
}

// ParseFile parses the bytes of a whole file. It uses one goroutine per CPU for more than
// 1 MiB.
func ParseFile(data []byte) []Block { return ParseChunk(data, true) }

// ParseChunk parses whole lines. start is set for the start of a file.
func ParseChunk(data []byte, start bool) []Block {
	return parseWith(disk.Workers(len(data)), data, start)
}

// parseWith parses whole lines with n goroutines.
func parseWith(n int, data []byte, start bool) []Block {
	parts := split(data, n)
	blocks := make([]Block, len(parts))
	disk.Parallel(len(parts), func(i int) { blocks[i] = parseBlock(parts[i], start && i == 0) })
	line, offset := 0, int64(0)
	for i := range blocks {
		blocks[i].Shift(line, offset)
		line += blocks[i].Count
		offset += int64(len(parts[i]))
	}
	return blocks
}

// Shift moves lines and offsets by those of the lines before the block.
func (r *Block) Shift(lines int, bytes int64) {
	for i := range r.Damage {
		r.Damage[i].Line += lines
		r.Damage[i].Offset += bytes
	}
	if r.Marker != nil {
		r.Marker.Line += lines
		r.Marker.Offset += bytes
	}
	r.Begin += bytes
}

// SetPath assigns damage to another file.
func (r *Block) SetPath(path string) {
	for i := range r.Damage {
		r.Damage[i].Path = path
	}
}

// FirstMeta returns the id in the first session_meta line, or "".
func FirstMeta(blocks []Block) string {
	for _, r := range blocks {
		for i := range r.Lines {
			if r.Lines[i].Type == protocol.LineSessionMeta {
				return gjson.GetBytes(r.Lines[i].Payload, "id").Str
			}
		}
	}
	return ""
}

// split splits data into at most n parts of similar size. Each consists of whole lines.
func split(data []byte, n int) [][]byte {
	var parts [][]byte
	for ; n > 1; n-- {
		cut := len(data) / n
		lf := bytes.IndexByte(data[cut:], '\n')
		if lf < 0 {
			break
		}
		parts = append(parts, data[:cut+lf+1])
		data = data[cut+lf+1:]
	}
	return append(parts, data)
}

// parseBlock parses whole lines, and the text after the last LF.
func parseBlock(data []byte, start bool) Block {
	r := Block{Lines: make([]Parsed, 0, len(data)/512)}
	for rest := data; len(rest) > 0; {
		offset := int64(len(data) - len(rest))
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		rest = after
		mark := 0
		if start && offset == 0 && bytes.HasPrefix(line, []byte(ByteOrderMark)) {
			mark = len(ByteOrderMark)
		}
		r.Count++
		line, left := Trim(line[mark:])
		r.add(line, offset, mark+left, whole)
	}
	return r
}

// add adds a line. behind is the number of bytes before it that are not part of its text.
func (r *Block) add(line []byte, offset int64, behind int, whole bool) {
	if len(line) == 0 {
		return
	}
	p, reason := Parse(line)
	if reason == "" {
		p.Text, p.Offset, p.Indent = line, offset+int64(behind), behind
		r.addRecord(p, offset)
		return
	}
	r.addPieces(Pieces(line), offset, int64(behind), reason, whole)
}

// addPieces adds the parts of a damaged line. The damage is reported once, and counts as one line unless only an LF is
// missing between records. A last part without LF and zero bytes is a torn tail: an interrupted write leaves no zero
// bytes, but some disks do after a crash.
func (r *Block) addPieces(pieces []Piece, offset, behind int64, reason string, whole bool) {
	lost, torn, zeros := false, false, false
	for i, piece := range pieces {
		hasZeros := bytes.IndexByte(piece.Text, 0) >= 0
		switch {
		case piece.Sound:
			begin := offset
			if piece.Offset += offset + behind; piece.Offset > offset+behind {
				begin = piece.Offset
			}
			r.addRecord(piece.Parsed, begin)
		case !whole && !hasZeros && i == len(pieces)-1:
			torn = true
		case !lost:
			lost = true
			r.DamagedAfter++
		}
		zeros = zeros || hasZeros
	}
	r.Torn = r.Torn || torn
	if torn && !lost && len(pieces) <= 2 {
		return // at most one record before the torn tail
	}
	if !whole && zeros {
		reason = reasonZeroBytes
	}
	r.Damage = append(r.Damage, Damage{Line: r.Count, Offset: offset, Reason: reason})
}

// addRecord adds a sound record. If it is a marker, that is at the offset begin.
func (r *Block) addRecord(p Parsed, begin int64) {
	p.DamagedBefore, r.DamagedAfter = r.DamagedAfter, 0
	r.Lines = append(r.Lines, p)
	if p.Type == protocol.LineContextBackup {
		r.Marker = &Marker{Line: r.Count, Offset: begin, Payload: p.Payload}
	}
}

// Parse parses a line without surrounding space. The reason is empty if the line is sound. The
// result aliases the text.
func Parse(line []byte) (p Parsed, reason string) {
	p.Stated = -1
	typed := false
	end := scanObject(line, 0, 0, func(name, value []byte) {
		switch stringValue(name) {
		case "timestamp":
			p.Timestamp = stringValue(value)
		case "ordinal":
			p.Stated = parseOrdinal(value)
		case "type":
			p.Type, typed = stringValue(value), value[0] == '"'
		case "payload":
			p.Payload = value
		}
	})
	switch {
	case end != len(line) && isJSON(line):
		return p, reasonNotObject
	case end != len(line):
		return p, reasonNotJSON
	case !typed:
		return p, reasonNoType
	case p.Payload == nil:
		return p, reasonNoPayload
	}
	return p, ""
}

// ParseHead parses a line that Encode wrote, without validating its payload. It returns false for any other line, such
// as one that was split, or overwritten with zeros. The line must have been parsed before.
func ParseHead(line []byte) (p Parsed, ok bool) {
	head := header{rest: line, ok: bytes.HasSuffix(line, []byte("}")) && !hasAny(line, 0, '\n')}
	p.Timestamp = head.until(`{"timestamp":"`, '"')
	p.Stated = parseOrdinal([]byte(head.until(`","ordinal":`, ',')))
	p.Type = head.until(`,"type":"`, '"')
	head.until(`","payload":`, 0)
	if !head.ok || p.Stated < 0 || len(head.rest) < 2 {
		return Parsed{}, false
	}
	p.Payload = head.rest[:len(head.rest)-1]
	return p, true
}

// hasAny reports whether text has one of the bytes. It is faster than bytes.ContainsAny.
func hasAny(text []byte, any ...byte) bool {
	return slices.ContainsFunc(any, func(b byte) bool { return bytes.IndexByte(text, b) >= 0 })
}

// header is the rest of a line while its head is parsed.
type header struct {
	rest []byte
	ok   bool
}

// until skips a text, which must follow, and returns the value up to a delimiter, or "" if that is 0. A value has no
// escapes.
func (h *header) until(text string, delimiter byte) string {
	rest, ok := bytes.CutPrefix(h.rest, []byte(text))
	end := 0
	if delimiter != 0 {
		end = bytes.IndexByte(rest, delimiter)
	}
	if h.ok = h.ok && ok && end >= 0 && bytes.IndexByte(rest[:max(end, 0)], '\\') < 0; !h.ok {
		return ""
	}
	h.rest = rest[end:]
	return unsafe.String(unsafe.SliceData(rest), end)
}

// stringValue returns the value of a JSON string, or "" for another value. The result aliases
// the buffer if the string has no escapes.
func stringValue(value []byte) string {
	if value[0] != '"' {
		return ""
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return unsafe.String(unsafe.SliceData(inner), len(inner))
	}
	var decoded string
	if protocol.Unmarshal(value, &decoded) != nil {
		return ""
	}
	return decoded
}

func parseOrdinal(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n < 0 || n >= maxOrdinal {
		return -1
	}
	return n
}

// Lines returns an iterator over the lines of a part of a file without surrounding space, each
// with its offset. A byte order mark at the start of the part is skipped.
func Lines(part []byte) iter.Seq2[int64, []byte] {
	return func(yield func(int64, []byte) bool) {
		at := int64(0)
		for raw := range bytes.Lines(part) {
			line := raw
			if at == 0 {
				line = bytes.TrimPrefix(raw, []byte(ByteOrderMark))
			}
			line, _ = Trim(line)
			if !yield(at, line) {
				return
			}
			at += int64(len(raw))
		}
	}
}
