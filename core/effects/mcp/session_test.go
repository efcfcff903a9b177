package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"appserver/core/effects/mcp"
)

// message is a request of the client.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name string }
}

// fakeService is a server of the library over HTTP, whose answers a test replaces.
type fakeService struct {
	url string
	web *httptest.Server
	// before handles a request in place of the server if it returns true.
	before func(w http.ResponseWriter, r *http.Request, m message) bool

	mu        sync.Mutex
	runs      map[string]int
	inits     int
	forgotten map[string]bool
	sessions  map[string]bool
}

func newFakeService(t *testing.T) *fakeService {
	s := &fakeService{runs: map[string]int{}, forgotten: map[string]bool{}, sessions: map[string]bool{}}
	server := sdk.NewServer(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name string, hints *sdk.ToolAnnotations, err error) {
		server.AddTool(&sdk.Tool{Name: name, Annotations: hints, InputSchema: map[string]any{"type": "object"}},
			func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.runs[name]++
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "ok"}}}, err
			})
	}
	add("read", &sdk.ToolAnnotations{ReadOnlyHint: true}, nil)
	add("write", nil, nil)
	add("terminal", &sdk.ToolAnnotations{ReadOnlyHint: true}, fmt.Errorf("session not found: 5"))
	server.AddResource(&sdk.Resource{URI: "mem://a", Name: "a"},
		func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, Text: "content"}}}, nil
		})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
	s.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var m message
		_ = json.Unmarshal(body, &m)
		s.mu.Lock()
		if m.Method == "initialize" {
			s.inits++
		}
		if id := r.Header.Get("Mcp-Session-Id"); id != "" {
			s.sessions[id] = true
		}
		s.mu.Unlock()
		if s.before == nil || !s.before(w, r, m) {
			handler.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		s.web.Close()
		for session := range server.Sessions() { // those that no client has ended
			_ = session.Close()
		}
	})
	s.url = s.web.URL
	return s
}

// forget forgets all sessions. A request with one of them is refused.
func (s *fakeService) forget(refuse func(w http.ResponseWriter, m message)) {
	s.mu.Lock()
	s.forgotten = maps.Clone(s.sessions)
	s.mu.Unlock()
	s.before = func(w http.ResponseWriter, r *http.Request, m message) bool {
		s.mu.Lock()
		gone := r.Method == http.MethodPost && s.forgotten[r.Header.Get("Mcp-Session-Id")]
		s.mu.Unlock()
		if gone {
			refuse(w, m)
		}
		return gone
	}
}

func (s *fakeService) ran(tool string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[tool]
}

func (s *fakeService) initialized() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inits
}

func (s *fakeService) connect(t *testing.T) *rig {
	r := newRigOf(t, 10*time.Millisecond, nil)
	require.NotEmpty(t, r.ready(mcp.Definition{Name: "s", URL: s.url, StartupTimeout: patience, ToolTimeout: patience}))
	return r
}

// status refuses with a status and a body.
func status(code int, body string) func(http.ResponseWriter, message) {
	return func(w http.ResponseWriter, _ message) { http.Error(w, body, code) }
}

// rpcError refuses with an error response.
func rpcError(code int, kind string, number int, text string) func(http.ResponseWriter, message) {
	return func(w http.ResponseWriter, m message) {
		if m.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		quoted, _ := json.Marshal(text)
		answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, number, quoted)
		if kind == "text/event-stream" {
			answer = "event: message\ndata: " + answer + "\n\n"
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, answer)
	}
}

const jsonType, eventType = "application/json", "text/event-stream"

