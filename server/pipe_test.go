package server

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/protocol"
)

// TestStuckPipe leaves the pipe full, as a hanging client does. Drain and Serve return at the
// deadline.
func TestStuckPipe(t *testing.T) {
	in, toServer, err := os.Pipe()
	require.NoError(t, err)
	fromServer, out, err := os.Pipe()
	require.NoError(t, err)
	s := New(zap.NewNop())
	s.Handle(Service{Handler: newFake(s)})
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), in, out) }()

	_, err = io.WriteString(toServer, initializeLine+"\n")
	require.NoError(t, err)
	answers := bufio.NewReader(fromServer)
	line, err := answers.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, initializeAnswer+"\n", line)

	for s.Congested(1) == nil {
		s.Notify(1, protocol.WarningNotification{Message: strings.Repeat("x", 1<<20)})
	}
	room := s.Congested(1)
	require.NoError(t, toServer.Close())
	<-s.EOF()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Drain(ctx), context.DeadlineExceeded)
	require.NoError(t, <-served)
	<-room // the end of the connection ends congestion
	require.NoError(t, fromServer.Close())
	require.NoError(t, in.Close())
	require.NoError(t, out.Close())
}
