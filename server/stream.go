package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"

	"appserver/protocol"
)

// source is where the messages of a client come from: bytes that hold one message, or a
// batch, valid until the next call. errLineTooLong and a *protocol.Error tell of one that
// cannot be read, and the call after goes on behind it; other errors are final.
type source interface{ next() ([]byte, error) }

// stream is the connection as jsonrpc2 sees it. jsonrpc2 reads stubs: messages with
// numbers of ours for ids and without bodies. restore, called by jsonrpc2 right
// after, puts the bodies back. The way out is the same in reverse: jsonrpc2 sends
// messages without bodies, and WriteObject encodes the one that the writer is at.
type stream struct {
	conn *conn

	// Of the goroutine that reads.
	source  source
	unread  []incoming // messages of the last line that jsonrpc2 has not seen
	current envelope   // the message that jsonrpc2 saw last

	// Of the writer.
	encoder  *encoder
	outgoing message
	out      io.Writer
}

// ReadObject gives jsonrpc2 the next message that it can make something of. The end
// of the input is held back until the connection is released.
func (s *stream) ReadObject(v any) error {
	for {
		for len(s.unread) > 0 {
			m := s.unread[0]
			s.unread[0] = incoming{} // it would hold the line until the next one
			s.unread = s.unread[1:]
			if stub := s.conn.admit(&m); stub != nil {
				s.current = m.envelope
				return json.Unmarshal(stub, v)
			}
		}
		s.conn.waitWhileFlooded()
		if err := s.readLine(); err != nil {
			s.conn.end(err)
			<-s.conn.released
			return io.EOF
		}
	}
}

// readLine reads a line into waiting, or refuses it. Its error is the input's.
func (s *stream) readLine() error {
	s.current = envelope{}
	line, err := s.source.next()
	limits := s.conn.server.limits
	var refusal *protocol.Error
	switch {
	case s.conn.isReleased():
		return io.EOF
	case errors.Is(err, errLineTooLong):
		refusal = protocol.Refuse(protocol.KindInvalidRequest, "Invalid request: a line of more than %d bytes", limits.line)
	case err == nil:
		s.unread, refusal = unpack(line, limits.batch, s.unread[:0])
	case !errors.As(err, &refusal):
		return err
	}
	if refusal != nil {
		s.conn.rejectMessage(incoming{err: refusal})
	}
	return nil
}

// restore puts the body of the message at hand into what jsonrpc2 made of its stub.
func (s *stream) restore(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
	switch {
	case resp == nil:
		req.Params = (*json.RawMessage)(&s.current.params)
	case resp.Error != nil:
		*resp.Error = readResponseError(s.current.errorMember)
	default:
		result := bytes.Clone(s.current.result)
		resp.Result = (*json.RawMessage)(&result)
	}
}

// WriteObject encodes the message that the writer is at.
func (s *stream) WriteObject(any) error {
	start := len(s.encoder.buf)
	err := s.outgoing.encode(s.encoder)
	if err != nil {
		s.encoder.buf = s.encoder.buf[:start]
	}
	return err
}

// flush writes what was encoded, in one call.
func (s *stream) flush() error {
	defer s.encoder.reset()
	if len(s.encoder.buf) == 0 {
		return nil
	}
	if _, err := s.out.Write(s.encoder.buf); err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}

// Close lets go of the end of the input. Input and output are their owner's to
// close.
func (s *stream) Close() error {
	s.conn.release()
	return nil
}

func requestStub(method json.RawMessage, number uint64) []byte {
	return fmt.Appendf(nil, `{"method":%s,"id":%d}`, method, number)
}

func notificationStub(method json.RawMessage) []byte {
	return fmt.Appendf(nil, `{"method":%s}`, method)
}

func responseStub(id uint64, refused bool) []byte {
	if refused {
		return fmt.Appendf(nil, `{"id":"%d","error":{}}`, id)
	}
	return fmt.Appendf(nil, `{"id":"%d","result":0}`, id)
}

// questionID is the id of a question, on the wire and (as a string) in jsonrpc2.
func serverRequestID(id uint64) string { return strconv.FormatUint(id, 10) }
