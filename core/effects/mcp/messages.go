package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"appserver/protocol"
)

// messages reads a program's output without the lines that are not messages, because many programs
// print greetings or logs.
type messages struct {
	from io.ReadCloser
	in   *bufio.Reader
	rest []byte
	drop func(line string)
}

var errLine = errors.New("a line of the server's output has more than 16 MiB")

// maxDropped is the number of bytes of a dropped line that are logged.
const maxDropped = 200

func newMessages(from io.ReadCloser, drop func(string)) *messages {
	return &messages{from: from, in: bufio.NewReaderSize(from, 64<<10), drop: drop}
}

// Read returns whole lines, possibly in pieces.
func (m *messages) Read(b []byte) (int, error) {
	for len(m.rest) == 0 {
		line, err := m.line()
		switch {
		case isMessage(line):
			m.rest = line
		case err != nil:
			return 0, err
		case len(bytes.TrimSpace(line)) > 0:
			m.drop(string(bytes.ToValidUTF8(line[:min(len(line), maxDropped)], []byte("?"))))
		}
	}
	n := copy(b, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func (m *messages) line() ([]byte, error) {
	var line []byte
	for {
		part, err := m.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, errLine
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

func isMessage(line []byte) bool {
	var head struct {
		Version string `json:"jsonrpc"`
	}
	return protocol.Unmarshal(line, &head) == nil && head.Version == "2.0"
}

// Close closes the program's output.
func (m *messages) Close() error { return m.from.Close() }
