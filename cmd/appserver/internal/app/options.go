package app

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"appserver/cmd/appserver/internal/cmdline"
	"appserver/protocol"
)

// Options has the flags that commands share.
type Options struct {
	// Waiting is called when the server waits for its client on standard input. It may be nil.
	Waiting   func()
	Overrides list
	Provider  string
	LogLevel  string
	LogFormat string
	transport transport
	source    string
	// strict makes unknown keys of the configuration errors.
	strict bool
	// parentExit is nil if no flag sets it.
	parentExit  *bool
	ShowVersion bool
	// Codex is set if the program was started under the name of the reference implementation.
	Codex bool
}

type list []string

// String implements flag.Value.
func (l *list) String() string { return strings.Join(*l, ",") }

// Set adds a value.
func (l *list) Set(v string) error {
	*l = append(*l, v)
	return nil
}

// DefaultOptions returns the options before any flag is parsed.
func DefaultOptions() *Options {
	return &Options{
		LogLevel: envOr("APPSERVER_LOG", "warn"), LogFormat: envOr("LOG_FORMAT", "console"),
		transport: transport{url: listenStdio, skew: defaultSkew}, source: protocol.SourceVSCode,
	}
}

// DefineShared defines the flags of every command that reads the configuration.
func (o *Options) DefineShared(flags *flag.FlagSet) {
	o.DefineConfig(flags)
	flags.StringVar(&o.Provider, "model-provider", o.Provider, "use the model provider `NAME`")
	flags.StringVar(&o.LogLevel, "log-level", o.LogLevel, "log messages of this `LEVEL` and above: debug, info, warn or error")
	flags.StringVar(&o.LogFormat, "log-format", o.LogFormat, "write the log in this `FORMAT`: console or json")
	cmdline.Choices(flags, "log-level", "debug", "info", "warn", "error")
	cmdline.Choices(flags, "log-format", "console", "json")
}

// DefineConfig defines the flags that override settings.
func (o *Options) DefineConfig(flags *flag.FlagSet) {
	flags.Var(&o.Overrides, "c", "override a setting: `KEY=VALUE` with a dotted key and a TOML value; can be repeated")
	flags.Var(&o.Overrides, "config", "the same as -c `KEY=VALUE`")
	for name, value := range map[string]string{"enable": "true", "disable": "false"} {
		flags.Func(name, "the same as -c features.`NAME`="+value, func(feature string) error {
			return o.Overrides.Set("features." + feature + "=" + value)
		})
	}
}

// DefineServer defines the flags of the server.
func (o *Options) DefineServer(flags *flag.FlagSet) {
	o.DefineShared(flags)
	o.transport.define(flags)
	flags.Func("session-source",
		"record `KIND` as the source of new threads: vscode, cli, exec, mcp or another word (default vscode; many clients list only this source)", o.setSource)
	cmdline.Choices(flags, "session-source", "vscode", "cli", "exec", "mcp")
	flags.BoolFunc("exit-with-parent", "exit when the parent process exits (default true with stdio://)", o.setParentExit)
	flags.BoolVar(&o.ShowVersion, "version", o.ShowVersion, "print the version")
	flags.BoolVar(&o.ShowVersion, "V", o.ShowVersion, "the same as --version")
	flags.BoolVar(&o.strict, "strict-config", false, "refuse to start with an unknown key in the configuration, which is a warning otherwise")
	flags.Bool("analytics-default-enabled", false, "accepted and ignored: the server sends no analytics")
}

func (o *Options) setParentExit(value string) error {
	end, err := strconv.ParseBool(value)
	o.parentExit = &end
	return err
}

// endsWithParent reports whether the server stops when its parent process exits. Without a flag the
// transport decides: a server on a socket can outlive the process that started it.
func (o *Options) endsWithParent() bool {
	if o.parentExit != nil {
		return *o.parentExit
	}
	return o.transport.isStdio()
}

func (o *Options) setSource(kind string) error {
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

// CodexHome returns the path of the home.
func CodexHome() (string, error) {
	if home := os.Getenv("CODEX_HOME"); home != "" {
		return filepath.Abs(home)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("there is no home directory: set CODEX_HOME or HOME: %w", err)
	}
	return filepath.Join(user, ".codex"), nil
}
