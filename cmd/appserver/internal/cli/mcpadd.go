package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/protocol"
)

// add writes a server into config.toml. If it is a service that offers a login, it begins one.
func (c *mcpCall) add(args []string) error {
	name, command := args[0], args[1:]
	if err := checkServerName(name); err != nil {
		return err
	}
	table, err := c.serverTable(command)
	if err != nil {
		return app.UsageError{Err: fmt.Errorf("mcp add: %w", err)}
	}
	callback := ""
	if c.clientID != "" {
		callback = app.CallbackURL(c.url)
		oauth := map[string]any{"client_id": c.clientID, "callback_url": callback}
		if c.secret != "" {
			oauth["client_secret"] = c.secret
		}
		table["oauth"] = oauth
	}
	if err := c.write(name, table); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Added global MCP server '%s'.\n", name)
	if callback != "" {
		fmt.Fprintf(c.Out, "OAuth callback URL: %s\n", callback)
	}
	if c.url == "" || c.tokenVar != "" {
		return nil
	}
	return c.offerLogin(name)
}

// offerLogin begins a login at a new service that offers one.
func (c *mcpCall) offerLogin(name string) error {
	var err error
	if c.servers, err = app.NewServerAccounts(c.options); err != nil {
		return err
	}
	m, err := c.find(name)
	if err != nil {
		return err
	}
	switch c.servers.Status(context.Background(), m) {
	case "notLoggedIn":
		fmt.Fprintln(c.Out, "Detected OAuth support. Starting OAuth flow…")
		return c.logInAt(m, nil)
	case "unknown":
		fmt.Fprintf(c.Out, "MCP server may or may not require login. Run `appserver mcp login %s` to login.\n", name)
	}
	return nil
}

// serverTable returns the settings of a new server.
func (c *mcpCall) serverTable(command []string) (map[string]any, error) {
	forService := c.tokenVar + c.clientID + c.secret + c.resource
	switch {
	case c.url == "" && len(command) == 0:
		return nil, errors.New("give the command after --, or the address by --url")
	case c.url != "" && len(command) > 0:
		return nil, errors.New("--url cannot be used with a command")
	case c.url != "" && len(c.env) > 0:
		return nil, errors.New("--env is for programs, not for --url")
	case c.url == "" && forService != "":
		return nil, errors.New("--bearer-token-env-var and the flags --oauth-… need --url")
	case c.secret != "" && c.clientID == "":
		return nil, errors.New("--oauth-client-secret needs --oauth-client-id")
	}
	table := map[string]any{}
	if c.url != "" {
		table["url"] = c.url
		for key, value := range map[string]string{"bearer_token_env_var": c.tokenVar, "oauth_resource": c.resource} {
			if value != "" {
				table[key] = value
			}
		}
		return table, nil
	}
	table["command"] = command[0]
	if len(command) > 1 {
		table["args"] = command[1:]
	}
	if len(c.env) > 0 {
		env := map[string]string{}
		for _, pair := range c.env {
			key, value, _ := strings.Cut(pair, "=")
			env[strings.TrimSpace(key)] = value
		}
		table["env"] = env
	}
	return table, nil
}

// write replaces the table of a server in config.toml, or removes it if the table is nil.
func (c *mcpCall) write(name string, table map[string]any) error {
	quoted, err := json.Marshal(name)
	if err != nil {
		return err
	}
	value := json.RawMessage("null")
	if table != nil {
		if value, err = json.Marshal(table); err != nil {
			return err
		}
	}
	_, err = c.servers.Live.Write(&protocol.ConfigBatchWriteParams{Edits: []protocol.ConfigEdit{
		{KeyPath: "mcp_servers." + string(quoted), Value: value, MergeStrategy: "replace"}}})
	return err
}

// checkServerName accepts the names that the reference implementation accepts.
func checkServerName(name string) error {
	valid := name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_:@/.", r))
	})
	if !valid {
		return fmt.Errorf("invalid server name '%s' (use letters, numbers, '-', '_', ':', '@', '/', '.')", name)
	}
	return nil
}

// remove removes a server from config.toml. A missing one is no error.
func (c *mcpCall) remove(args []string) error {
	name := args[0]
	if err := checkServerName(name); err != nil {
		return err
	}
	if !c.servers.IsUsers(name) {
		_, err := fmt.Fprintf(c.Out, "No MCP server named '%s' found.\n", name)
		return err
	}
	if err := c.write(name, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.Out, "Removed global MCP server '%s'.\n", name)
	return err
}