// TestForgottenSessionsAreRenewed: the call is repeated with a new session, however the service refuses the old one.
func TestForgottenSessionsAreRenewed(t *testing.T) {
	for name, refuse := range map[string]func(http.ResponseWriter, message){
		"404":                    status(404, "session not found"),
		"404 without a text":     status(404, ""),
		"404 with an error":      rpcError(404, jsonType, -32001, "Session not found"),
		"410":                    status(410, "gone"),
		"400":                    status(400, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`),
		"400 of a new server":    rpcError(400, jsonType, -32000, "Bad Request: Server not initialized"),
		"401":                    status(401, "Unauthorized: Session not found"),
		"422":                    status(422, "unexpected session"),
		"200":                    rpcError(200, jsonType, -32600, "Session not found"),
		"200 as an event":        rpcError(200, eventType, -32001, "invalid session"),
		"200 with another code":  rpcError(200, jsonType, -32603, "Server not initialized"),
		"200 without such words": rpcError(200, eventType, -32602, "Invalid request parameters"),
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeService(t)
			r := s.connect(t)
			for n, tool := range []string{"read", "write"} {
				s.forget(refuse)
				require.Contains(t, r.texts(r.call(tool, `{}`)), "ok", tool)
				require.Equal(t, 1, s.ran(tool))
				require.Equal(t, n+2, s.initialized())
			}
			s.forget(refuse)
			require.Len(t, r.Status(context.Background(), "me", "s", true)[0].Resources, 1)
			s.forget(refuse)
			read, err := r.Read(context.Background(), "me", "s", "mem://a")
			require.NoError(t, err)
			require.Contains(t, string(read[0]), "content")
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, state := range r.states {
				require.NotContains(t, state, "failed")
			}
		})
	}
}

// TestOtherRefusalsAreNoExpiredSessions: they end the call, and nothing runs twice.
func TestOtherRefusalsAreNoExpiredSessions(t *testing.T) {
	t.Run("a tool that speaks of sessions", func(t *testing.T) {
		s := newFakeService(t)
		r := s.connect(t)
		require.ErrorContains(t, r.call("terminal", `{}`).Err, "session not found: 5")
		require.Equal(t, 1, s.ran("terminal"))
		require.Equal(t, 1, s.initialized(), "the service keeps its state")
	})
	t.Run("an unknown method with status 404", func(t *testing.T) {
		s := newFakeService(t)
		r := s.connect(t)
		s.before = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "tools/call" {
				rpcError(404, jsonType, -32601, "method not found")(w, m)
			}
			return m.Method == "tools/call"
		}
		require.ErrorContains(t, r.call("write", `{}`).Err, "method not found")
		require.Equal(t, 1, s.initialized())
	})
	t.Run("a login", func(t *testing.T) {
		s := newFakeService(t)
		r := s.connect(t)
		s.before = func(w http.ResponseWriter, r *http.Request, m message) bool {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
			http.Error(w, "the session of the token has expired", http.StatusUnauthorized)
			return true
		}
		require.ErrorContains(t, r.call("write", `{}`).Err, "Unauthorized")
		require.Zero(t, s.ran("write"))
	})
	t.Run("a service that refuses each session", func(t *testing.T) {
		s := newFakeService(t)
		r := s.connect(t)
		var calls atomic.Int32
		s.before = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "tools/call" {
				calls.Add(1)
				http.Error(w, "session \x1b[31mnot found", http.StatusNotFound)
			}
			return m.Method == "tools/call"
		}
		err := r.call("write", `{}`).Err
		require.ErrorContains(t, err, "the MCP server `s` refused the session, and did not run the request")
		require.ErrorContains(t, err, "status 404 Not Found: session [31mnot found")
		require.EqualValues(t, 2, calls.Load(), "it is repeated once")
	})
}

// TestLostAnswersAreRepeatedIfNothingChanges: the service runs the tool, and its answer is lost.
func TestLostAnswersAreRepeatedIfNothingChanges(t *testing.T) {
	for name, lose := range map[string]func(w http.ResponseWriter){
		"an empty stream": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", eventType)
			_, _ = io.WriteString(w, ": hello\n\n")
		},
		"a closed connection": func(w http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"half a message": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`)
		},
		"a gateway": func(w http.ResponseWriter) { http.Error(w, "bad gateway", http.StatusBadGateway) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newFakeService(t)
			r := s.connect(t)
			lost := map[string]int{}
			var mu sync.Mutex
			s.before = func(w http.ResponseWriter, r *http.Request, m message) bool {
				if m.Method != "tools/call" {
					return false
				}
				mu.Lock()
				defer mu.Unlock()
				if lost[m.Params.Name]++; lost[m.Params.Name] > 1 {
					return false
				}
				lose(w)
				return true
			}
			require.Contains(t, r.texts(r.call("read", `{}`)), "ok")
			require.ErrorContains(t, r.call("write", `{}`).Err, "it is unknown whether the tool ran")
			mu.Lock()
			require.Equal(t, map[string]int{"read": 2, "write": 1}, lost)
			mu.Unlock()
			require.Contains(t, r.texts(r.call("write", `{}`)), "ok", "the next call works")
		})
	}
}

