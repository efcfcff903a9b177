package app

import (
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
	pool   *mcp.Pool
	config *config.Live
	logins serverLogins
	files  *toolFiles
	log    *zap.Logger
}

// plainVariables lists the environment variables that programs of MCP servers inherit by default. They
// describe the user, the locale and certificates. Keys are not included.
var plainVariables = strings.Fields("HOME LOGNAME PATH SHELL USER LANG LC_ALL LC_CTYPE TERM TMPDIR TZ " +
	"CURL_CA_BUNDLE GIT_SSL_CAINFO NODE_EXTRA_CA_CERTS PIP_CERT REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE")

func newServers(local *localHome, programs *tool.Shell, network *httpclient.Environment, files *toolFiles) *mcpServers {
	logins := newLogins(local.config.Current(), local.home, network)
	return &mcpServers{config: local.config, logins: logins, files: files, log: local.log, pool: mcp.New(mcp.Options{
		Spawn: func(d mcp.Definition, stderr func(string)) (mcp.Process, error) {
			link, err := programs.Connect(tool.Program{Argv: d.Command, Dir: d.Dir, Env: d.Env, Stderr: stderr})
			if err != nil {
				return nil, err
			}
			return link, nil
		},
		Version: Version, Logins: logins, Keep: files.keep,
		HTTP: network.Transport(),
		Log: func(server, line string) {
			local.log.Info("MCP server", zap.String("server", server), zap.String("line", line))
		},
	})}
}

// ports returns the ports of the engine for the servers.
func (s *mcpServers) ports() *engine.Servers {
	return &engine.Servers{ServerConnections: s.pool, ServerTools: s.pool, ServerCalls: s.pool, ServerViews: s.pool,
		Forget: s.forget, Reload: s.config.Reload, Login: s.login}
}

// forget removes the files of a thread.
func (s *mcpServers) forget(owner string) {
	if err := s.files.forget(owner); err != nil {
		s.log.Warn("files of tools could not be removed", zap.String("thread", owner), zap.Error(err))
	}
}

// definitions returns the servers of a configuration, whose programs run in cwd unless they name a directory.
func definitions(c *config.Config, cwd string) (out []mcp.Definition) {
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
