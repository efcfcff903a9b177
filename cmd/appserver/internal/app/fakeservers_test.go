package app

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/core/engine"
	"appserver/protocol"
)

// fakeServers has one MCP server, docs, without a process. Its tools are: look reads; change needs an
// approval; name asks the user for a name; slow takes a second and reports progress; lost fails.
type fakeServers struct {
	mu      sync.Mutex
	threads mcp.Observer
	owners  []string
	answers map[uint64]chan protocol.McpServerElicitationRequestResponse
	reloads int
}

func newFakeServers() *fakeServers {
	return &fakeServers{answers: map[uint64]chan protocol.McpServerElicitationRequestResponse{}}
}

// ports returns the ports of the engine for the server.
func (f *fakeServers) ports() *engine.Servers {
	return &engine.Servers{ServerConnections: f, ServerTools: f, ServerCalls: f, ServerViews: f,
		Forget: func(string) {}, Reload: f.Reload, Login: f.Login}
}

// Open notifies each owner once that the server is ready.
func (f *fakeServers) Open(owner string, _ []mcp.Definition, to mcp.Observer) {
	f.mu.Lock()
	f.threads = to
	known := slices.Contains(f.owners, owner)
	if !known {
		f.owners = append(f.owners, owner)
	}
	f.mu.Unlock()
	if !known {
		go func() {
			to.State(owner, "docs", protocol.McpStarting, nil)
			to.State(owner, "docs", protocol.McpReady, nil)
		}()
	}
}

func (f *fakeServers) Retry(string) {}

// AwaitRequired returns at once, because no server is required.
func (f *fakeServers) AwaitRequired(<-chan struct{}, string) error { return nil }

func (f *fakeServers) Disconnect(owner string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.owners = slices.DeleteFunc(f.owners, func(o string) bool { return o == owner })
}

func (f *fakeServers) Tools(string) (tools []core.ServerTool, pending bool) {
	yes := true
	for _, name := range []string{"change", "look", "lost", "name", "slow"} {
		t := core.ServerTool{
			Spec: core.ToolSpec{Name: "mcp__docs__" + name, Description: "Does " + name,
				Parameters: json.RawMessage(`{"type":"object"}`)},
			Server: "docs", Tool: name, Namespace: "mcp__docs", Approval: "auto",
		}
		if name != "change" {
			t.ReadOnly = &yes
		}
		tools = append(tools, t)
	}
	return tools, false
}

func (f *fakeServers) Await(_ context.Context, owner string, _ time.Duration) []core.ServerTool {
	tools, _ := f.Tools(owner)
	return tools
}

func (f *fakeServers) Call(ctx context.Context, owner string, c core.CallTool, progress func(string)) core.ToolCalled {
	begin, text := time.Now(), c.Tool+" "+string(c.Arguments)
	switch c.Tool {
	case "lost":
		return core.ToolCalled{Effect: c.ID,
			Err: errors.New("the connection to the server was lost; call the tool again after it is restored")}
	case "slow":
		progress("half way")
		time.Sleep(time.Second)
	case "name":
		text = f.name(ctx, owner)
	}
	return core.ToolCalled{Effect: c.ID, Duration: time.Since(begin), Result: &core.ServerToolResult{
		Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":` + strconv.Quote(text) + `}`)},
	}}
}

// name asks the user for a name, and returns the answer.
func (f *fakeServers) name(ctx context.Context, owner string) string {
	f.mu.Lock()
	id := uint64(len(f.answers) + 1)
	answer := make(chan protocol.McpServerElicitationRequestResponse, 1)
	f.answers[id] = answer
	asks := f.threads
	f.mu.Unlock()
	asks.Ask(owner, core.ServerQuestion{
		Question: id, Server: "docs", Mode: "form", Message: "Your name?",
		Schema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`),
	})
	select {
	case a := <-answer:
		return a.Action + " " + string(a.Content)
	case <-ctx.Done():
		return "no answer"
	}
}

func (f *fakeServers) Answer(question uint64, a protocol.McpServerElicitationRequestResponse) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[question] <- a
}

func (f *fakeServers) Status(_ context.Context, _, name string, full bool) []protocol.McpServerStatus {
	if name != "" && name != "docs" {
		return nil
	}
	state := "connected"
	s := protocol.McpServerStatus{
		Name: "docs", RuntimeStatus: &state,
		Tools:     map[string]json.RawMessage{"look": json.RawMessage(`{"name":"look","inputSchema":{"type":"object"}}`)},
		Resources: []json.RawMessage{}, ResourceTemplates: []json.RawMessage{}, AuthStatus: "unsupported",
	}
	if full {
		s.Resources = append(s.Resources, json.RawMessage(`{"uri":"mem://a","name":"a"}`))
	}
	return []protocol.McpServerStatus{s}
}

func (f *fakeServers) Read(_ context.Context, _, server, uri string) ([]json.RawMessage, error) {
	if server != "docs" {
		return nil, errors.New("unknown MCP server '" + server + "'")
	}
	return []json.RawMessage{json.RawMessage(`{"uri":` + strconv.Quote(uri) + `,"text":"content"}`)}, nil
}

// Login starts a login. At docs it succeeds at once, at slow it fails.
func (f *fakeServers) Login(_ context.Context, _ *string,
	p *protocol.McpServerOauthLoginParams) (*engine.ServerLogin, error) {
	l := &engine.ServerLogin{URL: "https://login.example/authorize", Retry: func() {}}
	switch p.Name {
	case "docs":
		l.Wait = func() error { return nil }
	case "slow":
		l.Wait = func() error { return errors.New("timed out") }
	default:
		return nil, unknownServer(p.Name)
	}
	return l, nil
}

func (f *fakeServers) Reload() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reloads++
	if f.reloads > 1 {
		return protocol.Refuse(protocol.KindConfig, "the configuration cannot be read")
	}
	return nil
}
