package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/coder/websocket"
)

const (
	// bufferBytes is the size of the buffers of lines.
	bufferBytes = 64 << 10
	// closeTimeout limits the time in which the server replies to the end of the connection.
	closeTimeout = 250 * time.Millisecond
)

// errEnded reports that the server has ended, or has disconnected this client.
var errEnded = errors.New("the shared server has ended the connection")

// Bridge is a connection to a server on a Unix socket, for a client that speaks in lines.
type Bridge struct{ conn *websocket.Conn }

// DialBridge connects to the server on a Unix socket. The caller calls Serve.
func DialBridge(ctx context.Context, path string) (*Bridge, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := dialSocket(path)(ctx)
	if err != nil {
		return nil, err
	}
	return &Bridge{conn}, nil
}

// Serve passes each line of the input to the server as a message, and each message of the server to the output as a
// line. It returns nil at the end of the input, and an error if the server ends the connection first. It closes the
// connection.
func (b *Bridge) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	conn := b.conn
	conn.SetReadLimit(-1)
	sent := make(chan error, 1)
	go func() {
		err := sendLines(ctx, conn, in)
		sent <- err
		hurry := time.AfterFunc(closeTimeout, func() { _ = conn.CloseNow() })
		defer hurry.Stop()
		_ = conn.Close(websocket.StatusNormalClosure, "")
	}()
	err := receiveLines(ctx, conn, out)
	_ = conn.CloseNow()
	select {
	case err := <-sent:
		if err == nil {
			return nil // the input has ended, and so has the connection
		}
	default: // the input may never end
	}
	return err
}

// sendLines sends the lines of the input until its end. Empty ones are left out.
func sendLines(ctx context.Context, conn *websocket.Conn, in io.Reader) error {
	r := bufio.NewReaderSize(in, bufferBytes)
	for {
		err := sendLine(ctx, conn, r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sendLine sends a line in parts, so that a long one takes no memory. It returns io.EOF at the end of the input.
func sendLine(ctx context.Context, conn *websocket.Conn, r *bufio.Reader) error {
	var message io.WriteCloser
	for {
		part, end := r.ReadSlice('\n')
		if message == nil && len(part) > 1 {
			w, err := conn.Writer(ctx, websocket.MessageText)
			if err != nil {
				return err
			}
			message = w
		}
		if message != nil {
			if _, err := message.Write(part); err != nil {
				return err
			}
		}
		if errors.Is(end, bufio.ErrBufferFull) {
			continue
		}
		if message != nil {
			if err := message.Close(); err != nil {
				return err
			}
		}
		return end
	}
}

// receiveLines writes the messages of the server until the connection ends.
func receiveLines(ctx context.Context, conn *websocket.Conn, out io.Writer) error {
	w := bufio.NewWriterSize(out, bufferBytes)
	for {
		_, message, err := conn.Reader(ctx)
		if err == nil {
			_, err = io.Copy(w, message)
		}
		if err != nil {
			return errEnded // the error of the connection says no more
		}
		if err := errors.Join(w.WriteByte('\n'), w.Flush()); err != nil {
			return fmt.Errorf("write to the client: %w", err)
		}
	}
}
