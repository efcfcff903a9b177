package cli

import (
	"errors"
	"flag"
	"fmt"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
)

// login reports whether the configured model provider is ready. Clients run login status before they start the
// server. There is no login.
func (c commands) login() cmdline.Command {
	return cmdline.Command{Name: "login", Doc: "check whether the model provider has its key", Args: "status",
		Group: groupSetUp, Define: func(flags *flag.FlagSet) cmdline.Run {
			c.options.DefineShared(flags)
			return func(args []string) error {
				if len(args) != 1 || args[0] != "status" {
					return app.UsageError{Err: errors.New("appserver has no accounts: set the key of the model provider, and check it with login status")}
				}
				return c.loginStatus()
			}
		}}
}

func (c commands) loginStatus() error {
	conf, err := app.Config(c.options)
	if err != nil {
		return err
	}
	if err := conf.Ready(conf.ModelProvider); err != nil {
		return fmt.Errorf("not logged in: %w", err) // clients search for these words
	}
	_, err = fmt.Fprintf(c.Out, "Logged in by the configuration: model provider %s\n", conf.ModelProvider)
	return err
}
