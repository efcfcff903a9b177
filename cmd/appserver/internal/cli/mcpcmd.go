package cli

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/core/effects/config"
)

// mcpRow is a command of appserver mcp. flags lists its flags, except those for settings.
type mcpRow struct {
	name, args, doc string
	flags           string
	run             func(c *mcpCall, args []string) error
}

func mcpRows() []mcpRow {
	return []mcpRow{
		{"list", "", "list the configured servers, and whether they need a login", "json", (*mcpCall).list},
		{"get", "NAME", "show a server", "json", (*mcpCall).get},
		{"add", "NAME [COMMAND...]", "add a server to config.toml, or replace it; log in if it offers that",
			"env url bearer-token-env-var oauth-client-id oauth-client-secret oauth-client-registration oauth-resource", (*mcpCall).add},
		{"remove", "NAME", "remove a server from config.toml", "", (*mcpCall).remove},
		{"login", "NAME", "log in at a server with the browser", "scopes no-browser oauth-client-registration", (*mcpCall).login},
		{"logout", "NAME", "remove the login at a server", "", (*mcpCall).logout},
	}
}

// mcpCall is a running mcp command.
type mcpCall struct {
	app.Streams
	options *app.Options
	servers *app.ServerAccounts

	json, noBrowser                                  bool
	env                                              pairs
	url, tokenVar, clientID, secret, resource, scope string
}

// pairs are the values of --env.
type pairs []string

// String implements flag.Value.
func (p *pairs) String() string { return "" }

// Set accepts KEY=VALUE.
func (p *pairs) Set(text string) error {
	if key, _, found := strings.Cut(text, "="); !found || strings.TrimSpace(key) == "" {
		return errors.New("environment entries must be in KEY=VALUE form")
	}
	*p = append(*p, text)
	return nil
}

// mcp lists, adds and removes MCP servers of the user's configuration, and logs in at them.
func (c commands) mcp() cmdline.Command {
	mcp := cmdline.Command{Name: "mcp", Doc: "list, add and remove MCP servers; log in at them", Group: groupSetUp,
		Words: []cmdline.Word{{Name: "NAME", Doc: "the name of a server in the configuration"},
			{Name: "COMMAND", Doc: "a program with its arguments, after --; or give the address of a service by --url"}}}
	for _, row := range mcpRows() {
		mcp.Commands = append(mcp.Commands, cmdline.Command{Name: row.name, Doc: row.doc, Args: row.args,
			Define: func(flags *flag.FlagSet) cmdline.Run {
				call := &mcpCall{Streams: c.Streams, options: c.options}
				pick(flags, call.define, row.flags)
				c.options.DefineConfig(flags)
				return func(args []string) error { return call.serve(row, args) }
			}})
	}
	return mcp
}

// pick adds the named flags of those that define defines.
func pick(to *flag.FlagSet, define func(*flag.FlagSet), names string) {
	all := flag.NewFlagSet("", flag.ContinueOnError)
	define(all)
	for name := range strings.FieldsSeq(names) {
		f := all.Lookup(name)
		to.Var(f.Value, f.Name, f.Usage)
	}
}

func (c *mcpCall) serve(row mcpRow, args []string) (err error) {
	if row.args != "" && len(args) == 0 {
		return app.UsageError{Err: fmt.Errorf("mcp %s: NAME is missing", row.name)}
	}
	if c.servers, err = app.NewServerAccounts(c.options); err != nil {
		return err
	}
	return row.run(c, args)
}

func (c *mcpCall) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.Var(&c.env, "env", "a variable `KEY=VALUE` for the program; can be repeated")
	flags.StringVar(&c.url, "url", "", "the `URL` of a service with streamable HTTP")
	flags.StringVar(&c.tokenVar, "bearer-token-env-var", "", "the variable `NAME` with the token of the service")
	flags.StringVar(&c.clientID, "oauth-client-id", "", "the `ID` of a client that is registered for logins")
	flags.StringVar(&c.secret, "oauth-client-secret", "", "the `SECRET` of that client")
	flags.StringVar(&c.resource, "oauth-resource", "", "the `RESOURCE` that logins request")
	flags.StringVar(&c.scope, "scopes", "", "the scopes to request: `SCOPE,SCOPE`")
	flags.BoolVar(&c.noBrowser, "no-browser", false, "print the address, and read the address that the browser is sent to")
	flags.Func("oauth-client-registration", "register a client in this `WAY`: auto or dcr", func(way string) error {
		switch way {
		case "auto", "dcr":
			return nil
		case "cimd":
			return errors.New("this program publishes no client metadata document: use dcr, or set client_id of the server")
		}
		return errors.New("expected auto or dcr")
	})
	cmdline.Choices(flags, "oauth-client-registration", "auto", "dcr")
}

// find returns a configured server, also a disabled one.
func (c *mcpCall) find(name string) (config.McpServer, error) {
	m, ok := c.servers.Config.McpServers[name]
	if !ok {
		return m, fmt.Errorf("no MCP server named '%s' found: `appserver mcp list` shows the names", name)
	}
	return m, nil
}

// findService does the same as find, for a server that has logins.
func (c *mcpCall) findService(name string) (config.McpServer, error) {
	m, err := c.find(name)
	if err == nil && m.URL == "" {
		err = fmt.Errorf("the MCP server '%s' is a program: only services with a url have logins", m.Name)
	}
	return m, err
}
