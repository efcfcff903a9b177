package config

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"appserver/protocol"
)

// McpServers are MCP servers by name.
type McpServers map[string]McpServer

// McpServer is a program or a service that offers tools to the model.
type McpServer struct {
	// Name is its name in McpServers.
	Name string
	// Command is a program with the arguments Args. It runs in Cwd, by default the thread's directory.
	// It gets few variables of the server's environment, those in EnvVars, and the entries of Env.
	Command string            `key:"command"`
	Args    []string          `key:"args"`
	Env     map[string]string `key:"env"`
	EnvVars VariableNames     `key:"env_vars"`
	Cwd     string            `key:"cwd" path:""`
	// URL is the address of a service. It is an alternative to Command. Requests have HTTPHeaders,
	// headers whose values are in the variables of EnvHTTPHeaders, and the token in the variable
	// BearerTokenEnvVar.
	URL               string            `key:"url"`
	BearerTokenEnvVar string            `key:"bearer_token_env_var"`
	HTTPHeaders       map[string]string `key:"http_headers"`
	EnvHTTPHeaders    map[string]string `key:"env_http_headers"`
	// OAuth, OAuthResource and Scopes are for logins at a service. Scopes is nil for those that the service asks for.
	OAuth         McpOAuth `key:"oauth"`
	OAuthResource string   `key:"oauth_resource"`
	Scopes        []string `key:"scopes"`
	// StartupTimeout bounds the time to connect, ToolTimeout the time of a call.
	StartupTimeout Seconds `key:"startup_timeout_sec"`
	ToolTimeout    Seconds `key:"tool_timeout_sec"`
	// Enabled is false if the server is not used. The first turn waits for Required servers until
	// their startup timeout.
	Enabled  bool `key:"enabled"`
	Required bool `key:"required"`
	// EnabledTools are the offered tools, or nil for all. DisabledTools are not offered.
	EnabledTools  []string `key:"enabled_tools"`
	DisabledTools []string `key:"disabled_tools"`
	// OmitToolsFrom are ways in which tools are not offered: direct in each request, deferred by a search. There is no
	// code mode.
	OmitToolsFrom []string `key:"omit_tools_from" oneof:"code_mode deferred direct"`
	// ParallelCalls is false if the calls of the tools run one by one.
	ParallelCalls *bool `key:"supports_parallel_tool_calls"`
	// OlderStartupTimeout is StartupTimeout, read from milliseconds. StartupTimeout is stronger.
	OlderStartupTimeout time.Duration `key:"startup_timeout_ms" min:"1" max:"86400000"`
	// DefaultToolsApprovalMode selects the calls that need an approval. Tools overrides it for single
	// tools.
	DefaultToolsApprovalMode string   `key:"default_tools_approval_mode" oneof:"auto prompt approve"`
	Tools                    McpTools `key:"tools"`
}

// Omits reports whether tools of the server are not offered in a way.
func (s *McpServer) Omits(way string) bool { return slices.Contains(s.OmitToolsFrom, way) }

// McpOAuth is the client that logs in at a service.
type McpOAuth struct {
	// ClientID is a client that is registered at the authorization server, and ClientSecret its secret. Without a
	// ClientID, a login registers a client.
	ClientID     string `key:"client_id"`
	ClientSecret string `key:"client_secret"`
	// CallbackPort and CallbackURL override those of all servers. The URL is used as it is.
	CallbackPort int    `key:"callback_port" min:"0" max:"65535"`
	CallbackURL  string `key:"callback_url"`
}

// McpTools are settings of single tools by name.
type McpTools map[string]McpTool

// McpTool has the settings of a tool.
type McpTool struct {
	ApprovalMode string `key:"approval_mode" oneof:"auto prompt approve"`
}

const (
	startupTimeout = Seconds(10 * time.Second)
	toolTimeout    = Seconds(60 * time.Second)
	// maxTimeout is a day.
	maxTimeout = 24 * 60 * 60
)

// Seconds is a duration that the file has as a number of seconds.
type Seconds time.Duration

// UnmarshalJSON reads a positive number.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var n float64
	if err := protocol.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("expected a number of seconds")
	}
	if !(n > 0 && n <= maxTimeout) {
		return fmt.Errorf("expected more than 0 and at most %d seconds", maxTimeout)
	}
	*s = Seconds(math.Ceil(n * float64(time.Second)))
	return nil
}

// VariableNames are names of environment variables.
type VariableNames []string

