package server

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/protocol"
)

const heldLine = `{"id":"held","method":"thread/read","params":{"threadId":"t"}}`

// TestEOFWithPendingRequests checks that requests before EOF are answered after it.
func TestEOFWithPendingRequests(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		p.say(heldLine)
		require.NoError(t, p.in.Close())
		<-p.server.EOF()
		p.server.StopIntake()
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		require.ErrorIs(t, p.server.Quiesce(short), context.DeadlineExceeded)

		quiet := make(chan error)
		go func() { quiet <- p.server.Quiesce(context.Background()) }()
		synctest.Wait()
		p.server.Reply(p.handler.held[0], "late")
		require.NoError(t, <-quiet)
		p.server.Notify(1, protocol.ThreadClosedNotification{ThreadID: "t"})
		require.NoError(t, p.server.Drain(context.Background()))
		require.Equal(t, []string{
			`{"jsonrpc":"2.0","id":"held","result":"late"}`,
			`{"jsonrpc":"2.0","method":"thread/closed","params":{"threadId":"t"},"emittedAtMs":946684801000}`,
		}, p.hear())
	})
}

// TestStopBeforeEOF checks the shutdown sequence while the client is connected.
func TestStopBeforeEOF(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		p.say(heldLine)
		p.hear()
		p.server.StopIntake()
		shuttingDown := refusal("1", "-32600", "Server is shutting down", "shuttingDown")
		require.Equal(t, shuttingDown, p.ask(requestOf("1")))
		require.Equal(t, "["+shuttingDown+"]", p.ask("["+requestOf("1")+"]"))
		p.server.Reply(p.handler.held[0], 1)
		require.NoError(t, p.server.Quiesce(context.Background()))
		require.NoError(t, p.server.Drain(context.Background()))
		require.Equal(t, []string{`{"jsonrpc":"2.0","id":"held","result":1}`}, p.hear())
		p.server.Reply(p.handler.held[0], 2)
		require.ErrorIs(t, p.server.Serve(context.Background(), p.out, io.Discard), errShutDown)
	})
}

// TestPendingRequestsAtTheEnd checks that requests are rejected if their handlers never reply.
func TestPendingRequestsAtTheEnd(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		p.say(heldLine, "["+heldLine+","+requestOf("1")+"]")
		p.hear()
		require.NoError(t, p.server.Drain(context.Background()))
		unanswered := refusal(`"held"`, "-32600", "Server shut down before the request was finished", "shuttingDown")
		require.Equal(t, []string{unanswered, "[" + answerOf("1") + "," + unanswered + "]"}, p.hear())
	})
}

// TestContextEndsServe checks that Serve returns when its context ends.
func TestContextEndsServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(zap.NewNop())
		s.Handle(Service{Handler: newFake(s)})
		in, toServer := io.Pipe()
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error)
		go func() { served <- s.Serve(ctx, in, io.Discard) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-served, context.Canceled)
		require.Nil(t, s.conn(1))
		_, err := io.WriteString(toServer, requestOf("1")+"\n") // the request gets no response
		require.NoError(t, err)
		require.NoError(t, toServer.Close())
	})
}

// brokenReader fails after its text.
type brokenReader struct{ text io.Reader }

var errBroken = errors.New("input is broken")

// Read returns the text and then the error.
func (r brokenReader) Read(b []byte) (int, error) {
	n, err := r.text.Read(b)
	if err == io.EOF {
		err = errBroken
	}
	return n, err
}

// TestBrokenInput checks that a failing input closes EOF, and that Serve returns its error.
func TestBrokenInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(zap.NewNop())
		s.Handle(Service{Handler: newFake(s)})
		var out syncBuffer
		served := make(chan error)
		go func() {
			served <- s.Serve(context.Background(), brokenReader{linesOf(initializeLine, requestOf("1"))}, &out)
		}()
		<-s.EOF()
		require.NoError(t, s.Drain(context.Background()), "every answer has left")
		require.ErrorIs(t, <-served, errBroken)
		require.Equal(t, initializeAnswer+"\n"+answerOf("1")+"\n", out.String())
	})
}

// TestConnectionsAreApart checks that connections share no state.
func TestConnectionsAreApart(t *testing.T) {
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		var out syncBuffer
		served := make(chan error, 1)
		go func() { served <- p.server.Serve(context.Background(), linesOf(requestOf("1")), &out) }()
		synctest.Wait()
		require.Equal(t, refusal("1", "-32600", "Not initialized", "notInitialized")+"\n", out.String())
		p.server.Notify(2, protocol.WarningNotification{Message: "two"})
		require.Empty(t, p.hear())
		require.Contains(t, out.String(), "two")
		require.NoError(t, p.server.Drain(context.Background()))
		require.NoError(t, <-served)
	})
}

// TestUnknownConnections checks that messages to unknown connections and requests are ignored.
func TestUnknownConnections(t *testing.T) {
	s := New(zap.NewNop())
	s.Reply(protocol.Caller{}, 1)
	s.Refuse(protocol.Caller{Conn: 3, Request: 4}, nil)
	s.Notify(9, protocol.WarningNotification{})
	s.Ask(9, 1, "q", nil, nil)
	s.Initialized(9, ClientState{})
	_, known := s.Client(9)
	require.False(t, known)
	require.Nil(t, s.Congested(9))
	require.NoError(t, s.Drain(context.Background()))
}
