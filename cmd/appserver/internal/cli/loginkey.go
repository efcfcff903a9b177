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
	"syscall"

	"golang.org/x/term"

	"appserver/cmd/appserver/internal/app"
	"appserver/cmd/appserver/internal/termtext"
	"appserver/core/effects/providerkey"
	"appserver/protocol"
)

// keyCall is a command about the key of a model provider.
type keyCall struct {
	provider  string
	allowHTTP bool
}

func (k *keyCall) define(flags *flag.FlagSet) {
	flags.StringVar(&k.provider, "provider", "", "the key of the model provider `NAME`, in place of the login")
}

// login stores the key, or states where it comes from. It rejects flags of other logins.
func (k *keyCall) login(s app.Streams, o *app.Options, status, otherFlags bool) error {
	if otherFlags {
		return app.UsageError{Err: errors.New("--provider stores a key: leave out the flags of other logins")}
	}
	keys, err := app.NewUserKeys(o)
	if err != nil {
		return err
	}
	if status {
		return k.status(s, keys)
	}
	if err := k.store(s, keys); err != nil {
		return plainError{err}
	}
	return nil
}

func (k *keyCall) store(s app.Streams, keys *app.UserKeys) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	origin, err := keys.Origin(k.provider)
	if err != nil {
		return err
	}
	if origin.IsOpen() && !k.allowHTTP {
		return fmt.Errorf("%w, or permit it with --allow-http", &providerkey.OpenError{Origin: origin})
	}
	key, err := k.read(ctx, s, origin)
	if err != nil {
		return err
	}
	if err := keys.Set(ctx, k.provider, key, k.allowHTTP); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.Err, "Stored the key of model provider %s for %s\n", termtext.Plain(k.provider), origin)
	return err
}

// read reads the key from a pipe, or asks for it on a terminal.
func (k *keyCall) read(ctx context.Context, s app.Streams, origin providerkey.Origin) (string, error) {
	if f, ok := s.In.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return readHidden(ctx, f, s.Err, fmt.Sprintf("API key of model provider %s, which is sent to %s only (not shown): ",
			termtext.Plain(k.provider), origin))
	}
	text, err := io.ReadAll(io.LimitReader(s.In, providerkey.MaxKey+2)) // a longer one is rejected
	if err != nil {
		return "", fmt.Errorf("the key cannot be read: %w", err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", errors.New("no API key came from standard input")
	}
	return string(text), nil
}

// maxTyped is the longest line that a terminal passes on, in bytes. The terminal drops the rest.
const maxTyped = 4096

var (
	errInterrupted = errors.New("interrupted: nothing was stored")
	errLong        = errors.New("the key is too long for a terminal: pipe it to the command")
)

// readHidden asks for a line of a terminal. The echo ends before the question is shown, so that no typed key is shown.
// The goroutine ends with the process if a signal comes first.
func readHidden(ctx context.Context, in *os.File, out io.Writer, question string) (string, error) {
	state, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", fmt.Errorf("the terminal cannot be used: %w", err)
	}
	defer func() { _ = term.Restore(int(in.Fd()), state) }()
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{in, out}, "")
	if width, height, err := term.GetSize(int(in.Fd())); err == nil && width > 0 {
		_ = t.SetSize(width, height)
	}
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := t.ReadPassword(question)
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		switch {
		case errors.Is(a.err, io.EOF): // ctrl-c or ctrl-d
			return "", errInterrupted
		case a.err != nil:
			return "", fmt.Errorf("the key cannot be read: %w", a.err)
		case len(a.text) >= maxTyped:
			return "", errLong
		}
		return a.text, nil
	case <-ctx.Done():
		return "", errInterrupted
	}
}

// status states where the key comes from. It fails if the provider cannot be used.
func (k *keyCall) status(s app.Streams, keys *app.UserKeys) error {
	of, err := keys.Config.Summary(k.provider)
	if err != nil {
		return err
	}
	if !of.Ready {
		return fmt.Errorf("not logged in: %s", *of.Problem)
	}
	name := termtext.Plain(k.provider)
	p, err := keys.Config.Provider(k.provider)
	if err != nil {
		return err
	}
	switch of.KeySource {
	case protocol.KeyStored:
		key, err := keys.Config.KeyOf(p)
		if err != nil {
			return err
		}
		fmt.Fprintf(s.Out, "Model provider %s uses the key that was typed for it - %s\n", name, masked(key.Value))
	case protocol.KeyEnvironment:
		fmt.Fprintf(s.Out, "Model provider %s uses the key of the environment variable %s\n", name, keys.Config.KeyVariable(p))
	case protocol.KeyConfiguration:
		fmt.Fprintf(s.Out, "Model provider %s uses the key in the configuration\n", name)
	case protocol.KeyLogin:
		fmt.Fprintf(s.Out, "Model provider %s uses the login of the user\n", name)
	default:
		fmt.Fprintf(s.Out, "Model provider %s has no key\n", name)
	}
	if of.Problem != nil {
		fmt.Fprintln(s.Err, *of.Problem)
	}
	return nil
}

// logout removes the key.
func (k *keyCall) logout(s app.Streams, o *app.Options) error {
	keys, err := app.NewUserKeys(o)
	if err != nil {
		return err
	}
	removed, err := keys.Remove(context.Background(), k.provider)
	switch {
	case err != nil:
		return plainError{err}
	case removed:
		_, err = fmt.Fprintf(s.Err, "Removed the key of model provider %s\n", termtext.Plain(k.provider))
	default:
		_, err = fmt.Fprintf(s.Err, "There is no stored key of model provider %s\n", termtext.Plain(k.provider))
	}
	return err
}
