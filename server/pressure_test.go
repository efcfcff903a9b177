package server

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestOverload(t *testing.T) {
	held := func(i int) string {
		return fmt.Sprintf(`{"id":%d,"method":"thread/read","params":{"threadId":"t"}}`, i)
	}
	overloaded := func(id string) string {
		return refusal(id, "-32001", "Server overloaded; retry later.", "overloaded")
	}
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		for i := range maxPending {
			p.say(held(i))
		}
		require.Empty(t, p.hear())
		require.Equal(t, overloaded(`"x"`), p.ask(requestOf(`"x"`)))
		require.Contains(t, p.ask(`{"id":"stop","method":"turn/interrupt","params":{"threadId":"t"}}`),
			`"kind":"noActiveTurn"`, "what ends work is taken")
		require.Equal(t, "["+overloaded("1")+","+overloaded("2")+"]", p.ask("["+requestOf("1")+","+requestOf("2")+"]"))

		p.server.Reply(p.handler.held[5], 5)
		require.Equal(t, []string{`{"jsonrpc":"2.0","id":5,"result":5}`}, p.hear())
		require.Equal(t, answerOf(`"y"`), p.ask(requestOf(`"y"`)), "there is room again")
	})
}

// TestPipelinedRequests checks that a client may send more requests than the limit of pending
// ones, if each is answered at once.
func TestPipelinedRequests(t *testing.T) {
	const n = 10_000
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		var lines, want []string
		for i := range n {
			lines = append(lines, requestOf(fmt.Sprint(i)))
			want = append(want, answerOf(fmt.Sprint(i)))
		}
		p.say(lines...)
		require.Equal(t, want, p.hear())
		p.say("[" + strings.Join(lines, ",") + "]")
		require.Equal(t, []string{"[" + strings.Join(want, ",") + "]"}, p.hear())
	})
}

// TestSlowClient uses producers that wait for Congested. The memory for a client that does not
// read is bounded, deltas are merged, and no text is lost.
func TestSlowClient(t *testing.T) {
	const finals, finalSize = 250, 64 << 10
	synctest.Test(t, func(t *testing.T) {
		p := connect(t)
		defer p.hangUp()
		synctest.Wait()
		done := make(chan struct{})
		go func() {
			defer close(done)
			for i := range finals {
				if room := p.server.Congested(1); room != nil {
					<-room
				}
				p.server.Notify(1, protocol.WarningNotification{Message: fmt.Sprint(i, strings.Repeat("x", finalSize))})
			}
		}()
		synctest.Wait()
		out := p.server.conn(1).out
		require.NotNil(t, p.server.Congested(1), "the producer waits")
		require.LessOrEqual(t, out.backlog(), maxCongestion+2*finalSize)

		queued := len(out.queue)
		for range 100_000 {
			p.server.Notify(1, textDelta("a", "x"))
		}
		require.Len(t, out.queue, queued+1, "deltas join")
		require.Less(t, out.backlog(), maxCongestion+2*finalSize+200_000)

		go p.listen()
		heard := strings.Join(p.hear(), "\n")
		<-done
		require.Nil(t, p.server.Congested(1))
		for i := range finals {
			require.Contains(t, heard, fmt.Sprintf(`"message":"%dx`, i))
		}
		require.Contains(t, heard, `"delta":"`+strings.Repeat("x", 100_000)+`"`)
		p.leave()
	})
}

// TestBacklogOfResponses checks that requests of a client that does not read are rejected, and
// that every request gets a response.
func TestBacklogOfResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t, func(s *Server) { s.limits.backlog = 100 * entryOverhead })
		defer p.hangUp()
		p.say(initializeLine)
		for i := range 1000 {
			p.say(requestOf(fmt.Sprint(i)))
		}
		synctest.Wait()
		go p.listen()
		heard := p.hear()[1:]
		require.Len(t, heard, 1000)
		require.Equal(t, answerOf("0"), heard[0])
		for i, line := range heard {
			require.Contains(t, line, fmt.Sprintf(`"id":%d,`, i))
		}
		require.Contains(t, heard[999], `"kind":"overloaded"`)
		require.Equal(t, answerOf(`"later"`), p.ask(requestOf(`"later"`)))
		p.leave()
	})
}

// TestFlood checks that the server stops reading from a client that does not read, so its
// memory is bounded. Every request gets a response in the end.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 100 * entryOverhead
		p := connect(t, func(s *Server) {
			s.limits.backlog, s.limits.congestion, s.limits.flood = 10*entryOverhead, 20*entryOverhead, flood
		})
		defer p.hangUp()
		p.say(initializeLine)
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			for i := range 5000 {
				p.say(requestOf(fmt.Sprint(i)))
			}
		}()
		synctest.Wait()
		select {
		case <-sent:
			t.Fatal("the server reads on")
		default:
		}
		require.Less(t, p.server.conn(1).out.backlog(), 2*flood)
		go p.listen()
		<-sent
		heard := p.hear()[1:]
		require.Len(t, heard, 5000)
		for i, line := range heard {
			require.Contains(t, line, fmt.Sprintf(`"id":%d,`, i))
		}
		p.leave()
	})
}

// TestClientThatNeverReads checks that the shutdown does not exceed its deadline.
func TestClientThatNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t)
		p.say(initializeLine, requestOf("1"))
		require.NoError(t, p.in.Close())
		<-p.server.EOF()
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		require.NoError(t, p.server.Quiesce(ctx))
		start := time.Now()
		require.ErrorIs(t, p.server.Drain(ctx), context.DeadlineExceeded)
		require.Equal(t, 3*time.Second, time.Since(start))
		require.NoError(t, <-p.served)
		p.server.Notify(1, protocol.WarningNotification{})
		require.Nil(t, p.server.Congested(1))
		p.out.Close() // unblocks the write
	})
}

// TestOutputClosed checks that closing the output counts as EOF.
func TestOutputClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connect(t)
		p.say(initializeLine)
		require.NoError(t, p.out.Close())
		<-p.server.EOF()
		large := strings.Repeat("x", maxCongestion)
		for range 10 {
			p.server.Notify(1, protocol.WarningNotification{Message: large})
		}
		require.Nil(t, p.server.Congested(1), "nothing is kept for it")
		p.say(requestOf("1")) // accepted, although the response cannot be delivered
		synctest.Wait()
		ctx := context.Background()
		require.NoError(t, p.server.Quiesce(ctx))
		require.ErrorIs(t, p.server.Drain(ctx), io.ErrClosedPipe)
		require.ErrorIs(t, <-p.served, io.ErrClosedPipe)
		require.NoError(t, p.in.Close())
	})
}
