package core

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"appserver/core/pure/patch"
	"appserver/core/pure/toolspec"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// toolCall is a tool call of the model's last answer.
type toolCall struct {
	call    ToolCall
	command *shellCommand // or nil for other tools than the shell
	patch   *patchCall    // or nil for other tools than patches
	server  *serverCall   // or nil for tools of other origin
	image   string        // the absolute path of the image, or ""
	session string        // the id of the terminal that the call can open
	client  *clientCall   // or nil if the client does not answer the call
	recall  *recallCall   // or nil for other tools than recall
	// output waits for the end of an earlier call. It is nil once it is recorded.
	output  protocol.ResponseItemVariant
	state   callState
	effect  EffectID
	request uint64
	askedAt time.Time // when the request was sent
	// again is set for the call of a restored turn until its request is sent again, or nil.
	again *protocol.StoredWait
	// item is the item that clients see, or nil before item/started.
	item *protocol.ThreadItem
}

type callState int

const (
	callWaiting callState = iota
	callAsking
	callHeld // until the checkpoint of the turn is made
	callRunning
	callDone
)

// decision returns the decision of an answer, and a warning for the client, or "".
func (c *toolCall) decision(in ClientAnswer) (word, remark string) {
	var answer protocol.CommandExecutionRequestApprovalResponse
	err := in.Err
	if err != nil {
		err = fmt.Errorf("it is an error response, %w", err)
	} else {
		err = protocol.Unmarshal(in.Result, &answer)
	}
	word = answer.Decision.Word
	switch {
	case err == nil && word == "":
		err = errors.New("decision is missing")
	case err == nil && word == protocol.DecisionAcceptWithAmendment && c.patch != nil:
		err = errors.New("acceptWithExecpolicyAmendment is for commands, not for patches")
	}
	switch {
	case err != nil:
		return protocol.DecisionDecline, fmt.Sprintf("The answer to the approval request for %s counts as decline: %v. "+
			"Answer with the decision accept, acceptForSession, decline or cancel.", c.call.ID, err)
	case word == protocol.DecisionAcceptWithAmendment:
		return protocol.DecisionAcceptForSession, fmt.Sprintf(
			"Rules for commands are not supported: %s is accepted for this session, for exactly this command.", c.call.ID)
	}
	return word, ""
}

func (c *toolCall) declinedText() string {
	if c.patch != nil {
		return "The user declined this patch"
	}
	return c.command.declinedText()
}

func (c *toolCall) notDoneText() string {
	if c.patch != nil {
		return "No file was changed."
	}
	return "It was not run" + c.command.notRunText()
}

// processID returns the id of a terminal, or nil. Other commands have an id of the operating
// system.
func (c *toolCall) processID() *string {
	if c.command.Terminal == nil {
		return nil
	}
	return &c.session
}

// shellCommand is a command of the model, and the state of its approval.
type shellCommand struct {
	toolspec.Command
	// denied is the result inside the sandbox if the user is asked to run the command outside, or nil.
	denied *ToolResult
	// outside is set if the command runs outside of the sandbox.
	outside bool
	// accepted is set if the user accepted the command.
	accepted bool
	// rule is the decision of the user's rules. onlyRule is set if the policies alone would run the command.
	rule     toolspec.RuleVerdict
	onlyRule bool
}

// resultText returns the result for the model.
func (c *shellCommand) resultText(r ToolResult) string {
	if c.Terminal != nil {
		return terminalOutputText(r.Duration, exitText(r), r.Output, c.Terminal.Keep)
	}
	return commandOutput(r)
}

// dangerReason returns the reason to show to the user for a dangerous command, or "".
func (c *shellCommand) dangerReason() string {
	if c.Dangerous {
		return "This command removes files by force (rm -f)."
	}
	return ""
}

// declinedText begins the output of a declined command.
func (c *shellCommand) declinedText() string {
	if c.denied != nil {
		return "The command failed, probably because of the sandbox. The user declined to run it outside of the sandbox"
	}
	return "The user declined this command"
}

// key identifies the command for acceptForSession.
func (c *shellCommand) key() string { return c.Key(c.outside || c.denied != nil || c.Escalates) }

func (c *shellCommand) notRunText() string {
	if c.denied != nil {
		return " again."
	}
	return "."
}

