package listen

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const upgrade = "GET /rpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"

// frame is a frame of RFC 6455. Clients mask frames; these tests use zeros as the mask.
type frame struct {
	head    byte // FIN bit (0x80) and opcode
	payload []byte
}

func (f frame) masked(length uint64) []byte {
	b := []byte{f.head, 0x80 | 127}
	b = binary.BigEndian.AppendUint64(b, length)
	return append(append(b, 0, 0, 0, 0), f.payload...)
}

// nextFrame reads and unmasks a frame. ok is false if it is incomplete or has an invalid
// length.
func nextFrame(b []byte) (f frame, masked bool, rest []byte, ok bool) {
	if len(b) < 2 {
		return f, false, nil, false
	}
	f.head, masked = b[0], b[1]&0x80 != 0
	n, b := uint64(b[1]&0x7f), b[2:]
	for short, size := range map[uint64]int{126: 2, 127: 8} {
		if n != short {
			continue
		}
		if len(b) < size {
			return f, masked, nil, false
		}
		n = binary.BigEndian.Uint64(append(make([]byte, 8-size), b[:size]...))
		b = b[size:]
		break
	}
	mask := make([]byte, 4)
	if masked {
		if len(b) < 4 {
			return f, masked, nil, false
		}
		mask, b = b[:4], b[4:]
	}
	if n > uint64(len(b)) {
		return f, masked, nil, false
	}
	for i, c := range b[:n] {
		f.payload = append(f.payload, c^mask[i%4])
	}
	return f, masked, b[n:], true
}

// messages returns the messages in a client's frames, up to the first invalid or closing
// frame. torn is set if the last frame is incomplete.
func messages(b []byte) (list []string, torn bool) {
	var kind byte
	var message []byte
	list = []string{}
	for {
		f, masked, rest, ok := nextFrame(b)
		opcode, control := f.head&0x0f, f.head&0x08 != 0
		switch {
		case !ok:
			return list, true
		case !masked || f.head&0x70 != 0,
			opcode > 10 || opcode > 2 && opcode < 8,
			control && (f.head&0x80 == 0 || len(f.payload) > 125),
			opcode == 8,
			!control && (opcode == 0) != (kind != 0):
			return list, false
		}
		b = rest
		if control {
			continue
		}
		if opcode != 0 {
			kind, message = opcode, nil
		}
		message = append(message, f.payload...)
		if f.head&0x80 == 0 {
			continue
		}
		if kind == 2 {
			message = []byte("Invalid request: a binary message; send text messages")
		}
		list, kind = append(list, string(message)), 0
	}
}

// told returns the messages in the server's output.
func told(t *testing.T, b []byte) (list []string) {
	list = []string{}
	for len(b) > 0 {
		f, masked, rest, ok := nextFrame(b)
		require.True(t, ok && !masked, "%q", b)
		if f.head == 0x81 {
			list = append(list, string(f.payload))
		}
		b = rest
	}
	return list
}

