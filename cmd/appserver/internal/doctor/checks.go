package doctor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"appserver/cmd/appserver/internal/app"
	"appserver/core/effects/workspace"
	"appserver/protocol"
)

// Prober examines a provider that the configuration selects or has a key for.
type Prober func(ctx context.Context, provider string) Result

// subject is a home with all that the checks need.
type subject struct {
	*app.Inspection
	getenv func(string) string
	probe  Prober
	screen Screen
}

// Screen is the terminal of the output, or the zero value without one.
type Screen struct{ Columns, Rows int }

// Checks returns the checks of a home in the order of the report.
func Checks(i *app.Inspection, screen Screen) []Check {
	s := &subject{Inspection: i, getenv: os.Getenv, screen: screen}
	s.probe = s.ask
	return []Check{
		{"program", s.program}, {"home", s.home}, {"index", s.index}, {"configuration", s.configuration},
		{"sandbox", s.sandbox}, {"git", s.git}, {"shell", s.shell}, {"provider", s.providers}, {"mcp", s.servers},
		{"server", s.running}, {"ports", s.ports}, {"proxies", s.proxies}, {"terminal", s.terminal}, {"files", s.files},
		{"clock", s.clock},
	}
}

func (s *subject) program(context.Context) []Result {
	path, err := os.Executable()
	if err != nil {
		return []Result{warn("program", "start it by its whole path", "its own path is unknown: %v", err)}
	}
	list := []Result{ok("program", "appserver %s (protocol %s), %s/%s, %s", app.Version, protocol.Level, runtime.GOOS,
		runtime.GOARCH, path)}
	if other, err := exec.LookPath("appserver"); err == nil && !isSame(other, path) {
		list = append(list, warn("program.path", "remove it, or change PATH, if clients should start this one",
			"the name appserver starts another program: %s", other))
	}
	return list
}

func isSame(a, b string) bool {
	left, err := os.Stat(a)
	if err != nil {
		return false
	}
	right, err := os.Stat(b)
	return err == nil && os.SameFile(left, right)
}

func (s *subject) sandbox(context.Context) []Result {
	d, reading := s.Sandbox()
	switch {
	case d.Enforced:
		return []Result{ok("sandbox", "the kernel confines commands")}
	case reading:
		return []Result{warn("sandbox", "change what the reason names, or approve commands one by one",
			"the kernel confines only commands that read: %s", *d.Reason)}
	}
	return []Result{warn("sandbox", "change what the reason names, or approve commands one by one", "%s", *d.Reason)}
}

// gitTime bounds the start of git.
const gitTime = 3 * time.Second

func (s *subject) git(ctx context.Context) []Result {
	const action = "install git, and restart the server"
	path, err := exec.LookPath("git")
	if err != nil {
		return []Result{warn("git", action, "git is not in PATH, so there are no diffs, checkpoints and reviews")}
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		return []Result{warn("git", action, "%s does not run: %v", path, err)}
	}
	return []Result{ok("git", "%s, %s", strings.TrimSpace(string(out)), path)}
}

func (s *subject) shell(context.Context) []Result {
	shell := workspace.Shell(s.getenv)
	path, err := exec.LookPath(shell)
	if err != nil {
		return []Result{problem("shell", "install it, or set SHELL to one that exists", "commands cannot run: %s: %v", shell, err)}
	}
	return []Result{ok("shell", "%s", path)}
}

func (s *subject) proxies(context.Context) []Result {
	var list []Result
	for _, p := range s.Network.Proxies() {
		if p.Err != nil {
			list = append(list, problem("proxies."+p.Scheme, "correct or remove "+p.Variable, "%v", p.Err))
			continue
		}
		list = append(list, ok("proxies."+p.Scheme, "requests go through %s (%s)", p.Address, p.Variable))
	}
	if len(list) == 0 {
		return []Result{ok("proxies", "none in the environment")}
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		if hosts := s.getenv(name); hosts != "" {
			return append(list, ok("proxies.none", "no proxy for %s (%s)", hosts, name))
		}
	}
	return append(list, ok("proxies.none", "NO_PROXY is not set; this machine needs no entry"))
}

func (s *subject) terminal(context.Context) []Result {
	if s.screen == (Screen{}) {
		return []Result{ok("terminal", "the output is not a terminal")}
	}
	kind := s.getenv("TERM")
	width, height := s.screen.Columns, s.screen.Rows
	switch {
	case runtime.GOOS != "windows" && (kind == "" || kind == "dumb"):
		return []Result{warn("terminal", "set TERM, for example to xterm-256color", "TERM is %q, so context edit has no cursor and no colours", kind)}
	case width < 60 || height < 12:
		return []Result{warn("terminal", "make it larger for context edit", "%s has %d columns and %d rows; context edit needs 60 and 12", kind, width, height)}
	}
	return []Result{ok("terminal", "%s, %d columns and %d rows", kind, width, height)}
}

// minFiles is the number of open files that a server with some clients and MCP servers needs.
const minFiles = 1024

func (s *subject) files(context.Context) []Result {
	limit, known := openFiles()
	switch {
	case !known:
		return []Result{ok("files", "this system has no limit of open files for a program")}
	case limit < minFiles:
		return []Result{warn("files", fmt.Sprintf("raise it, for example with ulimit -n %d", 4*minFiles),
			"at most %d files can be open at a time", limit)}
	}
	return []Result{ok("files", "%d files can be open at a time", limit)}
}

// released is a time before every release of this program.
const released = 1767225600 // 2026-01-01

func (s *subject) clock(context.Context) []Result {
	now := time.Now()
	if now.Unix() < released {
		return []Result{problem("clock", "set the clock; certificates of providers count as not yet valid",
			"%s is in the past", now.UTC().Format(time.RFC3339))}
	}
	return []Result{ok("clock", "%s", now.Format(time.RFC3339))}
}

// configFile returns the path of the user's file in the home.
func (s *subject) configFile() string { return filepath.Join(s.Home, "config.toml") }
