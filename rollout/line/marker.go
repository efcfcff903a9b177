package line

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"slices"

	"appserver/protocol"
)

// Marker is a context_backup line. It names the part of the backup that precedes it.
type Marker struct {
	// Line and Offset are counted as in Damage.
	Line    int
	Offset  int64
	Payload json.RawMessage
}

// Decode returns the payload of a marker, or false if it is malformed. A nil marker decodes as
// one with 0 bytes.
func (m *Marker) Decode() (protocol.ContextBackup, bool) {
	if m == nil {
		return protocol.ContextBackup{}, true
	}
	var said struct {
		Bytes  *int64  `json:"bytes"`
		CRC32C *uint32 `json:"crc32c"`
	}
	if protocol.Unmarshal(m.Payload, &said) != nil || said.Bytes == nil || said.CRC32C == nil || *said.Bytes < 0 {
		return protocol.ContextBackup{}, false
	}
	return protocol.ContextBackup{Bytes: *said.Bytes, CRC32C: *said.CRC32C}, true
}

// Checksum returns the CRC-32C of consecutive parts.
func Checksum(parts ...[]byte) (sum uint32) {
	for _, part := range parts {
		sum = UpdateChecksum(sum, part)
	}
	return sum
}

// UpdateChecksum returns the CRC-32C of the bytes with a checksum, followed by further ones.
func UpdateChecksum(sum uint32, further []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), further)
}

// FileChecksum returns the CRC-32C of the bytes with a checksum, followed by a part of a file.
func FileChecksum(sum uint32, file io.ReaderAt, from, to int64) (uint32, error) {
	n, err := io.Copy((*checksum)(&sum), io.NewSectionReader(file, from, to-from))
	if err == nil && n < to-from {
		err = io.ErrUnexpectedEOF
	}
	return sum, err
}

type checksum uint32

// Write adds bytes to the checksum.
func (c *checksum) Write(further []byte) (int, error) {
	*c = checksum(UpdateChecksum(uint32(*c), further))
	return len(further), nil
}

// LastMarker returns the last marker of consecutive blocks, or nil.
func LastMarker(blocks []Block) *Marker {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].Marker != nil {
			return blocks[i].Marker
		}
	}
	return nil
}

// LastMarker returns the last marker of a file without its line number, or nil. It reads the file from the end.
func (k ChunkReader) LastMarker(file io.ReaderAt, size int64) (*Marker, error) {
	var data []byte
	for end, length := size, k.Size; end > 0; {
		begin := max(0, end-length)
		data = slices.Grow(data[:0], int(end-begin))[:end-begin]
		n, err := file.ReadAt(data, begin)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		whole := firstLine(data[:n], begin == 0)
		if whole == n && begin > 0 && length < k.MaxLine {
			length *= 2
			continue
		}
		if m := markerIn(data[whole:n]); m != nil {
			m.Line, m.Offset = 0, m.Offset+begin+int64(whole)
			return m, nil
		}
		if end, length = begin+int64(whole), k.Size; whole == n {
			end = begin // a line above the limit is damage
		}
	}
	return nil, nil
}

// firstLine returns the index of the first line that begins in data, or the length of data.
func firstLine(data []byte, start bool) int {
	if start {
		return 0
	}
	if lf := bytes.IndexByte(data, '\n'); lf >= 0 {
		return lf + 1
	}
	return len(data)
}

var markerMark = []byte(`"` + protocol.LineContextBackup + `"`)

// markerEnd is the end of markerMark. Rollouts have its first byte rarely, so a search for it is faster.
const markerEnd = `_backup"`

// markerIn returns the last marker in data, which consists of whole lines.
func markerIn(data []byte) *Marker {
	if !bytes.Contains(data, []byte(markerEnd)) {
		return nil
	}
	for end := len(data); ; {
		at := bytes.LastIndex(data[:end], markerMark)
		if at < 0 {
			return nil
		}
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		line, _, _ := bytes.Cut(data[begin:], []byte{'\n'})
		line, marked := bytes.CutPrefix(line, []byte(ByteOrderMark))
		line, left := Trim(line)
		if marked {
			begin += len(ByteOrderMark)
		}
		if m := markerOf(line); m != nil {
			m.Line = 1 + bytes.Count(data[:begin], []byte{'\n'})
			if m.Offset > 0 {
				m.Offset += int64(left)
			}
			m.Offset += int64(begin)
			return m
		}
		end = begin
	}
}

// markerOf returns the last marker of a line without surrounding space, with its offset in a damaged line, or nil.
func markerOf(line []byte) (m *Marker) {
	for p := range Records(line) {
		if p.Type == protocol.LineContextBackup {
			m = &Marker{Offset: p.Offset, Payload: bytes.Clone(p.Payload)}
		}
	}
	return m
}

// CountLines returns the number of lines that end before an offset of a file.
func CountLines(file io.ReaderAt, size int64) (int, error) {
	var lines lineCount
	_, err := io.Copy(&lines, io.NewSectionReader(file, 0, size))
	return int(lines), err
}

type lineCount int

// Write counts the lines that end in a text.
func (c *lineCount) Write(text []byte) (int, error) {
	*c += lineCount(bytes.Count(text, []byte{'\n'}))
	return len(text), nil
}
