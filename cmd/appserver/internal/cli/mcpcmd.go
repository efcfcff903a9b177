package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/core/effects/config"
)

// mcpRow is a command of appserver mcp. Flags lists its flags, except those for settings.
type mcpRow struct {
	name, args, doc string
	flags           string
	run             func(c *mcpCall, args []string) error
}

func mcpRows() []mcpRow {
	return []mcpRow{
		{"list", "", "list the configured servers, and whether they need a login", "json", (*mcpCall).list},
		{"get", "NAME", "show a server", "json", (*mcpCall).get},
		{"add", "NAME (--url URL | -- COMMAND...)", "add a server to config.toml, or replace it; log in if it offers that",
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

// MCP lists, adds and removes MCP servers of the user's configuration, and logs in at them.
func MCP(args []string, s app.Streams, o *app.Options) error {
	c := &mcpCall{Streams: s, options: o}
	flags := flag.NewFlagSet("mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	c.define(flags)
	rest, err := parseAnyOrder(flags, args)
	switch {
	case errors.Is(err, flag.ErrHelp), err == nil && (len(rest) == 0 || rest[0] == "help"):
		return mcpUsage(s.Out)
	case err != nil:
		return app.UsageError{Err: err}
	}
	i := slices.IndexFunc(mcpRows(), func(r mcpRow) bool { return r.name == rest[0] })
	if i < 0 {
		return app.UsageError{Err: fmt.Errorf("unknown command %q", "mcp "+rest[0])}
	}
	row := mcpRows()[i]
	if err := row.check(flags, rest[1:]); err != nil {
		return app.UsageError{Err: err}
	}
	if c.servers, err = app.NewServerAccounts(o); err != nil {
		return err
	}
	if err := row.run(c, rest[1:]); err != nil {
		var usage app.UsageError
		if errors.As(err, &usage) {
			return err
		}
		return plainError{err}
	}
	return nil
}

func (c *mcpCall) define(flags *flag.FlagSet) {
	flags.BoolVar(&c.json, "json", false, "list, get: print JSON")
	flags.Var(&c.env, "env", "add: a variable `KEY=VALUE` for the program; can be repeated")
	flags.StringVar(&c.url, "url", "", "add: the `URL` of a service with streamable HTTP")
	flags.StringVar(&c.tokenVar, "bearer-token-env-var", "", "add: the variable `NAME` with the token of the service")
	flags.StringVar(&c.clientID, "oauth-client-id", "", "add: the `ID` of a client that is registered for logins")
	flags.StringVar(&c.secret, "oauth-client-secret", "", "add: the `SECRET` of that client")
	flags.StringVar(&c.resource, "oauth-resource", "", "add: the `RESOURCE` that logins request")
	flags.StringVar(&c.scope, "scopes", "", "login: the scopes to request: `SCOPE,SCOPE`")
	flags.BoolVar(&c.noBrowser, "no-browser", false,
		"login: print the address, and read the address that the browser is sent to")
	flags.Func("oauth-client-registration", "add, login: how to register a client: auto or dcr", func(way string) error {
		switch way {
		case "auto", "dcr":
			return nil
		case "cimd":
			return errors.New("this program publishes no client metadata document: use dcr, or set client_id of the server")
		}
		return errors.New("expected auto or dcr")
	})
	c.options.DefineConfig(flags)
}

// check rejects flags of other commands, and a wrong number of arguments.
func (r *mcpRow) check(flags *flag.FlagSet, args []string) (err error) {
	flags.Visit(func(f *flag.Flag) {
		if !slices.Contains(strings.Fields("c config enable disable "+r.flags), f.Name) {
			err = fmt.Errorf("mcp %s has no flag --%s", r.name, f.Name)
		}
	})
	switch {
	case err != nil:
	case r.args == "" && len(args) > 0, r.args == "NAME" && len(args) > 1:
		err = fmt.Errorf("mcp %s: unexpected argument %q", r.name, args[len(args)-1])
	case r.args != "" && len(args) == 0:
		err = fmt.Errorf("mcp %s: NAME is missing", r.name)
	}
	return err
}

// mcpUsage prints the usage to standard output, because it was requested.
func mcpUsage(w io.Writer) error {
	fmt.Fprint(w, "Usage: appserver mcp COMMAND [flags, in any order]\n\nCommands:\n")
	for _, r := range mcpRows() {
		fmt.Fprintf(w, "  %s\n        %s\n", strings.TrimSpace(r.name+" "+r.args), r.doc)
	}
	fmt.Fprint(w, "\nFlags:\n")
	flags := flag.NewFlagSet("mcp", flag.ContinueOnError)
	flags.SetOutput(w)
	(&mcpCall{options: app.DefaultOptions()}).define(flags)
	flags.PrintDefaults()
	return nil
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