// FuzzFrames sends arbitrary bytes after the handshake. Each message up to the first invalid
// frame is received once and whole, and nothing after it.
func FuzzFrames(f *testing.F) {
	frames := func(list ...frame) (b []byte) {
		for _, f := range list {
			b = append(b, f.masked(uint64(len(f.payload)))...)
		}
		return b
	}
	for _, seed := range [][]byte{
		frames(frame{0x81, []byte("one")}, frame{0x81, nil}, frame{0x82, []byte("two")}, frame{0x81, []byte("b\xff")}),
		frames(frame{0x01, []byte("in ")}, frame{0x89, []byte("ping")}, frame{0x00, []byte("three ")},
			frame{0x80, []byte("parts")}),
		frames(frame{0x80, []byte("no begin")}), frames(frame{0x01, nil}, frame{0x81, nil}), frames(frame{0x83, nil}),
		frames(frame{0xc1, []byte("deflated")}),
		frames(frame{0x88, []byte{3, 232}}, frame{0x81, []byte("after")}), frames(frame{0x88, []byte{1}}),
		frames(frame{0x8a, nil}), frames(frame{0x09, nil}),
		frame{0x81, []byte("x")}.masked(1 << 63), frame{0x81, []byte("x")}.masked(1<<63 - 1),
		frame{0x89, make([]byte, 126)}.masked(126),
		{0x81, 0x85, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {0x81, 0x05, 'p', 'l', 'a', 'i', 'n'}, {0x81, 0xfe, 0, 1, 0, 0, 0, 0, 'x'},
		{0x81}, {},
		append(frames(frame{0x81, []byte("one")}), frame{0x81, nil}.masked(1<<17)...),
		append(frames(frame{0x81, []byte("one")}), frame{0x81, []byte("tw")}.masked(3)...),
	} {
		f.Add(seed)
	}
	l := echoes(f, Options{})
	f.Fuzz(func(t *testing.T, sent []byte) {
		want, torn := messages(sent)
		if strings.Contains(strings.Join(want, ""), "\n") {
			return // output is split at each line
		}
		in := talk(t, "unix", l.Address.Path, upgrade+"\r\n"+string(sent))
		answer, err := http.ReadResponse(in, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusSwitchingProtocols, answer.StatusCode)
		got, err := io.ReadAll(in)
		if errors.Is(err, syscall.ECONNRESET) {
			return // the connection was reset because unread input was left
		}
		require.NoError(t, err)
		heard := told(t, got)
		if torn && len(heard) > len(want) {
			heard = heard[:len(want)] // a torn message is received in part and is not JSON
		}
		require.Equal(t, want, heard)
	})
}

// talk sends text and returns the output until the server closes the connection.
func talk(t *testing.T, network, address, text string) *bufio.Reader {
	c, err := net.Dial(network, address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	type halfway interface{ CloseWrite() error }
	go func() {
		_, _ = io.WriteString(c, text) // fails if the server closes the connection early
		_ = c.(halfway).CloseWrite()
	}()
	return bufio.NewReader(c)
}

// FuzzUpgrade sends arbitrary requests to a port. Only requests with the token and without an
// Origin open a connection; all others get a response.
func FuzzUpgrade(f *testing.F) {
	for _, seed := range []string{
		upgrade + "Authorization: Bearer secret\r\n\r\n", upgrade + "\r\n", upgrade + "Authorization: Bearer secre\r\n\r\n",
		upgrade + "Origin: http://localhost\r\nAuthorization: Bearer secret\r\n\r\n",
		upgrade + "Origin:\r\nAuthorization: Bearer secret\r\n\r\n",
		upgrade + "Authorization: Bearer x\r\nAuthorization: Bearer secret\r\n\r\n",
		upgrade + "Authorization: bearer  secret \r\n\r\n",
		"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n", "GET //readyz HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST http://x/rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nsecret",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " +
			"chunked\r\n\r\nffffffffffffffff\r\n", "\x16\x03\x01", "GET / HTTP/1.1\r\nHost: " + strings.Repeat("x", 20<<10), "",
	} {
		f.Add(seed)
	}
	var served atomic.Int32
	l := serving(f, Options{TokenCheck: StaticToken([]byte("secret")), Serve: func(context.Context, *Client) error {
		served.Add(1)
		return nil
	}})
	address := strings.TrimPrefix(l.URL(), schemeWS)
	f.Fuzz(func(t *testing.T, sent string) {
		before := served.Load()
		in := talk(t, "tcp", address, sent)
		answer, _ := in.Peek(5)
		require.True(t, len(answer) == 0 || string(answer) == "HTTP/", "%q", answer)
		_, _ = io.Copy(io.Discard, in) // fails after a reset
		if served.Load() > before {
			require.True(t, mayEnter(sent), "%q", sent)
		}
	})
}

// mayEnter reports whether one of the requests in text may open a connection.
func mayEnter(text string) bool {
	for in := bufio.NewReader(strings.NewReader(text)); ; {
		r, err := http.ReadRequest(in)
		if err != nil {
			return false
		}
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if _, page := r.Header["Origin"]; !page && strings.EqualFold(scheme, "bearer") &&
			strings.TrimSpace(token) == "secret" {
			return true
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}
}
