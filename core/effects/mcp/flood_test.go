package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/mcp"
)

// flood calls a tool of a server that sends many messages before its result.
func flood(t *testing.T, p *puppet, timeout time.Duration, progress func(string)) core.ToolCalled {
	r := newRigOf(t, time.Hour, func(mcp.Definition, func(string)) (mcp.Process, error) { return p, nil })
	require.Len(t, r.ready(mcp.Definition{Name: "s", StartupTimeout: time.Minute, ToolTimeout: timeout}), 1)
	return r.Call(context.Background(), "me", core.CallTool{ID: 1, Server: "s", Tool: "t", Arguments: []byte(`{}`)},
		progress)
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

// TestFloodOfRequestsIsNotRead: the server sends requests and reads no responses. Memory is
// bounded, and the call ends in time.
func TestFloodOfRequestsIsNotRead(t *testing.T) {
	before := runtime.NumGoroutine()
	require.ErrorContains(t, flood(t, newFlood(10_000, ping), time.Second, nil).Err, "timed out")
	require.Less(t, runtime.NumGoroutine(), before+200)
}

// TestFloodOfRequestsByHTTPIsNotRead: over HTTP, each response is a request.
func TestFloodOfRequestsByHTTPIsNotRead(t *testing.T) {
	for name, message := range map[string]func(int) string{"pings": ping, "questions": ask} {
		t.Run(name, func(t *testing.T) { floodByHTTP(t, message) })
	}
}

func ask(i int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}`, i)
}

func floodByHTTP(t *testing.T, message func(int) string) {
	const asked = 20_000
	answers := map[string]string{"initialize": introduction, "tools/list": tools}
	over := make(chan struct{})
	var open atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		switch {
		case answers[m.Method] != "":
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answers[m.Method])
		case m.Method == "tools/call":
			w.Header().Set("Content-Type", "text/event-stream")
			for i := range asked {
				_, _ = fmt.Fprintf(w, "data: %s\n\n", message(i))
			}
			<-over
		case m.Method == "" && m.ID != nil:
			open.Add(1)
			<-over
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	defer s.Close()
	defer close(over)
	before := runtime.NumGoroutine()
	r := newRigOf(t, time.Hour, nil)
	require.Len(t, r.ready(mcp.Definition{Name: "s", URL: s.URL, StartupTimeout: time.Minute, ToolTimeout: time.Minute}),
		1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	require.ErrorContains(t, r.Call(ctx, "me", core.CallTool{Server: "s", Tool: "t", Arguments: []byte(`{}`)}, nil).Err,
		"deadline")
	require.Positive(t, open.Load())
	require.LessOrEqual(t, int(open.Load()), 64)
	require.Less(t, runtime.NumGoroutine(), before+asked/10)
	r.mu.Lock()
	defer r.mu.Unlock()
	require.LessOrEqual(t, len(r.asked), 64)
}

func TestFloodIsAnsweredIfTheServerReads(t *testing.T) {
	p := newFlood(90, func(i int) string { return ping(i % 80) })
	require.NoError(t, flood(t, p, time.Minute, nil).Err)
}

// TestExcessProgressIsDropped: the thread is busy, and the server continues.
func TestExcessProgressIsDropped(t *testing.T) {
	p := newFlood(10_000, func(i int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-1","progress":%d}}`, i)
	})
	var received []string
	free := make(chan struct{})
	p.answered = func() { close(free) }
	called := flood(t, p, time.Minute, func(message string) {
		if len(received) == 0 {
			<-free
		}
		received = append(received, message)
	})
	require.NoError(t, called.Err)
	require.Equal(t, "0", received[0])
	require.Less(t, len(received), 1000)
}

// TestToolsThatChangeAtOnceAreListedOnce sends 10,000 notifications at once. The tools are listed a few
// times, not once for each. How often depends on how the scheduler mixes lists and notifications.
func TestToolsThatChangeAtOnceAreListedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newFlood(10_000, func(int) string { return `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` })
		require.NoError(t, flood(t, p, time.Minute, nil).Err)
		synctest.Wait()
		require.Greater(t, p.lists, 1)
		require.Less(t, p.lists, 100)
	})
}

// TestEndlessListIsNotRead: every page has another page, and tools with long descriptions.
func TestEndlessListIsNotRead(t *testing.T) {
	p := newPuppet("", [3]string{introduction, `{"tools":[{"name":"t","description":"` + strings.Repeat("x", 1<<20) +
		`","inputSchema":{"type":"object"}}],"nextCursor":"more"}`, result})
	p.stays = true
	r := newRigOf(t, time.Hour, func(mcp.Definition, func(string)) (mcp.Process, error) { return p, nil })
	require.Len(t, r.ready(mcp.Definition{Name: "s", StartupTimeout: patience, ToolTimeout: patience}), 1)
	require.Less(t, p.lists, 20)
}
