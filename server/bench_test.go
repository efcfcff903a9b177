package server

import (
	"bufio"
	"context"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/protocol"
)

// servePipes serves a connection over pipes of the kernel. It returns the client's ends. The
// server is drained at the end of the benchmark.
func servePipes(b *testing.B, handler func(*Server) protocol.Handler) (*Server, io.Writer, io.Reader) {
	in, toServer, err := os.Pipe()
	require.NoError(b, err)
	fromServer, out, err := os.Pipe()
	require.NoError(b, err)
	s := New(zap.NewNop())
	s.Handle(Service{Handler: handler(s)})
	served := make(chan error)
	go func() { served <- s.Serve(context.Background(), in, out) }()
	b.Cleanup(func() {
		require.NoError(b, toServer.Close())
		<-s.EOF()
		require.NoError(b, s.Drain(context.Background()))
		require.NoError(b, <-served)
		require.NoError(b, out.Close())
	})
	return s, toServer, fromServer
}

// BenchmarkNotifyDelta sends small deltas to a client that reads as fast as it can. The deltas
// belong to one item, which allows merging, or to different items, which does not.
func BenchmarkNotifyDelta(b *testing.B) {
	for _, items := range []int{1, 1 << 16} {
		b.Run("items="+strconv.Itoa(items), func(b *testing.B) {
			deltas := make([]*protocol.AgentMessageDeltaNotification, items)
			for i := range deltas {
				deltas[i] = &protocol.AgentMessageDeltaNotification{
					ThreadID: "0199a7c2-3a52-7b30-9d1c-8f6f5a3e9b01", TurnID: "0199a7c2-3a52-7b30-9d1c-8f6f5a3e9b02",
					ItemID: "msg_" + strconv.Itoa(i), Delta: " token\n",
				}
			}
			read := make(chan struct{})
			b.Cleanup(func() { <-read })
			s, _, from := servePipes(b, newFake)
			go func() { defer close(read); _, _ = io.Copy(io.Discard, from) }()
			awaitConn(s)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				if room := s.Congested(1); room != nil {
					<-room
				}
				s.Notify(1, deltas[i%items])
			}
			b.StopTimer()
		})
	}
}

// BenchmarkRoundTrip sends a request and waits for its response.
func BenchmarkRoundTrip(b *testing.B) {
	_, to, from := servePipes(b, newFake)
	answers := bufio.NewReader(from)
	ask := func(line string) {
		_, err := io.WriteString(to, line+"\n")
		require.NoError(b, err)
		_, err = answers.ReadSlice('\n')
		require.NoError(b, err)
	}
	ask(initializeLine)
	b.ReportAllocs()
	for b.Loop() {
		ask(`{"id":7,"method":"model/list","params":{"limit":10}}`)
	}
}
