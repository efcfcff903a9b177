package server

import (
	"context"
	"encoding/json"
	"io"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/require"
)

// scriptedStream reads a script and records calls without a lock. The race detector then shows
// on which goroutines the calls run.
type scriptedStream struct {
	script  []string
	reading []string // written by the reader goroutine
	writing []string // written by the sending goroutines
	end     chan struct{}
	closed  chan struct{}
}

// ReadObject reads the next line of the script.
func (s *scriptedStream) ReadObject(v any) error {
	if len(s.script) == 0 {
		close(s.end)
		<-s.closed
		return io.EOF
	}
	line := s.script[0]
	s.script = s.script[1:]
	s.reading = append(s.reading, "read")
	return json.Unmarshal([]byte(line), v)
}

// WriteObject records the call.
func (s *scriptedStream) WriteObject(any) error {
	s.writing = append(s.writing, "written")
	return nil
}

// Close ends the reader goroutine.
func (s *scriptedStream) Close() error {
	close(s.closed)
	return nil
}

// Handle records the request.
func (s *scriptedStream) Handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) {
	s.reading = append(s.reading, "handle "+req.Method+" "+string(*req.Params))
}

// TestLibraryCallsHooksInOrder checks two properties of jsonrpc2 that stream depends on and
// that are not documented. OnRecv changes the values that handlers and waiters get. Sending
// calls WriteObject before it returns, on the goroutine of the caller.
func TestLibraryCallsHooksInOrder(t *testing.T) {
	s := &scriptedStream{
		script: []string{`{"method":"a","id":1}`, `{"method":"b"}`, `{"id":"5","result":0}`},
		end:    make(chan struct{}), closed: make(chan struct{}),
	}
	body := json.RawMessage(`"body"`)
	onRecv := jsonrpc2.OnRecv(func(req *jsonrpc2.Request, resp *jsonrpc2.Response) {
		if resp != nil {
			s.reading = append(s.reading, "received an answer to "+req.Method)
			resp.Result = &body
			return
		}
		s.reading = append(s.reading, "received "+req.Method)
		req.Params = &body
	})

	ready := make(chan struct{})
	conn := jsonrpc2.NewConn(t.Context(), gatedStream{s, ready}, s, onRecv)
	ctx := context.Background()
	require.NoError(t, conn.Notify(ctx, "n", nil))
	require.Len(t, s.writing, 1)
	require.NoError(t, conn.SendResponse(ctx, &jsonrpc2.Response{ID: jsonrpc2.ID{Num: 1}}))
	require.Len(t, s.writing, 2)
	waiter, err := conn.DispatchCall(ctx, "q", nil, jsonrpc2.PickID(jsonrpc2.ID{Str: "5", IsString: true}))
	require.NoError(t, err)
	require.Len(t, s.writing, 3)

	close(ready)
	var result json.RawMessage
	require.NoError(t, waiter.Wait(ctx, &result))
	require.Equal(t, body, result)
	<-s.end
	require.Equal(t, []string{
		"read", "received a", `handle a "body"`,
		"read", "received b", `handle b "body"`,
		"read", "received an answer to q",
	}, s.reading)
	require.NoError(t, conn.Close())
}

// gatedStream blocks reading until it is ready.
type gatedStream struct {
	*scriptedStream
	ready chan struct{}
}

// ReadObject waits and then reads.
func (g gatedStream) ReadObject(v any) error {
	<-g.ready
	return g.scriptedStream.ReadObject(v)
}
