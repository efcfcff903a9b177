package toolspec

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"appserver/core/pure/command"
	"appserver/protocol"
)

// Shell is the name of the tool that runs a script and waits for its end.
const Shell = "shell"

// IsShell reports whether models call the shell by this name: by one of the offered names, or by a
// name in histories of other programs.
func IsShell(name string) bool {
	switch name {
	case Shell, ExecCommand, "shell_command", "container.exec", "local_shell":
		return true
	}
	return false
}

const (
	// defaultTimeout is the timeout of a command if the call names none.
	defaultTimeout = 10 * time.Minute
	// maxTimeout is the longest timeout that a call can name.
	maxTimeout = 24 * time.Hour
)

// ShellSpec returns the tool shell.
func ShellSpec() Spec { return shellSpec(permissions) }

// ReviewSpecs returns the tools of a reviewer: the shell, which cannot leave the sandbox.
func ReviewSpecs() []Spec { return []Spec{shellSpec("")} }

// shellSpec returns the shell, with the parameter that asks to run outside of the sandbox or without it.
func shellSpec(permissions string) Spec {
	return Spec{
		Name: Shell,
		Description: "Runs a script in the user's shell and returns its exit code and its output. " +
			"Standard output and error are together. Long output is cut in the middle.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"command":{"type":"string","description":"The shell script to run."},` +
			`"workdir":{"type":"string","description":"The directory to run it in. Default: the working directory."},` +
			`"timeout_ms":{"type":"integer","description":"The timeout in milliseconds. Default: 600000."},` +
			permissions + justification + `},"required":["command"],"additionalProperties":false}`),
	}
}

const justification = `"justification":{"type":"string",` +
	`"description":"Why the command is needed. The user reads it before approving the command."}`

// permissions is the parameter that asks to run outside of the sandbox. The tools have it under every policy, because
// a changed tool costs the cached prefix of the prompt.
const permissions = `"sandbox_permissions":{"type":"string","enum":["use_default","require_escalated"],` +
	`"description":"require_escalated asks the user to run the command outside of the sandbox. ` +
	`Use it for what the sandbox does not permit. Default: use_default."},`

// Command is a decoded call of shell or exec_command.
type Command struct {
	Script string
	// Argv has the shell, its flags and the script.
	Argv []string
	// Cwd is absolute if the thread has an absolute working directory.
	Cwd string
	// Timeout is 0 for commands that may run in the background.
	Timeout time.Duration
	// Reason is the model's justification, or "".
	Reason string
	// Reading is the certainty that the script only reads.
	Reading command.Reading
	// Dangerous is set if the script removes files by force.
	Dangerous bool
	// Escalates is set if the call asks to run outside of the sandbox.
	Escalates bool
	// Terminal is set if the command may run in the background, or nil.
	Terminal *Terminal
	// otherShell is set if another shell than the user's runs the script.
	otherShell bool
}

// script returns the text of a member, the script that a list passes to a shell, or the list quoted.
func (m *members) script(name string) string {
	if list, ok := listOf(m.raw(name)); !ok || !areTexts(list) {
		return m.text(name)
	}
	words := m.texts(name)
	if len(words) == 3 && shells[path.Base(words[0])] && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return command.Quote(words)
}

// areTexts reports whether a list has strings only. The script [ 1 ] is no list of words.
func areTexts(list []json.RawMessage) bool {
	return !slices.ContainsFunc(list, func(element json.RawMessage) bool { return element[0] != '"' })
}

var shells = map[string]bool{"sh": true, "bash": true, "zsh": true}

// escalates reports whether the call asks to run outside of the sandbox. with_escalated_permissions is the older form.
func (m *members) escalates() bool {
	switch word := m.text("sandbox_permissions"); word {
	case "", "use_default":
		older := m.boolean("with_escalated_permissions")
		return older != nil && *older
	case "require_escalated":
		return true
	default:
		m.err = cmp.Or(m.err,
			fmt.Errorf("sandbox_permissions is %q, expected use_default or require_escalated", word))
		return false
	}
}

// errNul rejects arguments that no program can get. The keys of approvals contain NUL as separator.
var errNul = errors.New("they contain a NUL character")

// ParseShell decodes the arguments of a shell. A relative workdir begins at cwd. shell is the path
// of the user's shell.
func ParseShell(arguments, cwd, shell string) (*Command, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return nil, err
	}
	script := cmp.Or(a.script("command"), a.script("cmd"))
	if a.err == nil && strings.TrimSpace(script) == "" {
		return nil, errors.New("command is missing")
	}
	c := &Command{Script: script, Cwd: cwd, Timeout: defaultTimeout, Reason: a.text("justification"),
		Escalates: a.escalates()}
	workdir, timeout := a.text("workdir"), a.integer("timeout_ms")
	if a.err != nil {
		return nil, a.err
	}
	c.Argv, c.Dangerous = command.Invocation(shell, script, true), command.DangerousFor(shell, script)
	if workdir != "" {
		c.Cwd = workdir
		if !filepath.IsAbs(c.Cwd) {
			c.Cwd = filepath.Join(cwd, workdir)
		}
	}
	if strings.Contains(c.Cwd+c.Script, "\x00") {
		return nil, errNul
	}
	c.Reading = command.ReadingFor(shell, c.Cwd, script)
	if timeout != nil && *timeout > 0 {
		c.Timeout = time.Duration(min(*timeout, maxTimeout.Milliseconds())) * time.Millisecond
	}
	return c, nil
}

// Reads reports whether the script only reads, by its text.
func (c *Command) Reads() bool { return c.Reading != command.MayWrite }

// Actions returns the actions of the script. The paths of files that it reads are absolute.
func (c *Command) Actions() []protocol.CommandAction {
	actions := command.Actions(c.Script)
	for i, a := range actions {
		if a.Type == "read" && a.Path != nil && !filepath.IsAbs(*a.Path) {
			actions[i].Path = new(filepath.Join(c.Cwd, *a.Path))
		}
	}
	return actions
}

// Patch returns the patch that the script passes to apply_patch, and the directory of its names. It
// reports false if the script does anything else.
func (c *Command) Patch() (dir, text string, ok bool) {
	dir, text, ok = command.Patch(c.Script)
	if ok && !filepath.IsAbs(dir) {
		dir = filepath.Join(c.Cwd, dir)
	}
	return dir, text, ok
}

// Key identifies the command for acceptForSession: exactly this script, its directory and its
// shell, inside or outside of the sandbox.
func (c *Command) Key(outside bool) string {
	key := c.Cwd + "\x00"
	if c.otherShell {
		key += c.Argv[0] + "\x00"
	}
	key += c.Script
	if outside {
		key += "\x00outside"
	}
	return key
}
