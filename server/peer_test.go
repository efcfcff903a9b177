package server

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// peer is a client and its server in a synctest bubble, connected by pipes in memory.
type peer struct {
	t       *testing.T
	server  *Server
	handler *fake
	logs    *observer.ObservedLogs
	in      *io.PipeWriter
	out     *io.PipeReader
	served  chan error

	mu       sync.Mutex
	received bytes.Buffer
}

// converse runs a test with a peer and then shuts down the connection. tune configures the
// server before it serves.
func converse(t *testing.T, talk func(*testing.T, *peer), tune ...func(*Server)) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, tune...)
		defer p.hangUp()
		go p.listen()
		talk(t, p)
		p.leave()
	})
}

func connect(t *testing.T, tune ...func(*Server)) *peer {
	core, logs := observer.New(zapcore.DebugLevel)
	p := &peer{t: t, server: New(zap.New(core)), logs: logs, served: make(chan error, 1)}
	p.handler = &fake{server: p.server}
	p.server.Handle(Service{Handler: p.handler})
	for _, f := range tune {
		f(p.server)
	}
	fromClient, in := io.Pipe()
	out, toClient := io.Pipe()
	p.in, p.out = in, out
	go func() {
		p.served <- p.server.Serve(context.Background(), fromClient, toClient)
		toClient.Close()
	}()
	synctest.Wait()
	return p
}

// listen reads the output of the server until its end.
func (p *peer) listen() {
	b := make([]byte, 4096)
	for {
		n, err := p.out.Read(b)
		p.mu.Lock()
		p.received.Write(b[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// say sends lines.
func (p *peer) say(lines ...string) {
	_, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

// hear returns all lines since the last call, after the server is idle.
func (p *peer) hear() []string {
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.received.String()
	p.received.Reset()
	if text == "" {
		return nil
	}
	require.True(p.t, strings.HasSuffix(text, "\n"), "half a line: %q", text)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// ask sends a line and returns the response.
func (p *peer) ask(line string) string {
	p.say(line)
	heard := p.hear()
	require.Len(p.t, heard, 1)
	return heard[0]
}

func (p *peer) initialize() {
	require.Equal(p.t, initializeAnswer, p.ask(initializeLine))
}

// leave shuts down the connection in the order of the package doc.
func (p *peer) leave() {
	require.NoError(p.t, p.in.Close())
	<-p.server.EOF()
	p.server.StopIntake()
	for _, to := range p.handler.held {
		p.server.Reply(to, "late")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(p.t, p.server.Quiesce(ctx))
	require.NoError(p.t, p.server.Drain(ctx))
	require.NoError(p.t, <-p.served)
}

// hangUp closes the connection in any state.
func (p *peer) hangUp() {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	p.in.Close()
	_ = p.server.Drain(now)
	p.out.Close()
}

// logged returns the number of log entries with the message.
func (p *peer) logged(message string) int { return p.logs.FilterMessage(message).Len() }

func linesOf(lines ...string) io.Reader { return strings.NewReader(strings.Join(lines, "\n")) }

// syncBuffer is a bytes.Buffer for concurrent use.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends b.
func (s *syncBuffer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

// String returns everything that was written.
func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}
