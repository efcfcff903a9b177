package mcp

import (
	"bytes"
	"context"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/core"
)

const (
	// relistDelay is the shortest time between two reads of a list of tools.
	relistDelay = 500 * time.Millisecond
	// relistTime bounds how long a call waits for a list of tools that changed before its result.
	relistTime = 2 * time.Second
)

// toolsChanged requests a new list of tools, once for all changes before it is read.
func (s *server) toolsChanged() {
	s.mu.Lock()
	s.wanted++
	s.mu.Unlock()
	signal(s.outdated)
}

// relist lists the tools again. If that fails, it keeps the previous ones.
func (s *server) relist(session *sdk.ClientSession) {
	ctx, cancel := context.WithTimeout(withListChanged(s.ctx, s.toolsChanged), s.def.StartupTimeout)
	defer cancel()
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	tools, meta, err := listTools(ctx, session)
	if err != nil {
		s.log("the list of tools could not be read again: " + err.Error())
	}
	s.setTools(session, wanted, tools, meta, err)
}

// setTools replaces the tools of a session and reports it if the model gets others now. An error keeps the previous
// ones.
func (s *server) setTools(session *sdk.ClientSession, wanted int, tools []listed, meta sdk.Meta, err error) {
	s.mu.Lock()
	changed := err == nil && s.session == session && !slices.EqualFunc(s.tools, tools, sameTool)
	if err == nil && s.session == session {
		s.tools, s.meta = tools, meta
	}
	s.changedTools = s.changedTools || changed
	s.mu.Unlock()
	if changed {
		s.observer.ToolsChanged(s.owner)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = wanted
	close(s.changed)
	s.changed = make(chan struct{})
}

// sameTool reports whether the model gets the same for two tools.
func sameTool(a, b listed) bool {
	return bytes.Equal(toJSON(a.Tool), toJSON(b.Tool))
}

// awaitList waits until the list of tools was read again, if the server has changed it before.
func (s *server) awaitList(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, relistTime)
	defer cancel()
	s.mu.Lock()
	wanted := s.wanted
	s.mu.Unlock()
	for {
		s.mu.Lock()
		read, session, changed := s.read, s.session, s.changed
		s.mu.Unlock()
		if read >= wanted || session == nil {
			return
		}
		select {
		case <-changed:
		case <-limited.Done():
			return
		}
	}
}

// changedTools returns the tools of an owner if a list has changed since the last call, or nil.
func (p *Pool) changedTools(owner string) []core.ServerTool {
	changed := false
	for _, s := range p.of(owner) {
		s.mu.Lock()
		changed = changed || s.changedTools
		s.changedTools = false
		s.mu.Unlock()
	}
	if !changed {
		return nil
	}
	tools, _ := p.Tools(owner)
	if tools == nil {
		tools = []core.ServerTool{}
	}
	return tools
}

// offers reports whether the server has listed a tool. A server whose tools are not known counts as having it.
func (s *server) offers(tool string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools == nil || slices.ContainsFunc(s.tools, func(t listed) bool { return t.Name == tool })
}
