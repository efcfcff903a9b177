package core

import (
	"fmt"
	"time"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

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
	// received is the output that clients have received.
	received receivedOutput
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

// storedDenial returns the result inside the sandbox for a turn_waiting line, or nil.
func (c *shellCommand) storedDenial() *protocol.StoredDenial {
	if c.denied == nil {
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
