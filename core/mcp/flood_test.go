package mcp_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/mcp"
)

// flood has a call of a server bring many messages before its answer.
func flood(t *testing.T, p *puppet, timeout time.Duration, progress func(string)) core.ToolCalled {
	r := newRigOf(t, time.Hour, func(mcp.Definition, func(string)) (mcp.Process, error) { return p, nil })
	require.Len(t, r.ready(mcp.Definition{Name: "s", StartupTimeout: time.Minute, ToolTimeout: timeout}), 1)
	return r.Call(context.Background(), "me", core.CallTool{ID: 1, Server: "s", Tool: "t", Arguments: []byte(`{}`)}, progress)
}

func newFlood(n int, message func(i int) string) *puppet {
	var before strings.Builder
	for i := range n {
		before.WriteString(message(i) + "\n")
	}
	p := newPuppet(before.String(), [3]string{introduction, tools, result})
	p.stays = true
	return p
}

func ping(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i) }

// TestFloodsAreNotReadOn has a server ask more and more, and take no answers: what is kept of that
// is bounded, and the call ends in time.
func TestFloodsAreNotReadOn(t *testing.T) {
	before := runtime.NumGoroutine()
	require.ErrorContains(t, flood(t, newFlood(10_000, ping), time.Second, nil).Err, "timed out")
	require.Less(t, runtime.NumGoroutine(), before+200)
}

// TestFloodsAreAnswered where the server takes the answers.
func TestFloodsAreAnswered(t *testing.T) {
	p := newFlood(90, func(i int) string { return ping(i % 80) })
	require.NoError(t, flood(t, p, time.Minute, nil).Err)
}

// TestProgressThatNobodyTakesIsDropped: the thread is busy, the server goes on.
func TestProgressThatNobodyTakesIsDropped(t *testing.T) {
	p := newFlood(10_000, func(i int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":%d}}`, i)
	})
	var told []string
	free := make(chan struct{})
	p.answered = func() { close(free) }
	called := flood(t, p, time.Minute, func(message string) {
		if len(told) == 0 {
			<-free
		}
		told = append(told, message)
	})
	require.NoError(t, called.Err)
	require.Equal(t, "0", told[0])
	require.Less(t, len(told), 1000)
}

// TestToolsThatChangeAtOnceAreListedOnce, or a few times: not for each word of it.
func TestToolsThatChangeAtOnceAreListedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFlood(10_000, func(int) string { return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` })
		require.NoError(t, flood(t, p, time.Minute, nil).Err)
		synctest.Wait()
		require.Greater(t, p.lists, 1)
		require.Less(t, p.lists, 10)
	})
}

// TestListsWithoutEndAreNotReadOn, of tools whose descriptions fill pages.
func TestListsWithoutEndAreNotReadOn(t *testing.T) {
	p := newPuppet("", [3]string{introduction, `{"tools":[{"name":"t","description":"` + strings.Repeat("x", 1<<20) + `","inputSchema":{"type":"object"}}],"nextCursor":"more"}`, result})
	p.stays = true
	r := newRigOf(t, time.Hour, func(mcp.Definition, func(string)) (mcp.Process, error) { return p, nil })
	require.Len(t, r.ready(mcp.Definition{Name: "s", StartupTimeout: 10 * time.Second, ToolTimeout: time.Minute}), 1)
	require.Less(t, p.lists, 20)
}
