package toolspec

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"appserver/core/pure/command"
)

// The names of the tools for commands in the background.
const (
	ExecCommand = "exec_command"
	WriteStdin  = "write_stdin"
)

// ExecSpec describes the tool exec_command.
var ExecSpec = Spec{
	Name: ExecCommand,
	Description: "Runs a command, returning its output, or a session ID if it still runs after yield_time_ms. " +
		"A session continues in the background, also after your answer. Use write_stdin to interact with it.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"cmd":{"type":"string","description":"The shell script to run."},` +
		`"workdir":{"type":"string","description":"The directory to run it in. Default: the working directory."},` +
		`"shell":{"type":"string","description":"The shell that runs it. Default: the user's shell."},` +
		`"login":{"type":"boolean","description":"Whether the shell is a login shell. Default: true."},` +
		`"tty":{"type":"boolean","description":"Whether the command runs on a terminal and takes input. Default: false."},` +
		`"yield_time_ms":{"type":"integer",` +
		`"description":"Milliseconds to wait for the end of the command, 250 to 30000. Default: 10000."},` +
		maxOutputTokens + `,` + permissions + justification + `},"required":["cmd"],"additionalProperties":false}`),
}

const maxOutputTokens = `"max_output_tokens":{"type":"integer",` +
	`"description":"Tokens of output to return, at most 10000."}`

// StdinSpec describes the tool write_stdin.
var StdinSpec = Spec{
	Name: WriteStdin,
	Description: "Writes characters to a session of exec_command, or waits for it. " +
		"Returns the output since the last call. The characters \"\\u0003\" interrupt the command.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"session_id":{"type":"integer","description":"The session ID."},` +
		`"chars":{"type":"string","description":"The characters to write, with \\n for the return key. Default: none."},` +
		`"yield_time_ms":{"type":"integer","description":"Milliseconds to wait for output: 250 to 30000, default 250. ` +
		`Without chars: 5000 to 300000, default 5000."},` +
		maxOutputTokens + `},"required":["session_id"],"additionalProperties":false}`),
}

// Terminal describes how a command runs that may continue in the background.
type Terminal struct {
	// TTY is set if the command runs on a terminal and takes input.
	TTY bool
	// Wait is how long the call waits for the end of the command.
	Wait time.Duration
	// Keep is how many bytes of output the call returns.
	Keep int
}

// ParseExec decodes the arguments of exec_command: the arguments of the shell, and the wait and
// the limit of a command in the background.
func ParseExec(arguments, cwd, shell string) (*Command, error) {
	c, err := ParseShell(arguments, cwd, shell)
	if err != nil {
		return nil, err
	}
	a, err := readMembers(arguments)
	if err != nil {
		return nil, err
	}
	other, login, tty := a.text("shell"), a.boolean("login"), a.boolean("tty")
	c.Timeout = 0
	c.Terminal = &Terminal{TTY: tty != nil && *tty,
		Wait: waitTime(a.integer("yield_time_ms"), 10_000, 250, 30_000), Keep: keepBytes(a.integer("max_output_tokens"))}
	if a.err != nil {
		return nil, a.err
	}
	if strings.Contains(other, "\x00") {
		return nil, errNul
	}
	if other != "" && other != shell {
		// The analysis of the script holds for the user's shell only.
		shell, c.Reading, c.otherShell = other, command.MayWrite, true
		c.Dangerous = c.Dangerous || command.DangerousFor(shell, c.Script)
	}
	c.Argv = command.Invocation(shell, c.Script, login == nil || *login)
	return c, nil
}

// Programs returns the simple commands that the command may run. A shell of an unknown language may run any.
func (c *Command) Programs() [][]command.Word {
	if !c.otherShell || command.IsBourne(c.Argv[0]) {
		return command.Programs(c.Script)
	}
	argv := make([]command.Word, len(c.Argv))
	for i, arg := range c.Argv {
		argv[i] = command.Word{Text: arg, Known: true}
	}
	return [][]command.Word{argv, {{}}}
}

// WithoutLogin returns the argument vector for a shell that is no login shell.
func (c *Command) WithoutLogin() []string { return command.Invocation(c.Argv[0], c.Script, false) }

// Interrupt is the character that interrupts a command when typed on its terminal.
const Interrupt = "\x03"

// Stdin is a decoded call of write_stdin.
type Stdin struct {
	// Session is the id of the session, as text.
	Session string
	// Chars is the text to type, or "".
	Chars string
	// Wait is how long the call waits for output.
	Wait time.Duration
	// Keep is how many bytes of output the call returns.
	Keep int
}

// ParseStdin decodes the arguments of write_stdin. The session can be a number or a string.
func ParseStdin(arguments string) (Stdin, error) {
	a, err := readMembers(arguments)
	if err != nil {
		return Stdin{}, err
	}
	in := Stdin{Session: a.id("session_id"), Chars: a.text("chars"), Keep: keepBytes(a.integer("max_output_tokens"))}
	if in.Chars == "" {
		in.Wait = waitTime(a.integer("yield_time_ms"), 5_000, 5_000, 300_000)
	} else {
		in.Wait = waitTime(a.integer("yield_time_ms"), 250, 250, 30_000)
	}
	if in.Session == "" && a.err == nil {
		a.err = errors.New("session_id is missing")
	}
	return in, a.err
}

// waitTime returns the time that the call names, within bounds, or the default. All are in
// milliseconds.
func waitTime(asked *int64, standard, lowest, highest int64) time.Duration {
	if asked != nil {
		standard = min(max(*asked, lowest), highest)
	}
	return time.Duration(standard) * time.Millisecond
}

// keepBytes converts tokens of output to bytes. A token has about four.
func keepBytes(tokens *int64) int {
	if tokens == nil || *tokens <= 0 || *tokens > MaxOutput/4 {
		return MaxOutput
	}
	return int(*tokens) * 4
}