// TestCutStreamsAreResumed: the service sends the rest of the stream, and the tool is not called again.
func TestCutStreamsAreResumed(t *testing.T) {
	s := newFakeService(t)
	r := s.connect(t)
	calls := make(chan json.RawMessage, 10)
	s.before = func(w http.ResponseWriter, r *http.Request, m message) bool {
		w.Header().Set("Content-Type", eventType)
		switch {
		case m.Method == "tools/call":
			calls <- m.ID
			_, _ = io.WriteString(w, "id: 7\nretry: 10\ndata:\n\n")
		case r.Header.Get("Last-Event-ID") == "7":
			_, _ = fmt.Fprintf(w, "id: 8\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":"+
				"{\"content\":[{\"type\":\"text\",\"text\":\"resumed\"}]}}\n\n", <-calls)
		default:
			return false
		}
		return true
	}
	require.Contains(t, r.texts(r.call("write", `{}`)), "resumed")
}

// TestUnreachableServicesRunNothing: the call is known not to have run, and the next one works after a restart.
func TestUnreachableServicesRunNothing(t *testing.T) {
	s := newFakeService(t)
	r := s.connect(t)
	address := s.web.Listener.Addr().String()
	require.NoError(t, s.web.Listener.Close())
	s.web.CloseClientConnections()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	require.ErrorContains(t, r.call("write", `{}`).Err, "was not run")
	require.ErrorContains(t, r.call("write", `{}`).Err, "failed to start")
	require.Zero(t, s.ran("write"))
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	restarted := http.Server{Handler: s.web.Config.Handler}
	go func() { _ = restarted.Serve(l) }()
	defer restarted.Close()
	require.Contains(t, r.texts(r.call("write", `{}`)), "ok")
	require.Equal(t, 1, s.ran("write"))
}

// TestResultsOfServicesMayHaveAnyBlocks: over HTTP as from programs, in one event of several lines, too.
func TestResultsOfServicesMayHaveAnyBlocks(t *testing.T) {
	s := newFakeService(t)
	r := s.connect(t)
	for _, form := range []string{
		"data: {\"jsonrpc\":\"2.0\",\"id\":%s,\r\n" +
			"data:  \"result\":{\"content\":[{\"type\":\"new\"}],\"isError\":false}}\r\n\r\n",
		": a comment\n\nevent: message\ndata:{\"jsonrpc\":\"2.0\",\"id\":%s," +
			"\"result\":{\"content\":[{\"type\":\"new\"}],\"isError\":false}}\n\n",
	} {
		s.before = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "tools/call" {
				w.Header().Set("Content-Type", eventType)
				_, _ = fmt.Fprintf(w, form, m.ID)
			}
			return m.Method == "tools/call"
		}
		called := r.call("read", `{}`)
		require.Equal(t, `{"type":"new"}`, r.texts(called))
		require.True(t, called.Result.FailedWritten)
		require.Equal(t, `{"type":"new"}`, called.Result.Shown[0].Text)
	}
}
