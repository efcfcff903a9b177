package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/cmdline"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/account"
	"appserver/platform/vault"
)

// loginCall is a running login command.
type loginCall struct {
	app.Streams
	account *app.UserAccount

	withKey, device  bool
	issuer, clientID string
	key              keyCall
}

// login signs the user in, or states the login.
func (c commands) login() cmdline.Command {
	return cmdline.Command{Name: "login", Doc: "sign in with ChatGPT or an API key; login status states the login",
		Args: "[status]", Group: groupStart, Define: c.defineLogin,
		Text: "Without flags, it signs in with ChatGPT in the browser. login status fails without a login. logout removes it. " +
			"With --provider, they concern the key of a model provider: login reads it from a pipe, or asks for it on a terminal."}
}

func (c commands) defineLogin(flags *flag.FlagSet) cmdline.Run {
	call := &loginCall{Streams: c.Streams}
	flags.BoolVar(&call.withKey, "with-api-key", false, "sign in with an API key, which is read from standard input")
	flags.BoolVar(&call.device, "device-auth", false, "sign in with a code that is entered on any device")
	flags.StringVar(&call.issuer, "experimental_issuer", "", "use the issuer at `URL`, which account_hosts must name")
	flags.StringVar(&call.clientID, "experimental_client-id", "", "use the client `ID` at the issuer")
	flags.Func("api-key", "not accepted: other programs see the arguments", func(string) error {
		return errors.New("a key in the arguments is visible to other programs: pipe it to appserver login --with-api-key")
	})
	c.options.DefineShared(flags)
	call.key.define(flags)
	flags.BoolVar(&call.key.allowHTTP, "allow-http", false,
		"permit that the key goes without encryption to a provider with http on another machine")
	return func(args []string) error { return call.run(c.options, args) }
}

// run runs the command with its arguments.
func (c *loginCall) run(o *app.Options, args []string) (err error) {
	status := len(args) > 0 && args[0] == "status"
	switch {
	case len(args) > 0 && c.withKey:
		return app.UsageError{Err: errors.New("--with-api-key reads the key from a pipe, and takes no argument: " +
			"printenv OPENAI_API_KEY | appserver login --with-api-key")}
	case len(args) > 0 && !status:
		return app.UsageError{Err: fmt.Errorf("unexpected argument %q", args[0])}
	case c.key.provider != "":
		return c.key.login(c.Streams, o, status, c.device || c.issuer != "" || c.clientID != "")
	case c.key.allowHTTP:
		return app.UsageError{Err: errors.New("--allow-http is for a key: add --provider NAME")}
	}
	if c.account, err = app.NewUserAccount(o, c.issuer, c.clientID); err != nil {
		return err
	}
	if status {
		return c.status()
	}
	return c.login()
}

// errEphemeral means that the login would end with this command.
var errEphemeral = errors.New("cli_auth_credentials_store = \"ephemeral\" keeps logins in the memory of a server: sign in there with account/login/start, or set \"file\" in config.toml")

// login signs in, in the way that the flags select.
func (c *loginCall) login() error {
	if c.account.Config.AuthStore == vault.Ephemeral {
		return errEphemeral
	}
	if c.withKey {
		return c.readKey(context.Background()) // an interrupt ends the program, as nothing has to be undone
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if c.device {
		return c.withDevice(ctx)
	}
	at, err := c.account.BeginBrowser("cli", "codex_cli_rs")
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Err, "Sign in with ChatGPT at this address:\n\n%s\n\nOn a machine without a browser, run appserver login --device-auth instead.\n",
		at.URL)
	cmd := browser(at.URL)
	go func() { _ = cmd.Run() }() // the address is printed
	return c.wait(ctx, at)
}

// wait waits until the user has signed in. A signal cancels the login.
func (c *loginCall) wait(ctx context.Context, at *account.Attempt) error {
	stop := context.AfterFunc(ctx, func() { c.account.CancelAttempt("") })
	defer stop()
	at.Start(nil)
	if err := at.Wait(); err != nil {
		return err
	}
	fmt.Fprintln(c.Err, "Successfully logged in")
	return nil
}

func (c *loginCall) withDevice(ctx context.Context) error {
	at, err := c.account.BeginDevice(ctx, "cli")
	if err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "Open this address on any device, and sign in:\n\n   %s\n\nThen enter this code, which is valid for 15 minutes:\n\n   %s\n\nNever enter a code that somebody else has sent you.\n",
		termtext.Plain(at.URL), termtext.Plain(at.UserCode))
	return c.wait(ctx, at)
}

// maxKey bounds an API key, in bytes.
const maxKey = 16 << 10

// readKey reads an API key from the input.
func (c *loginCall) readKey(ctx context.Context) error {
	if f, ok := c.In.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return errors.New("--with-api-key reads the key from a pipe: run printenv OPENAI_API_KEY | appserver login --with-api-key")
		}
	}
	fmt.Fprintln(c.Err, "Reading API key from stdin...")
	text, err := io.ReadAll(io.LimitReader(c.In, maxKey+1))
	switch {
	case err != nil:
		return fmt.Errorf("the key cannot be read: %w", err)
	case len(text) > maxKey:
		return fmt.Errorf("standard input has more than %d bytes, which is no API key", maxKey)
	case strings.TrimSpace(string(text)) == "":
		return errors.New("no API key came from standard input")
	}
	if err := c.account.SetKey(ctx, string(text)); err != nil {
		return err
	}
	fmt.Fprintln(c.Err, "Successfully logged in")
	return nil
}

// status states the login. Clients run it before they start the server, and search its words.
func (c *loginCall) status() error {
	conf := c.account.Config
	p, err := conf.Provider(conf.ModelProvider)
	if err != nil {
		return err
	}
	if conf.UsesAccount(p) {
		l, err := c.account.Current()
		switch {
		case err != nil:
			return fmt.Errorf("not logged in: %w", err) // clients search for these words
		case l != nil && l.Mode == account.APIKey:
			_, err = fmt.Fprintf(c.Err, "Logged in using an API key - %s\n", masked(l.APIKey))
			return err
		case l != nil:
			_, err = fmt.Fprintln(c.Err, "Logged in using ChatGPT")
			return err
		}
	}
	if err := conf.Ready(conf.ModelProvider); err != nil {
		return fmt.Errorf("not logged in: %w", err)
	}
	_, err = fmt.Fprintf(c.Out, "Logged in by the configuration: model provider %s\n", conf.ModelProvider)
	return err
}

// masked returns the end of a key, if it is long enough to hide the rest.
func masked(key string) string {
	if len(key) < 20 {
		return "***"
	}
	return "***" + key[len(key)-4:]
}

// logout removes the login, or the key of a provider.
func (c commands) logout() cmdline.Command {
	return cmdline.Command{Name: "logout", Doc: "remove the login, and revoke its tokens; with --provider, remove a key",
		Group: groupSetUp, Define: func(flags *flag.FlagSet) cmdline.Run {
			var key keyCall
			c.options.DefineShared(flags)
			key.define(flags)
			return func([]string) error {
				if key.provider != "" {
					return key.logout(c.Streams, c.options)
				}
				return c.removeLogin()
			}
		}}
}

func (c commands) removeLogin() error {
	a, err := app.NewUserAccount(c.options, "", "")
	if err != nil {
		return err
	}
	removed, err := a.Logout(context.Background())
	switch {
	case err != nil:
		return err
	case removed:
		_, err = fmt.Fprintln(c.Err, "Successfully logged out")
	default:
		_, err = fmt.Fprintln(c.Err, "Not logged in")
	}
	return err
}
