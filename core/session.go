package core

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"appserver/protocol"
)

// This file holds what the model asks of terminals.

// execName is the name under which commands that may go on are offered.
const execName = "exec_command"

// execTool runs commands that may go on, with a way out of the sandbox where the user may
// grant one.
func execTool(escalation bool) ToolSpec {
	return ToolSpec{
		Name: execName,
		Description: "Runs a command that may take long, or that is to be talked to. Gives the output so far once the command has ended or yield_time_ms have passed; " +
			"a command that still runs then goes on in the background, beyond your answer, as the session that is named: see write_stdin.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"cmd":{"type":"string","description":"The shell script to run."},` +
			`"workdir":{"type":"string","description":"The directory to run it in; the working directory by default."},` +
			`"shell":{"type":"string","description":"The shell to run it with; the user's own by default."},` +
			`"login":{"type":"boolean","description":"Whether it is a login shell; it is by default."},` +
			`"tty":{"type":"boolean","description":"Whether it runs on a terminal, and can be typed to; it does not by default."},` +
			`"yield_time_ms":{"type":"integer","description":"How many milliseconds to wait for its end, 250 to 30000; 10000 by default."},` +
			`"max_output_tokens":{"type":"integer","description":"How much output to give; 10000 at most."},` + permissions(escalation) +
			`"justification":{"type":"string","description":"Why it is needed, for the user who may be asked to allow it."}},` +
			`"required":["cmd"],"additionalProperties":false}`),
	}
}

var typeTool = ToolSpec{
	Name:        "write_stdin",
	Description: "Types to a session of exec_command, or waits for it, and gives its output since the last look. The characters \"\\u0003\" interrupt the command.",
	Parameters: json.RawMessage(`{"type":"object","properties":{` +
		`"session_id":{"type":"integer","description":"The session."},` +
		`"chars":{"type":"string","description":"What to type, with \\n for the return key; nothing by default."},` +
		`"yield_time_ms":{"type":"integer","description":"How many milliseconds to wait for output: 250 to 30000, 250 by default; without chars 5000 to 300000, 5000 by default."},` +
		`"max_output_tokens":{"type":"integer","description":"How much output to give; 10000 at most."}},` +
		`"required":["session_id"],"additionalProperties":false}`),
}

// terminalWish is how the model wants a command run that may go on.
type terminalWish struct {
	tty  bool
	wait time.Duration
	keep int
}

type execArguments struct {
	Shell           string `json:"shell"`
	Login           *bool  `json:"login"`
	TTY             bool   `json:"tty"`
	YieldTimeMs     *int64 `json:"yield_time_ms"`
	MaxOutputTokens int    `json:"max_output_tokens"`
}

// wishFor reads what exec_command takes beside the shell's arguments.
func (s *step) wishFor(c *shellCommand, arguments string) error {
	var a execArguments
	if err := protocol.Unmarshal([]byte(arguments), &a); err != nil {
		return err
	}
	if strings.Contains(a.Shell, "\x00") {
		return errNul
	}
	c.timeout = 0
	c.terminal = &terminalWish{tty: a.TTY, wait: waitOf(a.YieldTimeMs, 10_000, 250, 30_000), keep: keepOf(a.MaxOutputTokens)}
	if a.Shell != "" && a.Shell != c.argv[0] {
		// What the script does is known of the user's own shell only.
		c.argv[0], c.safe, c.foreign = a.Shell, false, true
	}
	if a.Login != nil && !*a.Login {
		c.argv[1] = "-c"
	}
	return nil
}

// waitOf is a time that the model asked for, within bounds; all are in milliseconds.
func waitOf(asked *int64, standard, least, most int64) time.Duration {
	if asked != nil {
		standard = min(max(*asked, least), most)
	}
	return time.Duration(standard) * time.Millisecond
}

// keepOf is how many bytes of output the model wants; a token has about four.
func keepOf(tokens int) int {
	if tokens <= 0 || tokens > unreadLimit/4 {
		return unreadLimit
	}
	return tokens * 4
}

type typeArguments struct {
	SessionID       json.RawMessage `json:"session_id"`
	Chars           string          `json:"chars"`
	YieldTimeMs     *int64          `json:"yield_time_ms"`
	MaxOutputTokens int             `json:"max_output_tokens"`
}

// wait is how long to wait for output.
func (a *typeArguments) wait() time.Duration {
	if a.Chars == "" {
		return waitOf(a.YieldTimeMs, 5_000, 5_000, 300_000)
	}
	return waitOf(a.YieldTimeMs, 250, 250, 30_000)
}

// interruptKey is what a terminal makes an interrupt of.
const interruptKey = "\x03"

