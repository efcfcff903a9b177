package engine

import (
	"context"
	"errors"

	"appserver/core"
)

// openServers connects the thread to its servers.
func (a *actor) openServers(cwd string) {
	if a.engine.parts.Servers != nil {
		a.engine.parts.Servers.Open(a.id, a.config().Servers(cwd), serverEvents{a.engine})
	}
}

// closeServers closes the connections of a thread, also of one that could not be loaded. The files of an ephemeral
// thread end with it.
func (a *actor) closeServers() {
	if a.engine.parts.Servers != nil && (a.thread != nil || a.scope != nil) {
		a.engine.parts.Servers.Disconnect(a.id)
		if a.options.Ephemeral {
			a.engine.parts.Servers.Forget(a.id)
		}
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

// serverTools returns the tools of MCP servers for a turn in this directory.
func (a *actor) serverTools(cwd string) (tools []core.ServerTool, pending bool) {
	if a.engine.parts.Servers == nil {
		return nil, false
	}
	a.openServers(cwd)
	return a.engine.parts.Servers.Tools(a.id)
}

// startServerEffect starts an effect on MCP servers.
func (a *actor) startServerEffect(e core.Effect) {
	servers := a.engine.parts.Servers
	switch e := e.(type) {
	case core.CallTool:
		a.launch(e.ID, func(ctx context.Context, emit func(core.Input)) core.Input {
			return servers.Call(ctx, a.id, e, func(message string) { emit(core.ToolProgress{Effect: e.ID, Message: message}) })
		}, core.ToolCalled{Effect: e.ID, Err: errors.New("the call did not end")})
	case core.AwaitTools:
		grace := a.config().ServerGrace
		a.launch(e.ID, func(ctx context.Context, _ func(core.Input)) core.Input {
			return core.ToolsKnown{Effect: e.ID, Tools: servers.Await(ctx, a.id, grace)}
		}, core.ToolsKnown{Effect: e.ID})
	case core.AnswerServer:
		servers.Answer(e.Question, e.Answer)
	}
}
