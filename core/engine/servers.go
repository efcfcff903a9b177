package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"appserver/core"
	"appserver/protocol"
)

// Servers are MCP servers. Each owner has connections of its own: a thread by its id.
type Servers interface {
	// Open connects an owner to the servers that its configuration names, in its working
	// directory, and changes nothing of those that it is connected to. It does not wait.
	Open(owner string, scope Scope, cwd string)
	// Retry makes connections at once that have failed.
	Retry(owner string)
	// Leave closes an owner's connections. It does not wait.
	Leave(owner string)
	// Tools are those that there are; pending is set while more may come soon.
	Tools(owner string) (tools []core.ServerTool, pending bool)
	// Await is Tools once nothing is pending, or when that takes too long.
	Await(ctx context.Context, owner string) []core.ServerTool
	// AwaitRequired waits until the owner's required servers are connected to, or quit is
	// closed. The error names those that failed.
	AwaitRequired(quit <-chan struct{}, owner string) error
	// Call calls a tool; it returns soon after the end of ctx.
	Call(ctx context.Context, owner string, c core.CallTool, progress func(message string)) core.ToolCalled
	// Answer answers a question that [Engine].ServerAsks has passed on.
	Answer(question uint64, a protocol.McpServerElicitationRequestResponse)
	// Status tells of the servers, or of one of that name; with full of their resources.
	Status(ctx context.Context, owner, name string, full bool) []protocol.McpServerStatus
	// Read reads a resource.
	Read(ctx context.Context, owner, server, uri string) ([]json.RawMessage, error)
	// Reload reads the configuration again.
	Reload() error
}

// openServers connects the thread to its servers.
func (a *actor) openServers(cwd string) {
	if a.engine.parts.Servers != nil {
		a.engine.parts.Servers.Open(a.id, a.scope, cwd)
	}
}

// requireServers connects the thread to its servers, and refuses the thread if a required one
// cannot be connected to.
func (a *actor) requireServers(cwd string) error {
	if a.engine.parts.Servers == nil {
		return nil
	}
	a.openServers(cwd)
	return a.engine.parts.Servers.AwaitRequired(a.quit, a.id)
}

// closeServers closes the connections of a thread, also of one that could not be loaded.
func (a *actor) closeServers() {
	if a.engine.parts.Servers != nil && (a.thread != nil || a.scope != nil) {
		a.engine.parts.Servers.Leave(a.id)
	}
}

// serverTools are the tools that a turn in this directory has from servers.
func (a *actor) serverTools(cwd string) (tools []core.ServerTool, pending bool) {
	if a.engine.parts.Servers == nil {
		return nil, false
	}
	a.openServers(cwd)
	return a.engine.parts.Servers.Tools(a.id)
}

// startOfServers starts an effect that is about servers.
func (a *actor) startOfServers(e core.Effect) {
	servers := a.engine.parts.Servers
	switch e := e.(type) {
	case core.CallTool:
		a.launch(e.ID, func(ctx context.Context, emit func(core.Input)) core.Input {
			return servers.Call(ctx, a.id, e, func(message string) { emit(core.ToolProgress{Effect: e.ID, Message: message}) })
		}, core.ToolCalled{Effect: e.ID, Err: errors.New("the call did not end")})
	case core.AwaitTools:
		a.launch(e.ID, func(ctx context.Context, _ func(core.Input)) core.Input {
			return core.ToolsKnown{Effect: e.ID, Tools: servers.Await(ctx, a.id)}
		}, core.ToolsKnown{Effect: e.ID})
	case core.AnswerServer:
		servers.Answer(e.Question, e.Answer)
	}
}

// tell does something in the goroutine of a loaded thread; it is false where there is
// none, or too much to do.
func (e *Engine) tell(owner string, do func(a *actor)) bool {
	found, err := e.post(owner, false, request{do: do, absent: func(*actor) {}})
	return found && err == nil
}

// ServerState tells the clients of a thread how its connection to a server is.
func (e *Engine) ServerState(owner, server, state string, err error) {
	n := protocol.McpServerStatusUpdatedNotification{ThreadID: &owner, Name: server, Status: state}
	if err != nil {
		text := err.Error()
		n.Error = &text
	}
	e.tell(owner, func(a *actor) { a.send([]core.Message{core.Notice{Notification: n}}) })
}

// ServerAsks passes a question of a server on to the clients of a thread; it is false where
// that cannot be done.
func (e *Engine) ServerAsks(owner string, q core.ServerQuestion) bool {
	return e.tell(owner, func(a *actor) { a.step(q) })
}

// ServerAsksNoMore withdraws a question.
func (e *Engine) ServerAsksNoMore(owner string, question uint64) {
	e.tell(owner, func(a *actor) { a.step(core.ServerQuestionWithdrawn{Question: question}) })
}

