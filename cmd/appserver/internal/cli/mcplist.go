package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
)

// hidden takes the place of the values of variables and headers.
const hidden = "*****"

// authWords returns the words of the JSON output and of the table for an authStatus.
func authWords(status string) (word, text string) {
	switch status {
	case "unsupported":
		return "unsupported", "Unsupported"
	case "notLoggedIn":
		return "not_logged_in", "Not logged in"
	case "bearerToken":
		return "bearer_token", "Bearer token"
	case "oAuth":
		return "o_auth", "OAuth"
	}
	return "unknown", "Unknown"
}

// mcpTransport is how a server is reached, in the JSON output. Members of the other kind are left out.
type mcpStdio struct {
	Type    string            `json:"type"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
	EnvVars []string          `json:"env_vars"`
	Cwd     *string           `json:"cwd"`
}

type mcpHTTP struct {
	Type              string            `json:"type"`
	URL               string            `json:"url"`
	BearerTokenEnvVar *string           `json:"bearer_token_env_var"`
	HTTPHeaders       map[string]string `json:"http_headers"`
	EnvHTTPHeaders    map[string]string `json:"env_http_headers"`
	HTTPHeadersHelper *string           `json:"http_headers_helper"`
}

// mcpEntry is a server in the JSON output of list.
type mcpEntry struct {
	Name           string  `json:"name"`
	Enabled        bool    `json:"enabled"`
	DisabledReason *string `json:"disabled_reason"`
	Transport      any     `json:"transport"`
	StartupTimeout any     `json:"startup_timeout_sec"`
	ToolTimeout    any     `json:"tool_timeout_sec"`
	AuthStatus     string  `json:"auth_status"`
}

// mcpDetails is a server in the JSON output of get.
type mcpDetails struct {
	Name           string    `json:"name"`
	Enabled        bool      `json:"enabled"`
	DisabledReason *string   `json:"disabled_reason"`
	Transport      any       `json:"transport"`
	EnabledTools   *[]string `json:"enabled_tools"`
	DisabledTools  *[]string `json:"disabled_tools"`
	StartupTimeout any       `json:"startup_timeout_sec"`
	ToolTimeout    any       `json:"tool_timeout_sec"`
}

func transportOf(m config.McpServer) any {
	if m.URL != "" {
		return mcpHTTP{"streamable_http", m.URL, textOrNil(m.BearerTokenEnvVar), m.HTTPHeaders, m.EnvHTTPHeaders, nil}
	}
	return mcpStdio{"stdio", m.Command, append([]string{}, m.Args...), m.Env, append([]string{}, m.EnvVars...),
		textOrNil(m.Cwd)}
}

func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// list prints the servers.
func (c *mcpCall) list([]string) error {
	names := slices.Sorted(maps.Keys(c.servers.Config.McpServers))
	if c.json {
		entries := []mcpEntry{}
		status := c.statuses(names)
		for i, name := range names {
			m, raw := c.servers.Config.McpServers[name], c.servers.Config.ServerTable(name)
			word, _ := authWords(status[i])
			entries = append(entries, mcpEntry{name, m.Enabled, nil, transportOf(m), raw["startup_timeout_sec"],
				raw["tool_timeout_sec"], word})
		}
		return writeJSON(c.Out, entries)
	}
	if len(names) == 0 {
		_, err := fmt.Fprintln(c.Out, "No MCP servers configured yet. Try `appserver mcp add my-tool -- my-command`.")
		return err
	}
	programs := [][]string{{"Name", "Command", "Args", "Env", "Cwd", "Status", "Auth"}}
	services := [][]string{{"Name", "Url", "Bearer Token Env Var", "Status", "Auth"}}
	for i, status := range c.statuses(names) {
		m := c.servers.Config.McpServers[names[i]]
		enabled := "enabled"
		if !m.Enabled {
			enabled = "disabled"
		}
		_, auth := authWords(status)
		if m.URL != "" {
			services = append(services, []string{m.Name, m.URL, orDash(m.BearerTokenEnvVar), enabled, auth})
		} else {
			programs = append(programs, []string{m.Name, m.Command, orDash(strings.Join(m.Args, " ")), variables(m),
				orDash(m.Cwd), enabled, auth})
		}
	}
	var tables []string
	for _, rows := range [][][]string{programs, services} {
		if len(rows) > 1 {
			tables = append(tables, padded(rows))
		}
	}
	_, err := io.WriteString(c.Out, strings.Join(tables, "\n"))
	return err
}

// statuses returns the authStatus of servers. It asks all at once, because some do not answer.
func (c *mcpCall) statuses(names []string) []string {
	out := make([]string, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		m := c.servers.Config.McpServers[name]
		if !m.Enabled {
			out[i] = "unsupported"
			continue
		}
		all.Go(func() { out[i] = c.servers.Status(context.Background(), m) })
	}
	all.Wait()
	return out
}

// variables returns the names of the variables of a program.
func variables(m config.McpServer) string {
	var out []string
	for _, name := range slices.Concat(slices.Sorted(maps.Keys(m.Env)), m.EnvVars) {
		out = append(out, name+"="+hidden)
	}
	return orDash(strings.Join(out, ", "))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// padded aligns rows. The cells of the last column are padded, too, as in the reference implementation.
func padded(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range row {
			row[i] = termtext.Plain(row[i])
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			if i > 0 {
				out.WriteString("  ")
			}
			out.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// get prints a server.
func (c *mcpCall) get(args []string) error {
	m, err := c.find(args[0])
	if err != nil {
		return err
	}
	raw := c.servers.Config.ServerTable(m.Name)
	if c.json {
		d := mcpDetails{m.Name, m.Enabled, nil, transportOf(m), nil, nil, raw["startup_timeout_sec"], raw["tool_timeout_sec"]}
		if m.EnabledTools != nil {
			d.EnabledTools = &m.EnabledTools
		}
		if m.DisabledTools != nil {
			d.DisabledTools = &m.DisabledTools
		}
		return writeJSON(c.Out, d)
	}
	if !m.Enabled {
		_, err := fmt.Fprintf(c.Out, "%s (disabled)\n", termtext.Plain(m.Name))
		return err
	}
	lines := []string{m.Name, "  enabled: true"}
	add := func(name, value string) { lines = append(lines, "  "+name+": "+value) }
	if m.EnabledTools != nil {
		add("enabled_tools", orDash(strings.Join(m.EnabledTools, ", ")))
	}
	if m.DisabledTools != nil {
		add("disabled_tools", orDash(strings.Join(m.DisabledTools, ", ")))
	}
	if m.URL != "" {
		add("transport", "streamable_http")
		add("url", m.URL)
		add("bearer_token_env_var", orDash(m.BearerTokenEnvVar))
		add("http_headers", hiddenValues(m.HTTPHeaders))
		add("env_http_headers", namedValues(m.EnvHTTPHeaders))
		add("http_headers_helper", "-")
	} else {
		add("transport", "stdio")
		add("command", m.Command)
		add("args", orDash(strings.Join(m.Args, " ")))
		add("cwd", orDash(m.Cwd))
		add("env", variables(m))
	}
	for _, key := range []string{"startup_timeout_sec", "tool_timeout_sec"} {
		if value, set := raw[key]; set {
			add(key, fmt.Sprint(value))
		}
	}
	add("remove", "appserver mcp remove "+m.Name)
	for i := range lines {
		lines[i] = termtext.Plain(lines[i])
	}
	_, err = fmt.Fprintln(c.Out, strings.Join(lines, "\n"))
	return err
}

func hiddenValues(headers map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		out = append(out, name+"="+hidden)
	}
	return orDash(strings.Join(out, ", "))
}

// namedValues prints headers with the names of their variables, which are no secrets.
func namedValues(headers map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		out = append(out, name+"="+headers[name])
	}
	return orDash(strings.Join(out, ", "))
}
