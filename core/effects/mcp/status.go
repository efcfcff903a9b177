package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"appserver/protocol"
)

// Status describes an owner's servers, in the order of their definitions. It waits for connections
// in progress. With full, it also lists resources. Name selects one server; empty selects all.
func (p *Pool) Status(ctx context.Context, owner, name string, full bool) []protocol.McpServerStatus {
	var out []protocol.McpServerStatus
	for _, s := range p.of(owner) {
		if name == "" || s.def.Name == name {
			out = append(out, s.status(ctx, full))
		}
	}
	return out
}

// statusOf returns the status of a server without a connection.
func statusOf(d Definition, state string) protocol.McpServerStatus {
	out := protocol.McpServerStatus{Name: d.Name, RuntimeStatus: &state, Tools: map[string]json.RawMessage{},
		Resources: []json.RawMessage{}, ResourceTemplates: []json.RawMessage{}, AuthStatus: "unsupported"}
	if u, err := url.Parse(d.URL); err == nil && u.Host != "" {
		origin := u.Scheme + "://" + u.Host
		out.HTTPOrigin = &origin
	}
	if d.Bearer {
		out.AuthStatus = "bearerToken"
	}
	return out
}

func (s *server) status(ctx context.Context, full bool) protocol.McpServerStatus {
	session, err := s.ready(ctx)
	if err != nil {
		out := statusOf(s.def, "failed")
		var login LoginError
		switch {
		case !s.attempted():
			out = statusOf(s.def, "starting")
		case errors.As(err, &login):
			out = statusOf(s.def, "authenticationRequired")
		}
		s.addAuthStatus(ctx, &out)
		text := err.Error()
		out.ToolsError = &text
		return out
	}
	out := statusOf(s.def, "connected")
	s.addAuthStatus(ctx, &out)
	s.addServerInfo(&out, session.InitializeResult())
	s.mu.Lock()
	for _, t := range s.tools {
		if s.allows(t.Name) {
			out.Tools[t.Name] = toJSON(t.Tool)
		}
	}
	if len(s.meta) > 0 {
		out.ToolListMeta = toJSON(s.meta)
	}
	s.mu.Unlock()
	if c := session.InitializeResult().Capabilities; full && c != nil && c.Resources != nil {
		s.addResources(ctx, &out, session)
	}
	return out
}

// addAuthStatus adds whether there is a login, or whether the service offers one.
func (s *server) addAuthStatus(ctx context.Context, out *protocol.McpServerStatus) {
	if s.usesLogin() {
		out.AuthStatus = s.pool.Logins.Status(ctx, s.def)
	}
}

// addServerInfo adds the server's description of itself.
func (s *server) addServerInfo(out *protocol.McpServerStatus, r *sdk.InitializeResult) {
	if r.Capabilities != nil {
		out.ServerCapabilities = toJSON(r.Capabilities)
	}
	if i := r.ServerInfo; i != nil {
		out.ServerInfo = &protocol.McpServerInfo{Name: i.Name, Title: protocol.OrNil(i.Title), Version: i.Version,
			Description: protocol.OrNil(i.Description), WebsiteURL: protocol.OrNil(i.WebsiteURL)}
		for _, icon := range i.Icons {
			out.ServerInfo.Icons = append(out.ServerInfo.Icons, toJSON(icon))
		}
	}
}

// addResources lists resources. If a list fails, its entries so far are kept.
func (s *server) addResources(ctx context.Context, out *protocol.McpServerStatus, session *sdk.ClientSession) {
	ctx, cancel := context.WithTimeout(ctx, s.def.StartupTimeout)
	defer cancel()
	out.Resources, _ = withSession(ctx, s, session, true, // empty if they cannot be listed
		func(ctx context.Context, session *sdk.ClientSession) ([]json.RawMessage, error) {
			return jsonList(session.Resources(ctx, nil))
		})
	out.ResourceTemplates, _ = withSession(ctx, s, session, true,
		func(ctx context.Context, session *sdk.ClientSession) ([]json.RawMessage, error) {
			return jsonList(session.ResourceTemplates(ctx, nil))
		})
}

// jsonList returns the entries of a list as JSON. It fails if the first one cannot be read.
func jsonList[T any](entries iter.Seq2[T, error]) ([]json.RawMessage, error) {
	list, size := []json.RawMessage{}, 0
	for entry, err := range entries {
		if err != nil && len(list) == 0 {
			return list, err
		}
		if err != nil || len(list) >= maxEntries || size >= maxListBytes {
			break
		}
		list = append(list, toJSON(entry))
		size += len(list[len(list)-1])
	}
	return list, nil
}

// Read reads a resource.
func (p *Pool) Read(ctx context.Context, owner, name, uri string) ([]json.RawMessage, error) {
	s, err := p.find(owner, name)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.def.ToolTimeout)
	defer cancel()
	session, err := s.ready(ctx)
	if err != nil {
		return nil, err
	}
	r, err := withSession(ctx, s, session, true,
		func(ctx context.Context, session *sdk.ClientSession) (*sdk.ReadResourceResult, error) {
			return session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
		})
	if err != nil {
		return nil, err
	}
	return blocks(uncarried(r.Meta).Contents), nil
}