// askServers answers a request with what servers say. It waits neither for them nor with
// other requests; the end of the server ends it.
func (e *Engine) askServers(to protocol.Caller, answer func(ctx context.Context) (any, error)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return errShuttingDown()
	case e.parts.Servers == nil:
		return protocol.Refuse(protocol.KindMcpServer, "there are no MCP servers here")
	}
	e.work.Go(func() {
		ctx, cancel := e.untilClosed()
		defer cancel()
		e.answer(to, func() (any, error) { return answer(ctx) })
	})
	return nil
}

// visitServers does something with connections that last as long as that: those of a
// thread, or for "" of nobody. The latter start every server, so few are made at a time.
func (e *Engine) visitServers(ctx context.Context, thread *string, do func(owner string)) error {
	if thread != nil {
		do(*thread)
		return nil
	}
	select {
	case e.oneshotServers <- struct{}{}:
	case <-ctx.Done():
		return errShuttingDown()
	}
	defer func() { <-e.oneshotServers }()
	owner := "visit-" + e.parts.NewID()
	e.parts.Servers.Open(owner, nil, "")
	defer e.parts.Servers.Leave(owner)
	do(owner)
	return nil
}

// withServers checks the thread, in its goroutine, and then asks servers.
func (e *Engine) withServers(to protocol.Caller, thread *string, answer func(ctx context.Context) (any, error)) error {
	if thread == nil {
		return e.askServers(to, answer)
	}
	return e.toThread(to, *thread, func(a *actor) {
		if err := e.askServers(to, answer); err != nil {
			e.parts.Outbox.Refuse(to, withCode(err))
		}
	})
}

// ListMcpServerStatus tells of the servers.
func (e *Engine) ListMcpServerStatus(to protocol.Caller, p *protocol.ListMcpServerStatusParams) error {
	name, full := "", p.Detail == nil || *p.Detail == "full"
	if p.ServerName != nil {
		name = *p.ServerName
	}
	return e.withServers(to, p.ThreadID, func(ctx context.Context) (any, error) {
		var all []protocol.McpServerStatus
		if err := e.visitServers(ctx, p.ThreadID, func(owner string) { all = e.parts.Servers.Status(ctx, owner, name, full) }); err != nil {
			return nil, err
		}
		var names []string
		for i := range all {
			names = append(names, all[i].Name)
			if p.ThreadID == nil {
				all[i].RuntimeStatus = nil
			}
		}
		listed, next, err := idsPage(names, p.Cursor, p.Limit)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(s protocol.McpServerStatus) bool { return !slices.Contains(listed, s.Name) })
		if all == nil {
			all = []protocol.McpServerStatus{}
		}
		return protocol.ListMcpServerStatusResponse{Data: all, NextCursor: next}, nil
	})
}

// McpServerToolCall calls a tool for the client.
func (e *Engine) McpServerToolCall(to protocol.Caller, p *protocol.McpServerToolCallParams) error {
	arguments := p.Arguments
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	if protocol.Unmarshal(arguments, &map[string]json.RawMessage{}) != nil {
		return protocol.InvalidParams("arguments", "`arguments`: expected an object, as tools of MCP servers take no other")
	}
	return e.withServers(to, &p.ThreadID, func(ctx context.Context) (any, error) {
		called := e.parts.Servers.Call(ctx, p.ThreadID, core.CallTool{Server: p.Server, Tool: p.Tool, Arguments: arguments, Meta: p.Meta}, nil)
		if called.Err != nil {
			return nil, serverFailure(called.Err)
		}
		return protocol.McpServerToolCallResponse{Content: called.Result.Content, StructuredContent: called.Result.Structured,
			IsError: called.Result.IsError(), Meta: called.Result.Meta}, nil
	})
}

// McpResourceRead reads a resource for the client.
func (e *Engine) McpResourceRead(to protocol.Caller, p *protocol.McpResourceReadParams) error {
	return e.withServers(to, p.ThreadID, func(ctx context.Context) (any, error) {
		var contents []json.RawMessage
		var err error
		gone := e.visitServers(ctx, p.ThreadID, func(owner string) { contents, err = e.parts.Servers.Read(ctx, owner, p.Server, p.URI) })
		if err = cmp.Or(gone, err); err != nil {
			return nil, serverFailure(err)
		}
		return protocol.McpResourceReadResponse{Contents: contents}, nil
	})
}

// serverFailure is an error of a server as an answer.
func serverFailure(err error) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return known
	}
	return protocol.Internal(protocol.KindMcpServer, "%v", err)
}

// McpServerRefresh reads the configuration again, and has every thread connect to the
// servers that it names now; those that had failed are tried at once.
func (e *Engine) McpServerRefresh(to protocol.Caller, _ *protocol.McpServerRefreshParams) error {
	return e.withServers(to, nil, func(context.Context) (any, error) {
		if err := e.parts.Servers.Reload(); err != nil {
			return nil, err
		}
		for _, a := range e.loaded() {
			e.tell(a.id, func(a *actor) {
				a.openServers(a.thread.Settings().Cwd)
				e.parts.Servers.Retry(a.id)
			})
		}
		return protocol.Empty{}, nil
	})
}
