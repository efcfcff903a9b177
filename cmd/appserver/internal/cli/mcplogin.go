package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/config"
)

// maxPasted bounds an address that the user pastes, in bytes.
const maxPasted = 64 << 10

// login logs in at a server.
func (c *mcpCall) login(args []string) error {
	m, err := c.findService(args[0])
	if err != nil {
		return err
	}
	var scopes []string
	for _, s := range strings.Split(c.scope, ",") {
		if s = strings.TrimSpace(s); s != "" {
			scopes = append(scopes, s)
		}
	}
	return c.logInAt(m, scopes)
}

// logInAt waits until the user has logged in. A signal cancels it.
func (c *mcpCall) logInAt(m config.McpServer, scopes []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	a, err := c.servers.Begin(ctx, m, scopes)
	if err != nil {
		return err
	}
	what := "`" + termtext.Plain(m.Name) + "`"
	if c.noBrowser {
		what = "the MCP server"
	}
	fmt.Fprintf(c.Out, "Authorize %s by opening this URL in your browser:\n%s\n\n", what, a.URL)
	if c.noBrowser {
		fmt.Fprint(c.Out, "After signing in, copy the full URL from your browser's address bar.\nIf the callback page cannot load, paste that URL here anyway.\n")
		go c.readAddresses(a.Accept)
	} else {
		c.openAddress(a.URL)
	}
	if err := a.Wait(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "Successfully logged in to MCP server '%s'.\n", termtext.Plain(m.Name))
	return err
}

// openAddress opens an address in the browser.
func (c *mcpCall) openAddress(address string) {
	cmd := browser(address)
	go func() {
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(c.Err, "(Browser launch failed; please copy the URL above manually: %v)\n", plainCause(err))
		}
	}()
}

// readAddresses passes on each line of the input, until one is accepted. Its goroutine ends with the program.
func (c *mcpCall) readAddresses(accept func(address string) error) {
	lines := bufio.NewScanner(c.In)
	lines.Buffer(nil, maxPasted)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		err := accept(lines.Text())
		if err == nil {
			return
		}
		fmt.Fprintf(c.Err, "appserver: %s\n", termtext.PlainLines(err.Error()))
	}
}

// logout removes the login at a server.
func (c *mcpCall) logout(args []string) error {
	m, err := c.findService(args[0])
	if err != nil {
		return err
	}
	removed, err := c.servers.Logout(m)
	switch {
	case err != nil:
		return fmt.Errorf("failed to delete OAuth credentials: %w", err)
	case removed:
		_, err = fmt.Fprintf(c.Out, "Removed OAuth credentials for '%s'.\n", termtext.Plain(m.Name))
	default:
		_, err = fmt.Fprintf(c.Out, "No OAuth credentials stored for '%s'.\n", termtext.Plain(m.Name))
	}
	return err
}
