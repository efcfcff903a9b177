package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"appserver/core"
	"appserver/core/effects/mcp"
	"appserver/protocol"
)

// serverEvents sends the states of connections to MCP servers to their threads. It implements mcp.Observer.
type serverEvents struct{ engine *Engine }

// State notifies the subscribers of a thread of the state of its connection to a server.
func (s serverEvents) State(owner, server, state string, err error) {
	n := protocol.McpServerStatusUpdatedNotification{ThreadID: &owner, Name: server, Status: state}
	if err != nil {
		text := err.Error()
		n.Error = &text
		var login mcp.LoginError
		if errors.As(err, &login) && login.LoginRequired() {
			n.FailureReason = new(protocol.McpReauthenticationRequired)
		}
	}
	s.engine.inThread(owner, func(a *actor) { a.notify(n) })
}

// ToolsChanged offers the present tools of servers in the next request of a thread.
func (s serverEvents) ToolsChanged(owner string) {
	s.engine.inThread(owner, func(a *actor) {
		tools, _ := s.engine.parts.Servers.Tools(owner)
		a.step(core.ServerToolsChanged{Tools: tools})
	})
}

// Ask sends a question of a server to the subscribers of a thread. It returns false if the
// thread is not available.
func (s serverEvents) Ask(owner string, q core.ServerQuestion) bool {
	return s.engine.inThread(owner, func(a *actor) { a.step(q) })
}

// Withdraw withdraws a question.
func (s serverEvents) Withdraw(owner string, question uint64) {
	s.engine.inThread(owner, func(a *actor) { a.step(core.ServerQuestionWithdrawn{Question: question}) })
}

// askServers replies from another goroutine, with a context that ends with the engine. It does not
// count as a reader of the disk.
func (e *Engine) askServers(to protocol.Caller, answer func(ctx context.Context) (any, error)) error {
	return e.workWithServers(func(ctx context.Context) {
		e.answer(to, func() (any, error) { return answer(ctx) })
	})
}

// workWithServers runs do in another goroutine, with a context that ends with the engine.
func (e *Engine) workWithServers(do func(ctx context.Context)) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closing:
		return errShuttingDown()
	case e.parts.Servers == nil:
		return protocol.Refuse(protocol.KindMcpServer, "this server has no MCP servers")
	}
	e.work.Go(func() {
		ctx, cancel := e.untilClosed()
		defer cancel()
		e.catchPanic(func() { do(ctx) })
	})
	return nil
}

// withConnections runs do with the connections of a thread, or with connections of its own without a
// thread. The latter start every server, so their number is limited.
func (e *Engine) withConnections(ctx context.Context, thread *string, do func(owner string)) error {
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
	e.parts.Servers.Open(owner, e.parts.Config.Current().Servers(""), serverEvents{e})
	defer e.parts.Servers.Disconnect(owner)
	do(owner)
	return nil
}

// withServers checks the thread in its goroutine, then calls answer.
func (e *Engine) withServers(to protocol.Caller, thread *string, answer func(ctx context.Context) (any, error)) error {
	return e.checkThread(to, thread, func() error { return e.askServers(to, answer) })
}

// checkThread calls do in the goroutine of the thread, or at once without a thread.
func (e *Engine) checkThread(to protocol.Caller, thread *string, do func() error) error {
	if thread == nil {
		return do()
	}
	return e.toThread(to, *thread, func(a *actor) {
		if err := do(); err != nil {
			e.refuse(to, err)
		}
	})
}

// ListMcpServerStatus lists the servers.
func (e *Engine) ListMcpServerStatus(to protocol.Caller, p *protocol.ListMcpServerStatusParams) error {
	name, full := "", p.Detail == nil || *p.Detail == "full"
	if p.ServerName != nil {
		name = *p.ServerName
	}
	return e.withServers(to, p.ThreadID, func(ctx context.Context) (any, error) {
		var all []protocol.McpServerStatus
		if err := e.withConnections(ctx, p.ThreadID,
			func(owner string) { all = e.parts.Servers.Status(ctx, owner, name, full) }); err != nil {
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
		called := e.parts.Servers.Call(ctx, p.ThreadID,
			core.CallTool{Server: p.Server, Tool: p.Tool, Arguments: arguments, Meta: p.Meta}, nil)
		if called.Err != nil {
			return nil, serverFailure(called.Err)
		}
		return protocol.McpServerToolCallResponse{Content: called.Result.Content, StructuredContent: called.Result.Structured,
			IsError: called.Result.IsError(), Meta: called.Result.Meta}, nil
	})
}

// McpResourceRead reads a resource for the client.
func (e *Engine) McpResourceRead(to protocol.Caller, p *protocol.McpResourceReadParams) error {
	if err := p.Check(); err != nil {
		return err
	}
	return e.withServers(to, p.ThreadID, func(ctx context.Context) (any, error) {
		var contents []json.RawMessage
		var err error
		gone := e.withConnections(ctx, p.ThreadID,
			func(owner string) { contents, err = e.parts.Servers.Read(ctx, owner, p.Server, p.URI) })
		if err = cmp.Or(gone, err); err != nil {
			return nil, serverFailure(err)
		}
		return protocol.McpResourceReadResponse{Contents: contents}, nil
	})
}

// McpServerRefresh reads the configuration again and connects every thread to the servers in it.
// Failed connections are retried at once.
func (e *Engine) McpServerRefresh(to protocol.Caller, _ *protocol.McpServerRefreshParams) error {
	return e.withServers(to, nil, func(context.Context) (any, error) {
		if err := e.parts.Servers.Reload(); err != nil {
			return nil, err
		}
		for _, a := range e.actors() {
			e.inThread(a.id, func(a *actor) {
				a.openServers(a.thread.Settings().Cwd)
				e.parts.Servers.Retry(a.id)
			})
		}
		return protocol.Empty{}, nil
	})
}
