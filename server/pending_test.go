package server

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestLedger(t *testing.T) {
	var l pendingRequests
	require.True(t, isClosed(l.empty()), "nothing was asked yet")
	calls := []*request{{}, {}, {}}
	require.True(t, l.add(calls[0], 2))
	require.True(t, l.add(calls[1], 2))
	require.False(t, l.add(calls[2], 2), "the limit")
	require.Equal(t, []uint64{1, 2}, l.numbers())

	quiet := l.empty()
	require.Same(t, calls[0], l.remove(1))
	require.Nil(t, l.remove(1), "taken once")
	require.Nil(t, l.remove(99))
	require.False(t, l.add(calls[2], 2), "taken is not settled")
	l.responded()
	require.True(t, l.add(calls[2], 2))
	require.Equal(t, uint64(3), calls[2].number, "numbers are not used again")
	require.NotNil(t, l.remove(2))
	require.NotNil(t, l.remove(3))
	l.responded()
	require.False(t, isClosed(quiet), "taken is not settled")
	l.responded()
	require.True(t, isClosed(quiet))
	require.True(t, isClosed(l.empty()))
	require.Empty(t, l.numbers())
}

// TestConcurrentResponses lets several goroutines answer the same requests during a shutdown.
// Each request gets one response.
func TestConcurrentResponses(t *testing.T) {
	const requests, goroutines = 1000, 4
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		for i := range requests {
			p.say(fmt.Sprintf(`{"id":%d,"method":"thread/read","params":{"threadId":"t"}}`, i))
		}
		require.Empty(t, p.hear())
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				for i, to := range p.handler.held {
					p.server.Reply(to, i)
					p.server.Notify(1, textDelta(fmt.Sprint(g), "x"))
				}
			})
		}
		require.NoError(t, p.server.Quiesce(context.Background()))
		require.NoError(t, p.server.Drain(context.Background()))
		all.Wait()
		var got, want []string
		for _, line := range p.hear() {
			if !slices.Contains([]string{"0", "1", "2", "3"}, deltaItem(t, line)) {
				got = append(got, line)
			}
		}
		for i := range requests {
			want = append(want, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%d}`, i, i))
		}
		require.ElementsMatch(t, want, got)
	})
}

// deltaItem returns the item id of a delta, or "" for another line.
func deltaItem(t *testing.T, line string) string {
	lines := readLines(t, []byte(line))
	require.Len(t, lines, 1)
	return lines[0].Params.ItemID
}

// TestCodedErrors checks that every error has a code and a kind.
func TestCodedErrors(t *testing.T) {
	for code, kind := range map[int]protocol.Kind{
		protocol.CodeParseError:     protocol.KindParseError,
		protocol.CodeInvalidRequest: protocol.KindInvalidRequest,
		protocol.CodeMethodNotFound: protocol.KindMethodNotFound,
		protocol.CodeInvalidParams:  protocol.KindInvalidParams,
		protocol.CodeOverloaded:     protocol.KindOverloaded,
		protocol.CodeInternalError:  protocol.KindInternal,
		-1:                          protocol.KindInternal,
	} {
		require.Equal(t, &protocol.Error{Code: code, Message: "m", Data: &protocol.ErrorData{Kind: kind}},
			asProtocolError(&protocol.Error{Code: code, Message: "m"}))
	}
	bare := &protocol.Error{Message: "m", Data: &protocol.ErrorData{TurnID: "u"}}
	require.Equal(t, &protocol.Error{Code: -32603, Message: "m",
		Data: &protocol.ErrorData{Kind: protocol.KindInternal, TurnID: "u"}}, asProtocolError(bare))
	require.Zero(t, bare.Code, "the handler's error stays as it was")
	var none *protocol.Error
	require.Equal(t, protocol.CodeInternalError, asProtocolError(none).Code)
}
