package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"slices"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
	"appserver/protocol"
	"appserver/server/web"
)

// providers probes the provider of new conversations, and reports which others have their key.
func (s *subject) providers(ctx context.Context) []Result {
	if s.Config == nil {
		return nil
	}
	chosen := s.Config.ModelProvider
	list := []Result{s.provider(ctx, chosen)}
	var ready, local, others []string
	for _, id := range slices.Sorted(maps.Keys(s.Config.ModelProviders)) {
		p := s.Config.ModelProviders[id]
		switch key := s.Config.DescribeKey(p); {
		case id == chosen || id == config.ProviderOffline:
		case s.Config.Ready(id) != nil:
			others = append(others, id)
		case key.Present:
			ready = append(ready, id+" ("+keyText(key)+")")
		default:
			local = append(local, id)
		}
	}
	return append(list, ok("provider.others", "can be used: %s; need no key, if their server runs: %s; cannot be used yet: %s",
		listed(ready), listed(local), listed(others)))
}

// listed joins names, at most some of them.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if more := len(names) - maxListed; more > 0 {
		names = append(slices.Clone(names[:maxListed]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// provider probes a provider that has all that a request needs.
func (s *subject) provider(ctx context.Context, id string) Result {
	if id == config.ProviderOffline {
		return ok("provider", "offline: a built-in provider for tests, which asks no model")
	}
	if err := s.Config.Ready(id); err != nil {
		return problem("provider", "run appserver login, or choose another provider with model_provider (docs/providers.md)", "%v", err)
	}
	return s.probe(ctx, id)
}

// ask probes a provider as model/provider/probe does. It implements Prober.
func (s *subject) ask(ctx context.Context, id string) Result {
	p, err := s.Probe(ctx, id)
	if err != nil {
		return problem("provider", "correct [model_providers."+id+"] in config.toml", "%v", err)
	}
	if p.Problem == nil {
		verb := "answers with"
		if p.Key.Accepted != nil && *p.Key.Accepted {
			verb = "accepts"
		}
		return ok("provider", "%s at %s %s %s; %s can be used", id, *p.BaseURL, verb, keyText(p.Key),
			termtext.Counted(p.ModelCount, "model"))
	}
	report, action := problem, "see docs/providers.md"
	if kind := p.Problem.Kind; kind == protocol.ProbeNoModelServer || kind == protocol.ProbeFailed {
		report, action = warn, "try again later" // turns may work
	}
	if p.Problem.Advice != nil {
		action = *p.Problem.Advice
	}
	return report("provider", action, "%s: %s", id, p.Problem.Message)
}

// keyText describes a key without its value.
func keyText(k protocol.ModelProviderKey) string {
	switch k.Source {
	case protocol.KeyStored:
		return "the key that was typed for it"
	case protocol.KeyEnvironment:
		return "the key of " + *k.EnvKey
	case protocol.KeyConfiguration:
		return "the key in the configuration"
	case protocol.KeyLogin:
		return "the login"
	}
	return "no key"
}

// startTime bounds the start of MCP servers. Their end takes some time of the report, too.
const startTime = 6 * time.Second

// servers starts the MCP servers.
func (s *subject) servers(ctx context.Context) (list []Result) {
	if s.Config == nil {
		return nil
	}
	if len(s.Config.McpServers) == 0 {
		return []Result{ok("mcp", "no MCP servers are configured")}
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	states := map[string]protocol.McpServerStatus{}
	for _, state := range s.Servers(ctx) {
		states[state.Name] = state
	}
	for _, name := range slices.Sorted(maps.Keys(s.Config.McpServers)) {
		m := s.Config.McpServers[name]
		state, started := states[name]
		if !m.Enabled || !started {
			list = append(list, ok("mcp."+name, "disabled"))
			continue
		}
		list = append(list, serverResult(m, state))
	}
	return list
}

func serverResult(m config.McpServer, state protocol.McpServerStatus) Result {
	name, reason := "mcp."+m.Name, ""
	if state.ToolsError != nil {
		reason = *state.ToolsError
	}
	failed := warn
	if m.Required {
		failed = problem
	}
	switch *state.RuntimeStatus {
	case "connected":
		return ok(name, "started, with %s", termtext.Counted(len(state.Tools), "tool"))
	case "authenticationRequired":
		return failed(name, "appserver mcp login "+m.Name, "needs a login: %s", reason)
	case "starting":
		return failed(name, "start it by hand to see what it waits for", "has not started within the time of this command")
	}
	return failed(name, "correct [mcp_servers."+m.Name+"], or run it by hand", "does not start: %s", reason)
}

// running reports the server on the control socket.
func (s *subject) running(ctx context.Context) []Result {
	d, err := s.Running(ctx)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Result{ok("server", "none listens on the control socket of this home (--listen unix://)")}
	case err != nil:
		return []Result{warn("server", "end the program that hangs, or start a server, which replaces the socket of a dead one",
			"the control socket exists, but no server responds: %v", cause(err))}
	case d.Version != app.Version:
		return []Result{warn("server", "restart it", "a server with version %s runs (process %d); this program has version %s",
			d.Version, d.Pid, app.Version)}
	}
	text := fmt.Sprintf("a server runs (process %d): %s loaded, the index is %s", d.Pid, termtext.Counted(d.Threads.Loaded, "conversation"), d.Index.State)
	if d.Index.Reason != nil {
		return []Result{warn("server", "see the reason", "%s: %s", text, *d.Index.Reason)}
	}
	return []Result{ok("server", "%s", text)}
}

// dialTime bounds the connection to a page of this machine.
const dialTime = time.Second

// ports reports whether a page can be served on this machine, and which pages of the home are open.
func (s *subject) ports(ctx context.Context) []Result {
	free, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return []Result{problem("ports", "allow this program to listen on 127.0.0.1", "appserver web cannot open a port: %v", err)}
	}
	_ = free.Close()
	pages, err := web.Addresses(s.Home)
	if err != nil {
		return []Result{warn("ports", "make the folder readable", "%v", err)}
	}
	var open []string
	for _, at := range pages {
		conn, err := (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "tcp", at.String())
		if err == nil {
			_ = conn.Close()
			open = append(open, "http://"+at.String())
		}
	}
	if len(open) > 0 {
		return []Result{ok("ports", "pages of this home are open at %s", listed(open))}
	}
	if free, err = net.Listen("tcp4", fmt.Sprintf("127.0.0.1:%d", web.DefaultPort)); err != nil {
		return []Result{ok("ports", "no page of this home is open; another program has port %d, so appserver web uses a later one",
			web.DefaultPort)}
	}
	_ = free.Close()
	return []Result{ok("ports", "no page of this home is open; appserver web can use port %d", web.DefaultPort)}
}
