package app

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"appserver/cmd/appserver/internal/cmdline"
	"appserver/server"
	"appserver/server/listen"
	"appserver/server/web"
)

const (
	listenStdio = "stdio://"
	// defaultSkew is the default of the permitted difference to the clock of a token's issuer, in seconds.
	defaultSkew = 30
	// maxSkew is the maximum of a duration, in seconds.
	maxSkew = int64(1<<63-1) / int64(time.Second)
)

// The methods to authenticate the clients of a port, by the names of the reference implementation.
const (
	authCapability = "capability-token"
	authSigned     = "signed-bearer-token"
)

// transport has the flags for the connection between clients and the server.
type transport struct {
	url   string
	stdio bool
	// shared is the name of the shared server to connect with, or "". replace ends it first.
	shared  string
	replace bool
	// idle is the time without clients and turns in seconds after which the server ends, or 0.
	idle int64
	// web is the address of the page, or "". pageOnly is set if there is no other transport.
	web      string
	pageOnly bool
	auth     string
	// tokenFile or tokenDigest selects the accepted token. secretFile, issuer and audience are for signed
	// tokens.
	tokenFile, tokenDigest, secretFile, issuer, audience string
	skew                                                 int64
	// intake bounds the memory of messages of all clients.
	intake *listen.Intake
}

func (t *transport) define(flags *flag.FlagSet) {
	flags.StringVar(&t.url, "listen", t.url, "listen on this `URL`: stdio://, unix://, unix://PATH or ws://IP:PORT")
	flags.BoolVar(&t.stdio, "stdio", t.stdio, "the same as --listen stdio://")
	flags.StringVar(&t.shared, "shared", t.shared,
		"connect standard input and output with the server of this home, these flags and `NAME`, and start it if it does not run")
	flags.BoolVar(&t.replace, "replace", t.replace, "with --shared, end the running server first")
	flags.Int64Var(&t.idle, "exit-when-idle", t.idle, "exit after `SECONDS` without a client on a socket or port, and without a turn in progress (default never; 60 with --shared)")
	flags.StringVar(&t.web, "web", t.web, fmt.Sprintf("also serve the workbench, a page for browsers, on `IP:PORT`; without a value or a port, on %s at port %d or a later one", web.DefaultAddress(), web.DefaultPort))
	flags.StringVar(&t.auth, "ws-auth", t.auth, "authenticate clients of a port by this `METHOD`: "+authCapability+" or "+authSigned)
	cmdline.Choices(flags, "listen", listenStdio, "unix://", "ws://127.0.0.1:")
	cmdline.Choices(flags, "ws-auth", authCapability, authSigned)
	flags.StringVar(&t.tokenFile, "ws-token-file", t.tokenFile,
		"read the token from `PATH` (default: a generated token below CODEX_HOME)")
	flags.StringVar(&t.tokenDigest, "ws-token-sha256", t.tokenDigest, "accept the token with this SHA-256 digest in `HEX`")
	flags.StringVar(&t.secretFile, "ws-shared-secret-file", t.secretFile, "read the key of signed tokens from `PATH`")
	flags.StringVar(&t.issuer, "ws-issuer", t.issuer, "accept only signed tokens of this `ISSUER`")
	flags.StringVar(&t.audience, "ws-audience", t.audience, "accept only signed tokens for this `AUDIENCE`")
	flags.Int64Var(&t.skew, "ws-max-clock-skew-seconds", t.skew, "accept signed tokens if the clocks differ by at most `SECONDS`")
}

func (t *transport) isStdio() bool { return !t.pageOnly && (t.stdio || t.url == listenStdio) }

// check rejects flags that contradict each other.
func (t *transport) check() error {
	_, webErr := web.ParseAddress(t.web)
	signed := t.secretFile != "" || t.issuer != "" || t.audience != ""
	switch {
	case t.web != "" && webErr != nil:
		return UsageError{Err: fmt.Errorf("--web: %w", webErr)}
	case t.stdio && t.url != listenStdio:
		return UsageError{Err: errors.New("--listen cannot be used with --stdio")}
	case t.shared != "" && t.url != listenStdio:
		return UsageError{Err: errors.New("--shared cannot be used with --listen")}
	case t.shared == "" && t.replace:
		return UsageError{Err: errors.New("--replace requires --shared")}
	case t.idle < 0 || t.idle > maxSkew:
		return UsageError{Err: fmt.Errorf("--exit-when-idle must be between 0 and %d, not %d", maxSkew, t.idle)}
	case t.idle > 0 && t.shared == "" && t.isStdio():
		return UsageError{Err: errors.New("--exit-when-idle requires --listen or --shared")}
	case t.auth != "" && t.auth != authCapability && t.auth != authSigned:
		return UsageError{Err: fmt.Errorf("--ws-auth must be %s or %s, not %q", authCapability, authSigned, t.auth)}
	case t.tokenFile != "" && t.tokenDigest != "":
		return UsageError{Err: errors.New("--ws-token-file and --ws-token-sha256 are mutually exclusive")}
	case t.auth == authSigned && (t.tokenFile != "" || t.tokenDigest != ""):
		return UsageError{Err: fmt.Errorf("--ws-token-file and --ws-token-sha256 require --ws-auth %s", authCapability)}
	case t.auth == authSigned && t.secretFile == "":
		return UsageError{Err: fmt.Errorf("--ws-shared-secret-file is required when --ws-auth %s is set", authSigned)}
	case t.auth != authSigned && signed:
		return UsageError{Err: fmt.Errorf("--ws-shared-secret-file, --ws-issuer and --ws-audience require --ws-auth %s",
			authSigned)}
	case t.skew < 0 || t.skew > maxSkew:
		return UsageError{Err: fmt.Errorf("--ws-max-clock-skew-seconds must be between 0 and %d, not %d", maxSkew, t.skew)}
	}
	return nil
}

