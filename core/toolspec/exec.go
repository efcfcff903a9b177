package toolspec

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"appserver/core/command"
	"appserver/core/excerpt"
	"appserver/protocol"
)

// MaxOutput bounds the output that the model gets from one call, in bytes.
const MaxOutput = 40_000

var execSpec = Spec{
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

var stdinSpec = Spec{
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

type execArguments struct {
	Shell           string `json:"shell"`
	Login           *bool  `json:"login"`
	TTY             bool   `json:"tty"`
	YieldTimeMs     *int64 `json:"yield_time_ms"`
	MaxOutputTokens int    `json:"max_output_tokens"`
}

// ParseExec decodes the arguments of exec_command: the arguments of the shell, and the wait and
// the limit of a command in the background.
func ParseExec(arguments, cwd, shell string) (*Command, error) {
	c, err := ParseShell(arguments, cwd, shell)
	if err != nil {
		return nil, err
	}
	var a execArguments
	if err := protocol.Unmarshal([]byte(arguments), &a); err != nil {
		return nil, err
	}
	if strings.Contains(a.Shell, "\x00") {
		return nil, errNul
	}
	c.Timeout = 0
	c.Terminal = &Terminal{
		TTY: a.TTY, Wait: waitTime(a.YieldTimeMs, 10_000, 250, 30_000), Keep: keepBytes(a.MaxOutputTokens)}
	if a.Shell != "" && a.Shell != shell {
		// The analysis of the script holds for the user's shell only.
		shell, c.Reading, c.otherShell = a.Shell, command.MayWrite, true
		c.Dangerous = c.Dangerous || command.DangerousFor(shell, c.Script)
	}
	c.Argv = command.Invocation(shell, c.Script, a.Login == nil || *a.Login)
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

// LimitOutput returns an output with at most limit bytes of text.
func LimitOutput(output protocol.ToolOutput, limit int) protocol.ToolOutput {
	output.Text = excerpt.Ends(output.Text, limit)
	if output.Parts == nil {
		return output
	}
	parts := slices.Clone(output.Parts)
	for i, part := range parts {
		text := excerpt.Ends(part.Text, limit)
		limit -= min(limit, len(text))
		parts[i].Text = text
	}
	output.Parts = parts
	return output
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

type stdinArguments struct {
	SessionID       json.RawMessage `json:"session_id"`
	Chars           string          `json:"chars"`
	YieldTimeMs     *int64          `json:"yield_time_ms"`
	MaxOutputTokens int             `json:"max_output_tokens"`
}

// ParseStdin decodes the arguments of write_stdin. The session can be a number or a string.
func ParseStdin(arguments string) (Stdin, error) {
	var a stdinArguments
	if err := protocol.Unmarshal([]byte(arguments), &a); err != nil {
		return Stdin{}, err
	}
	in := Stdin{Session: strings.Trim(string(a.SessionID), `"`), Chars: a.Chars, Keep: keepBytes(a.MaxOutputTokens)}
	if a.Chars == "" {
		in.Wait = waitTime(a.YieldTimeMs, 5_000, 5_000, 300_000)
	} else {
		in.Wait = waitTime(a.YieldTimeMs, 250, 250, 30_000)
	}
	return in, nil
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
func keepBytes(tokens int) int {
	if tokens <= 0 || tokens > MaxOutput/4 {
		return MaxOutput
	}
	return tokens * 4
}
