package mcp_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/mcp"
)

const (
	toolsBefore = `{"tools":[{"name":"swap"},{"name":"flood"},{"name":"old"}]}`
	toolsAfter  = `{"tools":[{"name":"swap"},{"name":"flood"},{"name":"new"}]}`
)

func toolNames(tools []core.ServerTool) string {
	var names []string
	for _, tool := range tools {
		names = append(names, tool.Tool)
	}
	return strings.Join(names, " ")
}

// swapping returns a server whose tool swap replaces the tool old by new.
func swapping(t *testing.T) mcp.Definition {
	file := filepath.Join(t.TempDir(), "tools.json")
	require.NoError(t, os.WriteFile(file, []byte(toolsBefore), 0o600))
	require.NoError(t, os.WriteFile(file+".next", []byte(toolsAfter), 0o600))
	return define(t, "s", "-raw", file)
}

// TestChangedToolsAreKnownWithTheResult of the call that changed them. A removed tool is not called.
func TestChangedToolsAreKnownWithTheResult(t *testing.T) {
	r := newRig(t)
	require.Equal(t, "flood old swap", toolNames(r.ready(swapping(t))))
	require.Nil(t, r.call("old", `{}`).Tools)
	called := r.call("swap", `{}`)
	require.NoError(t, called.Err)
	require.Equal(t, "flood new swap", toolNames(called.Tools))
	require.Nil(t, r.call("new", `{}`).Tools)
	require.ErrorContains(t, r.call("old", `{}`).Err, "no longer offers the tool `old`")
	r.until(func() bool { return r.toolChanges == 1 })
}

// TestFloodsOfChangesAreThrottled: the call ends, and the list is read a few times.
func TestFloodsOfChangesAreThrottled(t *testing.T) {
	r := newRig(t)
	r.ready(swapping(t))
	began := time.Now()
	for range 3 {
		require.NoError(t, r.call("flood", `{}`).Err)
	}
	require.Less(t, time.Since(began), patience/2)
	r.mu.Lock()
	require.Zero(t, r.toolChanges, "the list is the same")
	r.mu.Unlock()
	require.NoError(t, r.call("swap", `{}`).Err)
	tools, _ := r.Tools("me")
	require.Equal(t, "flood new swap", toolNames(tools))
}

// TestReconnectedServersMayHaveOtherTools: they are reported.
func TestReconnectedServersMayHaveOtherTools(t *testing.T) {
	s := newFakeService(t)
	r := s.connect(t)
	refuse := status(404, "session not found")
	s.forget(refuse)
	forgotten := s.before
	s.before = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if forgotten(w, r, m) {
			return true
		}
		if m.Method == "tools/list" {
			rpcResult(w, m, `{"tools":[{"name":"read","inputSchema":{"type":"object"}},{"name":"z","inputSchema":{"type":"object"}}]}`)
		}
		return m.Method == "tools/list"
	}
	called := r.call("read", `{}`)
	require.Contains(t, r.texts(called), "ok")
	require.Equal(t, "read z", toolNames(called.Tools))
}

// TestChangesInTheStreamOfAServiceAreKnownWithTheResult: the notification comes before the result.
func TestChangesInTheStreamOfAServiceAreKnownWithTheResult(t *testing.T) {
	s := newFakeService(t)
	r := s.connect(t)
	changed := false
	s.before = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		switch {
		case m.Method == "tools/call":
			changed = true
			w.Header().Set("Content-Type", eventType)
			_, _ = w.Write([]byte("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n" +
				"data: {\"jsonrpc\":\"2.0\",\"id\":" + string(m.ID) + ",\"result\":{\"content\":[]}}\n\n"))
		case m.Method == "tools/list" && changed:
			rpcResult(w, m, toolsAfter)
		default:
			return false
		}
		return true
	}
	require.Equal(t, "flood new swap", toolNames(r.call("read", `{}`).Tools))
}

func rpcResult(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", jsonType)
	_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`))
}
