package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"appserver/protocol"
)

// options are the flags that commands share.
type options struct {
	overrides  list
	provider   string
	logLevel   string
	logFormat  string
	listen     string
	source     string
	parentExit bool
	version    bool
}

type list []string

// String is for package flag.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set adds a value.
func (l *list) Set(v string) error {
	*l = append(*l, v)
	return nil
}

// defaults are the options that no flag sets.
func defaults() *options {
	return &options{
		logLevel: envOr("APPSERVER_LOG", "warn"), logFormat: envOr("LOG_FORMAT", "console"),
		listen: listenStdio, source: protocol.SourceVSCode, parentExit: true,
	}
}

const listenStdio = "stdio://"

// parse reads flags up to the first other argument. What they do not set stays.
func (o *options) parse(args []string, errs io.Writer) (rest []string, err error) {
	flags := flag.NewFlagSet("appserver", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() { printUsage(errs, flags) }
	o.define(flags)
	if err := flags.Parse(args); err != nil {
		return nil, usage(err)
	}
	return flags.Args(), nil
}

// defineShared defines the flags of every command that reads the configuration.
func (o *options) defineShared(flags *flag.FlagSet) {
	o.defineConfig(flags)
	flags.StringVar(&o.provider, "model-provider", o.provider, "the `NAME` of the model provider")
	flags.StringVar(&o.logLevel, "log-level", o.logLevel, "debug, info, warn or error")
	flags.StringVar(&o.logFormat, "log-format", o.logFormat, "console or json")
}

// defineConfig defines the flags that override settings.
func (o *options) defineConfig(flags *flag.FlagSet) {
	flags.Var(&o.overrides, "c", "override a setting: `KEY=VALUE`, the key dotted, the value in TOML; may be repeated")
	flags.Var(&o.overrides, "config", "the same as -c `KEY=VALUE`")
}

func (o *options) define(flags *flag.FlagSet) {
	o.defineShared(flags)
	flags.StringVar(&o.listen, "listen", o.listen, "where to listen; only stdio:// is served")
	flags.Func("session-source", "what `KIND` of client begins threads: vscode, cli, exec, mcp or a word of its own (default vscode, which many clients list only)", o.setSource)
	flags.BoolVar(&o.parentExit, "exit-with-parent", o.parentExit, "end when the parent process has ended")
	flags.BoolVar(&o.version, "version", o.version, "print the version")
	flags.Bool("analytics-default-enabled", false, "accepted and ignored: nothing is sent anywhere")
}

func (o *options) setSource(kind string) error {
	if strings.TrimSpace(kind) == "" {
		return errors.New("is empty")
	}
	o.source = kind
	return nil
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

func printUsage(w io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(w, "Usage: appserver [flags] [command] [flags]\n\nCommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-22s %s\n", c.name, c.doc)
	}
	fmt.Fprint(w, "\nFlags:\n")
	flags.SetOutput(w)
	flags.PrintDefaults()
}

// codexHome is the folder of configuration and rollouts.
func codexHome() (string, error) {
	if home := os.Getenv("CODEX_HOME"); home != "" {
		return filepath.Abs(home)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory: set CODEX_HOME or HOME: %w", err)
	}
	return filepath.Join(user, ".codex"), nil
}