// commandOutput formats a result for the model, in the form of the reference implementation.
func commandOutput(r ToolResult) string {
	head := fmt.Sprintf("Wall time: %.1f seconds\n", r.Duration.Seconds())
	switch {
	case r.TimedOut:
		head = "The command was ended: it took longer than its timeout.\n" + head
	case r.ExitCode != nil:
		head = fmt.Sprintf("Exit code: %d\n", *r.ExitCode) + head
	default:
		head = "The command did not finish: " + r.Failure + "\n" + head
	}
	return head + "Output:\n" + r.Output
}

func exitText(r ToolResult) string {
	if r.ExitCode != nil {
		return fmt.Sprintf("Process exited with code %d", *r.ExitCode)
	}
	return "Process ended: " + r.Failure
}

// patchCall is a patch of the model.
type patchCall struct {
	dir, text string
	// root is the writable root above dir, or "".
	root string
	// result is nil until the files were read.
	result *patch.Result
}

// patchIn returns the patch that a command passes to apply_patch, or nil.
func patchIn(c *shellCommand) *patchCall {
	dir, text, ok := c.Patch()
	if !ok {
		return nil
	}
	return &patchCall{dir: dir, text: text}
}

// abs returns the absolute path of a name of the patch.
func (p *patchCall) abs(name string) string { return patch.Full(p.dir, name) }

// summary returns the output of an applied patch: added files, then modified ones by their new
// names, then deleted ones. Models are trained on this form.
func (p *patchCall) summary() string {
	var b strings.Builder
	b.WriteString("Success. Updated the following files:\n")
	for _, letter := range []string{"A", "M", "D"} {
		for _, c := range p.result.Changes {
			if changeLetter(c.Kind) == letter {
				fmt.Fprintf(&b, "%s %s\n", letter, cmp.Or(c.MovePath, c.Path))
			}
		}
	}
	return b.String()
}

func changeLetter(kind patch.Kind) string {
	switch kind {
	case patch.Add:
		return "A"
	case patch.Delete:
		return "D"
	}
	return "M"
}

// changes returns the files for the item, sorted by path. A rollout keeps them in that order.
func (p *patchCall) changes() []protocol.FileUpdateChange {
	changes := []protocol.FileUpdateChange{}
	for _, c := range p.result.Changes {
		move := protocol.OrNil(c.MovePath)
		if move != nil {
			*move = p.abs(*move)
		}
		changes = append(changes,
			protocol.FileUpdateChange{Path: p.abs(c.Path), Kind: transcript.ChangeKind(string(c.Kind), move), Diff: c.Diff +
				transcript.MovedTo(move)})
	}
	slices.SortFunc(changes, func(a, b protocol.FileUpdateChange) int { return strings.Compare(a.Path, b.Path) })
	return changes
}

// files returns the absolute paths of the changed files.
func (p *patchCall) files() []string {
	var files []string
	for _, f := range p.result.Files {
		files = append(files, p.abs(f.Path))
	}
	return files
}

// keys returns the keys for acceptForSession: exactly these files.
func (p *patchCall) keys() []string {
	keys := p.files()
	for i := range keys {
		keys[i] = "file\x00" + keys[i]
	}
	return keys
}

// clientCall is a call that the client answers: of its own tool, or with questions to the user.
type clientCall struct {
	namespace *string
	tool      string
	arguments json.RawMessage
	// questions is nil for a tool.
	questions []protocol.ToolRequestUserInputQuestion
}

// serverCall is a decoded call of a tool of a server.
type serverCall struct {
	tool      toolspec.ServerTool
	arguments json.RawMessage
}

// recallCall is a call of recall that waits for the memory service.
type recallCall struct {
	query string
	// included is the text about included items, or ""; found are the hits in the thread.
	included string
	found    []string
}

const abortedOutputText = "aborted by user"

// storedDenial returns the result inside the sandbox for a turn_waiting line, or nil.
func (c *shellCommand) storedDenial() *protocol.StoredDenial {
	if c == nil || c.denied == nil {
		return nil
	}
	return &protocol.StoredDenial{Output: c.denied.Output, ExitCode: c.denied.ExitCode, Failure: c.denied.Failure,
		TimedOut: c.denied.TimedOut, DurationMs: c.denied.Duration.Milliseconds()}
}

// resultOfDenial returns the result of a storedDenial.
func resultOfDenial(d *protocol.StoredDenial) ToolResult {
	return ToolResult{Output: d.Output, ExitCode: d.ExitCode, Failure: d.Failure, TimedOut: d.TimedOut,
		Duration: time.Duration(d.DurationMs) * time.Millisecond}
}
