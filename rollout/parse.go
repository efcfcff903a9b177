package rollout

import (
	"bytes"
	"strconv"
	"unsafe"

	"appserver/protocol"
)

const (
	// maxOrdinal bounds ordinals to integers that every JSON reader knows exactly.
	maxOrdinal = 1 << 53

	byteOrderMark = "\ufeff"
)

// Why a line is damage.
const (
	reasonNotJSON   = "not JSON"
	reasonZeroBytes = "not JSON: it has zero bytes"
	reasonNotObject = "not a JSON object"
	reasonNoType    = `no string "type"`
	reasonNoPayload = `no "payload"`
)

// parsed is a line before its ordinal is settled.
type parsed struct {
	protocol.RolloutLine
	// ordinal is negative where the line has none.
	ordinal int64
	// before counts the damaged lines between this and the one before it.
	before int
	// at is where it begins in its run, without white space before it, and size its length,
	// in bytes.
	at   int64
	size int
}

// run is the outcome of a stretch of lines.
type block struct {
	lines  []parsed
	damage []Damage
	// marker is the last context_backup line, nil without one.
	marker *marker
	// after counts the damaged lines behind the last sound one.
	after int
	// count is of all lines.
	count int
	torn  bool
	// begin is the run's offset in the file.
	begin int64
}

// parse fills c from a file's bytes, shared out to n goroutines.
func (c *Contents) parse(data []byte, n int) { c.addBlocks(parseBlocks(data, n)) }

// parseRuns shares the bytes of a file out to n goroutines.
func parseBlocks(data []byte, n int) []block { return parseBlocksOf(data, n, true) }

// parsePart does so with whole lines of a file, or the first ones.
func parseBlocksOf(data []byte, n int, start bool) []block {
	parts := split(data, n)
	runs := make([]block, len(parts))
	parallel(len(parts), func(i int) { runs[i] = parseBlock(parts[i], start && i == 0) })
	line, offset := 0, int64(0)
	for i := range runs {
		runs[i].shift(line, offset)
		line += runs[i].count
		offset += int64(len(parts[i]))
	}
	return runs
}

// shift makes lines and offsets those of a file in which others stand before the run.
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

// settle fills c from runs that follow each other.
func (c *Contents) addBlocks(runs []block) {
	total := 0
	for _, r := range runs {
		total += len(r.lines)
	}
	c.Lines = make([]protocol.RolloutLine, 0, total)
	ordinals := make([]int64, total)
	for _, r := range runs {
		c.appendLines(r.lines, ordinals[len(c.Lines):])
		c.addDamage(&r)
	}
	c.finish()
}

// pass takes what a run has beside sound lines.
func (c *Contents) addDamage(r *block) {
	c.Next += int64(r.after)
	c.Damage = append(c.Damage, r.damage...)
	c.Torn = c.Torn || r.torn
}

// end settles the ordinal of the next line.
func (c *Contents) finish() {
	if c.Torn {
		c.Next++
	}
	c.Next = max(c.Next, c.maxNext)
}

// settleRun takes the lines of the next run, which is of one of the text's files.
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

// number appends lines, with ordinals that it keeps in a slice of the same length.
func (c *Contents) appendLines(lines []parsed, ordinals []int64) {
	for i, p := range lines {
		ordinals[i] = c.nextOrdinal(&p)
		p.Ordinal = &ordinals[i]
		c.Lines = append(c.Lines, p.RolloutLine)
	}
}

// settleLine is the ordinal of the next line.
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

// split cuts data into at most n parts of about the same size, each of whole lines.
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

// parseRun parses whole lines, and what follows the last LF.
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

// add takes a line, which stands behind some bytes of no interest.
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
	case bytes.IndexByte(line, 0) >= 0: // a write that breaks off leaves no zeros, but some disks do
		r.after++
		r.damage = append(r.damage, Damage{Line: r.count, Offset: offset, Reason: reasonZeroBytes})
	default:
		r.torn = true
	}
}

// parseLine reads a line without white space around it. The reason is "" where it is
// sound.
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

// text is a JSON string's value, "" where the value is none. It is a part of the
// buffer if it can be.
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
