package cli

import (
	"errors"
	"fmt"

	"appserver/cmd/appserver/internal/app"
)

// Login reports whether the configured model provider is ready. Clients run login status before they
// start the server. There is no login.
func Login(args []string, s app.Streams, o *app.Options) error {
	rest, err := o.Parse(args, s.Err)
	if err != nil {
		return err
	}
	if len(rest) != 1 || rest[0] != "status" {
		return app.UsageError{Err: errors.New("appserver has no accounts: set the key of the model provider, and check it with login status")}
	}
	c, err := app.Config(o)
	if err != nil {
		return err
	}
	if err := c.Ready(c.ModelProvider); err != nil {
		return fmt.Errorf("not logged in: %w", err) // clients search for these words
	}
	_, err = fmt.Fprintf(s.Out, "Logged in by the configuration: model provider %s\n", c.ModelProvider)
	return err
}
