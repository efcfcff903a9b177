package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"appserver/protocol"
)

// source returns the messages of a client, each a message or a batch, valid until the next
// call. After errLineTooLong or a *protocol.Error, the next call continues with the next
// message. Other errors are final.
type source interface{ next() ([]byte, error) }

// stream is the jsonrpc2.ObjectStream of a connection. jsonrpc2 reads stubs: messages with
// server-chosen ids and without bodies. restoreBodies then inserts the body.
// In the other direction jsonrpc2 writes stubs, and WriteObject encodes the message that the
// writer has set in outgoing.
type stream struct {
	conn *conn

	// Used by the reader goroutine only.
	source  source
	unread  []incoming // messages of the last line that jsonrpc2 has not read
	current envelope   // the message that jsonrpc2 read last
	large   bool       // the last line was longer than largeLine

	// Used by the writer goroutine only.
	encoder  *encoder
	outgoing message
	out      io.Writer
}

// ReadObject reads the stub of the next message. It returns io.EOF only after the connection
// is released. jsonrpc2 closes the connection at EOF, but responses may be pending.
func (s *stream) ReadObject(v any) error {
	for {
		for len(s.unread) > 0 {
			m := s.unread[0]
			s.unread[0] = incoming{} // the message would keep the whole line in memory
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

// readLine reads a line into unread, or rejects it. An error ends the input.
func (s *stream) readLine() error {
	s.current = envelope{}
	if s.large { // its messages were given to their handlers
		s.conn.server.memory.Reset(memoryDelay)
	}
	line, err := s.source.next()
	s.large = len(line) > largeLine || errors.Is(err, errLineTooLong)
	limits := s.conn.server.limits
	var refusal *protocol.Error
	switch {
	case s.conn.isReleased():
		return io.EOF
	case errors.Is(err, errLineTooLong):
		refusal = protocol.Refuse(
			protocol.KindInvalidRequest,
			"Invalid request: a line of more than %d bytes",
			limits.line,
		)
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

// WriteObject encodes the outgoing message. It ignores the stub.
func (s *stream) WriteObject(any) error {
	start := len(s.encoder.buf)
	err := s.outgoing.encode(s.encoder)
	if err != nil {
		s.encoder.buf = s.encoder.buf[:min(start, len(s.encoder.buf))]
	}
	return err
}

// flush writes the encoded messages, and returns the error of the parts that were written before.
func (s *stream) flush() error {
	defer s.encoder.reset()
	err := s.encoder.writeErr
	if err == nil && len(s.encoder.buf) > 0 {
		_, err = s.out.Write(s.encoder.buf)
	}
	if err != nil {
		return fmt.Errorf("write to the client: %w", err)
	}
	return nil
}

// Close releases the connection. It closes neither input nor output, because the caller of
// Serve owns them.
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
