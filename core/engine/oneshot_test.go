package engine_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/core/effects/mcp"
	"appserver/core/engine"
	"appserver/protocol"
)

// slowServers reply when the test lets them. They count their connected owners.
type slowServers struct {
	let chan struct{}

	mu         sync.Mutex
	here, most int
}

func (s *slowServers) Open(string, []mcp.Definition, mcp.Observer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here++
	s.most = max(s.most, s.here)
}

func (s *slowServers) Disconnect(string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here--
}

func (s *slowServers) Status(ctx context.Context, _, _ string, _ bool) []protocol.McpServerStatus {
	s.wait(ctx)
	return []protocol.McpServerStatus{{Name: "one"}}
}

func (s *slowServers) Read(ctx context.Context, _, _, _ string) ([]json.RawMessage, error) {
	return nil, s.wait(ctx)
}

func (s *slowServers) Retry(string) {}

func (s *slowServers) wait(ctx context.Context) error {
	select {
	case <-s.let:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tally counts answers, and refusals among them.
type tally struct {
	mu               sync.Mutex
	answers, refused map[protocol.Caller]int
}

func (y *tally) Reply(to protocol.Caller, _ any) { y.note(y.answers, to) }

func (y *tally) Refuse(to protocol.Caller, _ *protocol.Error) {
	y.note(y.answers, to)
	y.note(y.refused, to)
}

func (y *tally) note(counts map[protocol.Caller]int, to protocol.Caller) {
	y.mu.Lock()
	defer y.mu.Unlock()
	counts[to]++
}

// TestFewVisitsOfServersAtOnce: each that is of no thread starts every server that is configured.
// Each is answered, also where the engine ends before it was made.
func TestFewVisitsOfServersAtOnce(t *testing.T) {
	const visits = 50
	for _, ends := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s, y := &slowServers{let: make(chan struct{})},
				&tally{answers: map[protocol.Caller]int{}, refused: map[protocol.Caller]int{}}
			e := engine.New(engine.Parts{Outbox: engine.Outbox{Answers: y}, Log: zap.NewNop(), Config: &setup{},
				Servers: &engine.Servers{ServerConnections: s, ServerViews: s}})
			for i := range uint64(visits) {
				to := protocol.Caller{Conn: 1, Request: i}
				if i%2 == 0 {
					require.NoError(t, e.ListMcpServerStatus(to, &protocol.ListMcpServerStatusParams{}))
				} else {
					require.NoError(t, e.McpResourceRead(to, &protocol.McpResourceReadParams{Server: "one", URI: "x:y"}))
				}
			}
			synctest.Wait()
			most := s.most
			if !ends {
				close(s.let)
				synctest.Wait()
			}
			ctx, cancel := context.WithTimeout(context.Background(), grace)
			defer cancel()
			require.NoError(t, e.Close(ctx))
			require.LessOrEqual(t, most, 4)
			require.Zero(t, s.here)
			require.Len(t, y.answers, visits)
			for to, n := range y.answers {
				require.Equal(t, 1, n, "%v", to)
			}
			require.Equal(t, ends, len(y.refused) > 0)
		})
	}
}
