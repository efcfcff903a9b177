package main

import (
	"errors"
	"fmt"

	"go.uber.org/zap"
)

// login reports whether anybody is logged in, for clients that ask first. Nobody ever is. The state of
// the model provider is what counts.
func login(args []string, s streams, o *options) error {
	rest, err := o.parse(args, s.err)
	if err != nil {
		return err
	}
	if len(rest) != 1 || rest[0] != "status" {
		return usageError{errors.New("appserver has no accounts to log in to: set the key of the model provider, and see login status")}
	}
	live, _, _, err := gather(o, zap.NewNop())
	if err != nil {
		return err
	}
	c := live.Current()
	if err := c.Ready(c.ModelProvider); err != nil {
		return fmt.Errorf("not logged in: %w", err) // clients look for these words
	}
	_, err = fmt.Fprintf(s.out, "Logged in by the configuration: model provider %s\n", c.ModelProvider)
	return err
}