// UnmarshalJSON reads a list of names, or of tables with a name.
func (v *VariableNames) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	if err := protocol.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("expected a list of names of variables")
	}
	for _, raw := range list {
		var named struct {
			Name string `json:"name"`
		}
		if protocol.Unmarshal(raw, &named.Name) != nil && protocol.Unmarshal(raw, &named) != nil || named.Name == "" {
			return fmt.Errorf("expected names of variables")
		}
		*v = append(*v, named.Name)
	}
	return nil
}

// servers decodes the table of servers.
func (d *decoder) servers(to McpServers, n *node, path []string) {
	if n.table == nil {
		d.expected(n, path, "a table of MCP servers")
		return
	}
	for _, name := range sortedKeys(n.table) {
		s := McpServer{Name: name, StartupTimeout: startupTimeout, ToolTimeout: toolTimeout, Enabled: true, Tools: McpTools{}}
		d.fields(reflect.ValueOf(&s).Elem(), n.table[name], below(path, name))
		if s.OlderStartupTimeout > 0 && n.table[name].find("startup_timeout_sec") == nil {
			s.StartupTimeout = Seconds(s.OlderStartupTimeout)
		}
		if s.Omits("direct") && s.Omits("deferred") {
			s.EnabledTools = []string{}
		}
		to[name] = s
	}
}

func (d *decoder) serverTools(to McpTools, n *node, path []string) {
	if n.table == nil {
		d.expected(n, path, "a table of tools")
		return
	}
	for _, name := range sortedKeys(n.table) {
		var t McpTool
		d.fields(reflect.ValueOf(&t).Elem(), n.table[name], below(path, name))
		to[name] = t
	}
}

// checkServers requires each server to be a program or a service. It disables others with a
// warning.
func (c *Config) checkServers(d *decoder) {
	for _, name := range sortedKeys(c.McpServers) {
		s, path := c.McpServers[name], []string{"mcp_servers", name}
		n := c.root.find(path...)
		switch {
		case s.Command == "" && s.URL == "":
			d.warn(n, path, "has neither command nor url, so it is not used: set one of them")
			delete(c.McpServers, name)
		case s.Command != "" && s.URL != "":
			d.warn(n, path, "has both command and url, so it is not used: remove one of them")
			delete(c.McpServers, name)
		case s.Command != "" && (s.OAuth != McpOAuth{} || s.OAuthResource != "" || s.Scopes != nil):
			d.warn(n, path, "is a program, so its settings for logins have no effect: remove oauth, oauth_resource and scopes")
		case s.OAuth.ClientSecret != "" && s.OAuth.ClientID == "":
			d.problem(n, append(path, "oauth"), "client_secret requires client_id")
		case s.URL != "":
			d.checkURL(s.URL, c.root.find(append(path, "url")...), append(path, "url"))
		}
	}
}

// Servers returns the enabled MCP servers, sorted by name.
func (c *Config) Servers() (out []McpServer) {
	for _, name := range sortedKeys(c.McpServers) {
		if s := c.McpServers[name]; s.Enabled {
			out = append(out, s)
		}
	}
	return out
}

// RequestHeaders returns the headers for a service. The error names a variable that is missing, or whose value cannot
// be a header.
func (c *Config) RequestHeaders(s McpServer) (map[string]string, error) {
	headers, err := c.headers(s.HTTPHeaders, s.EnvHTTPHeaders)
	if err != nil || s.BearerTokenEnvVar == "" {
		return headers, err
	}
	token, err := c.token(s.BearerTokenEnvVar)
	switch {
	case err != nil:
		return nil, err
	case token == "":
		return nil, fmt.Errorf("the environment variable %s is not set, which bearer_token_env_var of the MCP server %s names", s.BearerTokenEnvVar, s.Name)
	}
	headers["Authorization"] = "Bearer " + token
	return headers, nil
}

// Reload reads the user's file again, and applies it.
func (l *Live) Reload() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	next, err := Load(l.source)
	if err != nil {
		return protocol.Refuse(protocol.KindConfig, "the configuration cannot be read: %v", err)
	}
	l.apply(next)
	return nil
}

// Latest returns the configuration of a thread with the current settings below its own overrides,
// including the files of its project. If they are invalid together, or nothing has changed, it returns c.
func (l *Live) Latest(c *Config) *Config {
	current := l.Current()
	if c.base == current && c.lacksProjectFiles() {
		return c
	}
	next, err := current.inFolder(c.project.cwd, c.overrides())
	if err != nil {
		return c
	}
	return next
}