func (s *step) beginTyping(c *toolCall) {
	var a typeArguments
	if err := protocol.Unmarshal([]byte(c.call.Arguments), &a); err != nil {
		s.answer(c, fmt.Sprintf("The arguments of %s could not be read: %v", c.call.Name, err))
		return
	}
	id := strings.Trim(string(a.SessionID), `"`)
	term := s.terminalNamed(id)
	switch {
	case term == nil:
		s.answer(c, fmt.Sprintf("There is no session %s: its end was told, or it ended with the server. The sessions are: %s.", id, s.sessions()))
		return
	case a.Chars != "" && a.Chars != interruptKey && !term.command.terminal.tty:
		s.answer(c, fmt.Sprintf("Session %s takes no input: run the command again with tty. It can be interrupted with \\u0003.", id))
		return
	}
	if term.writes && term.result == nil && s.held(c) {
		return
	}
	s.notify(protocol.TerminalInteractionNotification{
		ThreadID: s.id, TurnID: s.active.id, ItemID: term.itemID, ProcessID: term.id, Stdin: a.Chars})
	if term.result != nil {
		term.look = &look{call: c, began: s.Now, keep: keepOf(a.MaxOutputTokens)}
		s.readRest(term)
		return
	}
	s.lookAt(term, c, keepOf(a.MaxOutputTokens))
	s.typeOn(term, a.Chars, a.wait())
}

// sessions names the sessions that there are.
func (s *step) sessions() string {
	var ids []string
	for _, term := range s.terminals {
		ids = append(ids, term.id)
	}
	if len(ids) == 0 {
		return "none"
	}
	return strings.Join(ids, ", ")
}

// typeOn types on a terminal, and waits. A command without one can be interrupted only, which
// ends it.
func (s *step) typeOn(term *terminal, chars string, wait time.Duration) {
	l, interrupts := term.look, chars != "" && !term.command.terminal.tty
	track := s.trackTyping(term)
	l.watched = track != nil && !interrupts
	if !l.watched {
		s.lookFor(l, wait)
	}
	switch {
	case interrupts:
		s.effect(Cancel{term.effect})
	case l.watched || chars != "":
		l.typing = s.newEffect()
		s.active.commands = append(s.active.commands, l.typing)
		s.effect(TypeKeys{ID: l.typing, TurnID: s.active.id, Command: term.effect, Text: chars, Track: track, Watch: wait})
	}
}

func (s *step) keysTyped(in KeysTyped) {
	if s.active == nil || !ended(&s.active.commands, in.Effect) {
		return
	}
	s.tracked(in.Tracked)
	if s.active.outcome != nil {
		s.finishWhenDone()
		return
	}
	for _, term := range s.terminals {
		if term.look != nil && term.look.typing == in.Effect {
			s.typed(term, in.Err)
			return
		}
	}
}

// typed ends the look of a call that typed, where its time is over or nothing was typed.
func (s *step) typed(term *terminal, err error) {
	switch l := term.look; {
	case term.result != nil:
		s.readRest(term)
		s.advance()
	case err != nil:
		s.stopLook(term)
		s.answerLook(term, fmt.Sprintf("Nothing was typed, for %v. Process running with session ID %s", err, term.id))
		s.advance()
	case l.watched:
		s.lookIsOver(term)
	default:
		l.typing = 0
	}
}

// ListTerminals asks for the commands that run in the background.
type ListTerminals struct{ To protocol.Caller }

// TerminateTerminal ends one of them, or tells that there is none with the id.
type TerminateTerminal struct {
	To protocol.Caller
	ID string
}

// CleanTerminals ends all of them.
type CleanTerminals struct{ To protocol.Caller }

// EndTerminals ends them for a thread that goes; nobody is answered.
type EndTerminals struct{}

func (in ListTerminals) apply(s *step) {
	s.reply(in.To, protocol.ThreadBackgroundTerminalsListResponse{Data: s.terminalViews()})
}

func (in TerminateTerminal) apply(s *step) {
	term := s.terminalNamed(in.ID)
	found := term != nil && term.result == nil
	s.reply(in.To, protocol.ThreadBackgroundTerminalsTerminateResponse{Terminated: found})
	if found {
		s.effect(Cancel{term.effect})
	}
}

func (in CleanTerminals) apply(s *step) {
	s.reply(in.To, protocol.Empty{})
	s.endTerminals()
}

func (EndTerminals) apply(s *step) { s.endTerminals() }

func (s *step) endTerminals() {
	for _, term := range s.liveTerminals() {
		s.effect(Cancel{term.effect})
	}
}

func (s *step) terminalViews() []protocol.ThreadBackgroundTerminal {
	views := []protocol.ThreadBackgroundTerminal{}
	for _, term := range s.liveTerminals() {
		view := protocol.ThreadBackgroundTerminal{ItemID: term.itemID, ProcessID: term.id, Command: term.command.script, Cwd: term.command.cwd}
		if pid, err := strconv.ParseUint(term.pid, 10, 32); err == nil {
			view.OsPid = new(uint32(pid))
		}
		views = append(views, view)
	}
	return views
}
