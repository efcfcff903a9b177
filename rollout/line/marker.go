package line

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"io"

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
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), part)
	}
	return sum
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

// LastMarker returns the last marker of a file, or nil.
func (k ChunkReader) LastMarker(file io.ReaderAt, size int64) (last *Marker, err error) {
	lines := 0
	for c, err := range k.Chunks(file, 0, size) {
		if err != nil {
			return nil, err
		}
		if m := markerIn(c.Data); m != nil {
			m.Line += lines
			m.Offset += c.Offset
			last = m
		}
		lines += bytes.Count(c.Data, []byte{'\n'})
	}
	return last, nil
}

var markerMark = []byte(`"` + protocol.LineContextBackup + `"`)

// markerIn returns the last marker in data, which consists of whole lines.
func markerIn(data []byte) *Marker {
	if !bytes.Contains(data, markerMark) { // faster than a search from the end
		return nil
	}
	for end := len(data); ; {
		at := bytes.LastIndex(data[:end], markerMark)
		if at < 0 {
			return nil
		}
		begin := bytes.LastIndexByte(data[:at], '\n') + 1
		line, _, _ := bytes.Cut(data[begin:], []byte{'\n'})
		line, _ = Trim(bytes.TrimPrefix(line, []byte(ByteOrderMark)))
		p, reason := Parse(line)
		if reason == "" && p.Type == protocol.LineContextBackup {
			return &Marker{
				Line:    1 + bytes.Count(data[:begin], []byte{'\n'}),
				Offset:  int64(begin),
				Payload: bytes.Clone(p.Payload),
			}
		}
		end = begin
	}
}