// clientListener accepts clients until Stop. Wait waits until they have disconnected.
type clientListener interface {
	Serve() error
	Stop() error
	Wait(ctx context.Context) error
}

// open opens the page, the socket and the port that the flags select, and announces them. opened is called
// with the page; it may be nil. ready returns an error while the server should get no clients.
func (t *transport) open(srv *server.Server, errs io.Writer, opened func(*web.Page) error,
	ready func() error) ([]clientListener, error) {
	home, err := CodexHome()
	if err != nil {
		return nil, err
	}
	t.intake = listen.NewIntake()
	var list []clientListener
	if t.web != "" {
		page, err := t.openPage(srv, home)
		if err != nil {
			return nil, err
		}
		list = append(list, page)
		if opened == nil {
			announcePage(errs, page)
		} else if err := opened(page); err != nil {
			return nil, errors.Join(err, page.Stop())
		}
	}
	if t.pageOnly || t.isStdio() {
		return list, nil
	}
	l, err := t.listener(srv, home, errs, ready)
	if err != nil {
		return nil, errors.Join(err, stopListening(list))
	}
	return append(list, l), nil
}

// listener opens the socket or port and announces it.
func (t *transport) listener(srv *server.Server, home string, errs io.Writer,
	ready func() error) (*listen.Listener, error) {
	address, err := listen.Parse(t.url, home)
	if err != nil {
		return nil, UsageError{Err: err}
	}
	if !address.IsLocal() && t.auth == "" {
		return nil, UsageError{Err: fmt.Errorf("refusing to listen on %s: other machines can reach it; use ws://127.0.0.1:PORT and "+
			"an SSH tunnel, or select a --ws-auth and put a proxy with TLS before the port", address.Port)}
	}
	o := listen.Options{Address: address, Ready: ready, Intake: t.intake,
		Serve: func(ctx context.Context, c *listen.Client) error { return srv.ServeTransport(ctx, c) }}
	var how string
	if address.Path == "" {
		if o.TokenCheck, how, err = t.bearer(home); err != nil {
			return nil, err
		}
	}
	l, err := listen.New(o)
	if err == nil {
		announce(errs, l, how)
	}
	return l, err
}

// announce prints the address of the server. A client can wait for it.
func announce(to io.Writer, l *listen.Listener, how string) {
	fmt.Fprintf(to, "appserver app-server\n  listening on: %s\n", l.URL())
	if at := l.HealthURL(); at != "" {
		fmt.Fprintf(to, "  readyz: %s/readyz\n  healthz: %s/healthz\n  token: %s\n", at, at, how)
	}
}

// bearer returns the check of tokens. how describes the source of the tokens for users.
func (t *transport) bearer(home string) (b listen.TokenCheck, how string, err error) {
	switch {
	case t.auth == authSigned:
		key, err := listen.ReadSecret(t.secretFile)
		if err != nil {
			return nil, "", err
		}
		b, err = listen.SignedToken(listen.Claims{Key: key, Issuer: t.issuer, Audience: t.audience,
			Skew: time.Duration(t.skew) * time.Second, Now: time.Now})
		return b, "signed with the key in " + t.secretFile, err
	case t.tokenDigest != "":
		digest, err := listen.ParseDigest(t.tokenDigest)
		return listen.TokenDigest(digest), "with the digest of --ws-token-sha256", err
	case t.tokenFile != "":
		token, err := listen.ReadSecret(t.tokenFile)
		return listen.StaticToken(token), "in " + t.tokenFile, err
	}
	path := filepath.Join(listen.ControlDir(home), "ws-token")
	token, err := listen.LoadOrCreateToken(path)
	return listen.StaticToken(token), "in " + path, err
}

func stopListening(list []clientListener) (err error) {
	for _, l := range list {
		err = errors.Join(err, l.Stop())
	}
	return err
}

func awaitClients(ctx context.Context, list []clientListener) (err error) {
	for _, l := range list {
		err = errors.Join(err, l.Wait(ctx))
	}
	return err
}
