package app

import (
	"context"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/mcp"
	"appserver/core/effects/mcp/login"
	"appserver/core/effects/tool"
	"appserver/core/engine"
	"appserver/platform/httpclient"
)

// mcpServers connects threads to the MCP servers of the configuration.
type mcpServers struct {
	*mcp.Pool
	config *config.Live
	logins serverLogins
	files  *toolFiles
	log    *zap.Logger
	// threads receives the states of servers. It is set before the first thread exists.
	threads *engine.Engine
}

// plainVariables lists the environment variables that programs of MCP servers inherit by default. They
// describe the user, the locale and certificates. Keys are not included.
var plainVariables = strings.Fields("HOME LOGNAME PATH SHELL USER LANG LC_ALL LC_CTYPE TERM TMPDIR TZ " +
	"CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS PIP_CERT REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE")

func newServers(live *config.Live, home string, programs *tool.Shell, network *httpclient.Environment,
	files *toolFiles, log *zap.Logger) *mcpServers {
	s := &mcpServers{config: live, logins: newLogins(live.Current(), home, network), files: files, log: log}
	s.Pool = mcp.New(mcp.Options{
		Spawn: func(d mcp.Definition, stderr func(string)) (mcp.Process, error) {
			link, err := programs.Connect(tool.Program{Argv: d.Command, Dir: d.Dir, Env: d.Env, Stderr: stderr})
			if err != nil {
				return nil, err
			}
			return link, nil
		},
		Observer: s, Version: Version, Logins: s.logins, Keep: files.keep,
		HTTP: network.Transport(),
		Log: func(server, line string) {
			log.Info("MCP server", zap.String("server", server), zap.String("line", line))
		},
	})
	return s
}

// Open connects an owner to the servers of its configuration.
func (s *mcpServers) Open(owner string, scope engine.Scope, cwd string) {
	s.Pool.Open(owner, s.definitions(s.of(scope), cwd))
}

// of returns the current configuration of a thread.
func (s *mcpServers) of(scope engine.Scope) *config.Config {
	if c, ok := scope.(*config.Config); ok {
		return s.config.Latest(c)
	}
	return s.config.Current()
}

func (s *mcpServers) definitions(c *config.Config, cwd string) (out []mcp.Definition) {
	for _, m := range c.Servers() {
		d := mcp.Definition{
			Name: m.Name, URL: m.URL, Bearer: m.BearerTokenEnvVar != "",
			StartupTimeout: time.Duration(m.StartupTimeout), ToolTimeout: time.Duration(m.ToolTimeout),
			Enabled: m.EnabledTools, Disabled: m.DisabledTools, Required: m.Required,
			Approval: m.DefaultToolsApprovalMode, ToolApproval: map[string]string{},
			Serial: m.ParallelCalls != nil && !*m.ParallelCalls,
		}
		switch {
		case m.Omits("direct"):
			d.Offer = core.OfferBySearch
		case m.Omits("deferred"):
			d.Offer = core.OfferDirect
		}
		for name, t := range m.Tools {
			if t.ApprovalMode != "" {
				d.ToolApproval[name] = t.ApprovalMode
			}
		}
		if m.URL != "" {
			d.Headers, d.Problem = c.RequestHeaders(m)
			d.Bearer = d.Bearer || login.HasToken(d.Headers)
			d.Login = loginSettings(c, m, d.Headers)
		} else {
			d.Command, d.Env, d.Dir = append([]string{m.Command}, m.Args...), environmentOf(m), m.Cwd
			if d.Dir == "" {
				d.Dir = cwd
			}
		}
		out = append(out, d)
	}
	return out
}

// environmentOf returns the environment of a server's program.
func environmentOf(m config.McpServer) (env []string) {
	for _, name := range slices.Concat(plainVariables, m.EnvVars) {
		value, set := os.LookupEnv(name)
		if _, own := m.Env[name]; set && !own {
			env = append(env, name+"="+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Env)) {
		env = append(env, name+"="+m.Env[name])
	}
	return env
}

// Await returns the tools when no server is connecting any more, or after the configured grace.
func (s *mcpServers) Await(ctx context.Context, owner string) []core.ServerTool {
	return s.Pool.Await(ctx, owner, s.config.Current().McpStartupGrace)
}

// Forget removes the files of a thread.
func (s *mcpServers) Forget(owner string) {
	if err := s.files.forget(owner); err != nil {
		s.log.Warn("files of tools could not be removed", zap.String("thread", owner), zap.Error(err))
	}
}

// Reload reads the configuration again.
func (s *mcpServers) Reload() error { return s.config.Reload() }

// State notifies the clients of a thread of the state of a server's connection.
func (s *mcpServers) State(owner, server, state string, err error) {
	s.threads.ServerState(owner, server, state, err)
}

// ToolsChanged offers the present tools in the next request of a thread.
func (s *mcpServers) ToolsChanged(owner string) { s.threads.ServerToolsChanged(owner) }

// Ask forwards a question of a server to the clients of a thread.
func (s *mcpServers) Ask(owner string, q core.ServerQuestion) bool {
	return s.threads.ServerAsks(owner, q)
}

// Withdraw withdraws a question of a server.
func (s *mcpServers) Withdraw(owner string, question uint64) {
	s.threads.ServerAsksNoMore(owner, question)
}
