package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"appserver/protocol"
)

// options are the flags that commands share.
type options struct {
	// commands are all subcommands. The usage lists them.
	commands  []subcommand
	overrides list
	provider  string
	logLevel  string
	logFormat string
	transport transport
	source    string
	// parentExit is nil where no flag sets it.
	parentExit *bool
	version    bool
	// codex is set if the program was started under the name of the reference implementation.
	codex bool
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
		transport: transport{url: listenStdio, skew: defaultSkew}, source: protocol.SourceVSCode,
	}
}

// parse reads flags up to the first other argument. Options without a flag keep their values.
func (o *options) parse(args []string, errs io.Writer) (rest []string, err error) {
	flags := flag.NewFlagSet("appserver", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() { printUsage(errs, flags, o.commands) }
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
	for name, value := range map[string]string{"enable": "true", "disable": "false"} {
		flags.Func(name, "the same as -c features.`NAME`="+value, func(feature string) error {
			return o.overrides.Set("features." + feature + "=" + value)
		})
	}
}

func (o *options) define(flags *flag.FlagSet) {
	o.defineShared(flags)
	o.transport.define(flags)
	flags.Func("session-source",
		"what `KIND` of client begins threads: vscode, cli, exec, mcp or a word of its own (default vscode, which many clients list only)", o.setSource)
	flags.BoolFunc("exit-with-parent", "end when the parent process has ended (default true on stdio://)", o.setParentExit)
	flags.BoolVar(&o.version, "version", o.version, "print the version")
	flags.BoolVar(&o.version, "V", o.version, "the same as --version")
	flags.Bool("strict-config", false, "accepted and ignored: settings without effect are told as warnings")
	flags.Bool("analytics-default-enabled", false, "accepted and ignored: nothing is sent anywhere")
}

func (o *options) setParentExit(value string) error {
	end, err := strconv.ParseBool(value)
	o.parentExit = &end
	return err
}

// endsWithParent is settled by the transport where no flag does: who starts a server for
// others may leave it.
func (o *options) endsWithParent() bool {
	if o.parentExit != nil {
		return *o.parentExit
	}
	return o.transport.isStdio()
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
