package rollout

import (
	"bytes"
	"strconv"
	"unsafe"

	"appserver/protocol"
)

const (
	// maxOrdinal is the limit of ordinals. Every JSON parser represents smaller integers
	// exactly.
	maxOrdinal = 1 << 53

	byteOrderMark = "\ufeff"
)

// Reasons of Damage.
const (
	reasonNotJSON   = "not JSON"
	reasonZeroBytes = "not JSON: it has zero bytes"
	reasonNotObject = "not a JSON object"
	reasonNoType    = `no string "type"`
	reasonNoPayload = `no "payload"`
)

// parsed is a line without its final ordinal.
type parsed struct {
	protocol.RolloutLine
	// ordinal is negative if the line has none.
	ordinal int64
	// before is the number of damaged lines directly before this line.
	before int
	// at is the offset of the line in its block without leading space, and size its length, in
	// bytes.
	at   int64
	size int
}

// block is the result of parsing consecutive lines.
type block struct {
	lines  []parsed
	damage []Damage
	// marker is the last context_backup line, or nil.
	marker *marker
	// after is the number of damaged lines after the last sound one.
	after int
	// count is the number of all lines.
	count int
	torn  bool
	// begin is the offset of the block in the file.
	begin int64
}

// parse sets c from the bytes of a file, with n goroutines.
func (c *Contents) parse(data []byte, n int) { c.addBlocks(parseBlocks(data, n)) }

// parseBlocks parses the bytes of a file with n goroutines.
func parseBlocks(data []byte, n int) []block { return parseBlocksOf(data, n, true) }

// parseBlocksOf parses whole lines with n goroutines. start is set for the start of a file.
func parseBlocksOf(data []byte, n int, start bool) []block {
	parts := split(data, n)
	blocks := make([]block, len(parts))
	parallel(len(parts), func(i int) { blocks[i] = parseBlock(parts[i], start && i == 0) })
	line, offset := 0, int64(0)
	for i := range blocks {
		blocks[i].shift(line, offset)
		line += blocks[i].count
		offset += int64(len(parts[i]))
	}
	return blocks
}

// shift moves lines and offsets by those of the lines before the block.
func (r *block) shift(lines int, bytes int64) {
	for i := range r.damage {
		r.damage[i].Line += lines
		r.damage[i].Offset += bytes
	}
	if r.marker != nil {
		r.marker.line += lines
		r.marker.offset += bytes
	}
	r.begin += bytes
}

// addBlocks sets c from consecutive blocks.
func (c *Contents) addBlocks(blocks []block) {
	total := 0
	for _, r := range blocks {
		total += len(r.lines)
	}
	c.Lines = make([]protocol.RolloutLine, 0, total)
	ordinals := make([]int64, total)
	for _, r := range blocks {
		c.appendLines(r.lines, ordinals[len(c.Lines):])
		c.addDamage(&r)
	}
	c.finish()
}

// addDamage adds the damage of a block.
func (c *Contents) addDamage(r *block) {
	c.Next += int64(r.after)
	c.Damage = append(c.Damage, r.damage...)
	c.Torn = c.Torn || r.torn
}

// finish sets the ordinal of the next line to append.
func (c *Contents) finish() {
	if c.Torn {
		c.Next++
	}
	c.Next = max(c.Next, c.maxNext)
}

// addBlock passes the lines of the next block to the handler. file is the number of the
// block's file.
func (l *loading) addBlock(r *block, file uint32) {
	ordinals := make([]int64, len(r.lines))
	for i := range r.lines {
		p := &r.lines[i]
		ordinals[i] = l.nextOrdinal(p)
		p.Ordinal = &ordinals[i]
		l.handle(&p.RolloutLine, linePosition{r.begin + p.at, uint32(p.size), file})
	}
	l.addDamage(r)
	if r.marker != nil {
		l.marker = r.marker
	}
}

// appendLines appends lines. Their ordinals are stored in ordinals, which has the same length.
func (c *Contents) appendLines(lines []parsed, ordinals []int64) {
	for i, p := range lines {
		ordinals[i] = c.nextOrdinal(&p)
		p.Ordinal = &ordinals[i]
		c.Lines = append(c.Lines, p.RolloutLine)
	}
}

// nextOrdinal returns the ordinal of the next line.
func (c *Contents) nextOrdinal(p *parsed) int64 {
	c.marked = c.marked || p.Type == protocol.LineContextBackup
	ordinal := c.Next + int64(p.before)
	if p.ordinal >= 0 && (!c.marked || p.ordinal > ordinal) {
		ordinal = p.ordinal
	}
	c.Next = ordinal + 1
	c.maxNext = max(c.maxNext, c.Next)
	return ordinal
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
func parseBlock(data []byte, start bool) block {
	r := block{lines: make([]parsed, 0, len(data)/512)}
	for rest := data; len(rest) > 0; {
		offset := int64(len(data) - len(rest))
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		rest = after
		mark := 0
		if start && offset == 0 && bytes.HasPrefix(line, []byte(byteOrderMark)) {
			mark = len(byteOrderMark)
		}
		r.count++
		line, left := trimLine(line[mark:])
		r.add(line, offset, mark+left, whole)
	}
	return r
}

// add adds a line. behind is the number of bytes before it that are not part of its text.
func (r *block) add(line []byte, offset int64, behind int, whole bool) {
	if len(line) == 0 {
		return
	}
	p, reason := parseLine(line)
	switch {
	case reason == "":
		p.before, r.after = r.after, 0
		p.at, p.size = offset+int64(behind), len(line)
		r.lines = append(r.lines, p)
		if p.Type == protocol.LineContextBackup {
			r.marker = &marker{line: r.count, offset: offset, payload: p.Payload}
		}
	case whole:
		r.after++
		r.damage = append(r.damage, Damage{Line: r.count, Offset: offset, Reason: reason})
	case bytes.IndexByte(line, 0) >= 0: // an interrupted write leaves no zeros, but some disks do after a crash
		r.after++
		r.damage = append(r.damage, Damage{Line: r.count, Offset: offset, Reason: reasonZeroBytes})
	default:
		r.torn = true
	}
}

// parseLine parses a line without surrounding space. The reason is empty if the line is sound.
func parseLine(line []byte) (p parsed, reason string) {
	p.ordinal = -1
	typed := false
	end := scanObject(line, 0, 0, func(name, value []byte) {
		switch stringValue(name) {
		case "timestamp":
			p.Timestamp = stringValue(value)
		case "ordinal":
			p.ordinal = parseOrdinal(value)
		case "type":
			p.Type, typed = stringValue(value), value[0] == '"'
		case "payload":
			p.Payload = value
		}
	})
	switch {
	case end != len(line) && validJSON(line):
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
