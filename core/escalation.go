package core

import (
	"slices"
	"strings"

	"appserver/core/toolspec"
	"appserver/protocol"
)

// deniedWords are parts of messages that programs print when the kernel denies an action.
var deniedWords = []string{
	"read-only file system", "permission denied", "operation not permitted",
	"network is unreachable", "name resolution", "could not resolve host", "name or service not known",
}

// sandboxOf returns the sandbox policy of a command.
func (s *step) sandboxOf(c *shellCommand) protocol.SandboxPolicy {
	if c.outside {
		return protocol.SandboxDangerFullAccess.Policy()
	}
	return s.state.Settings.Sandbox
}

// isSandboxDenial reports whether the output shows that the sandbox denied an action, and the user
// may be asked to run the command outside. A command that only reads would be denied outside as
// well. A command that the user accepted is not asked about again, since clients answer one
// question per command.
func (s *step) isSandboxDenial(c *shellCommand, r ToolResult) bool {
	return s.active.env.Enforced && !toolspec.Unconfined(s.sandboxOf(c)) && !c.Safe && !c.accepted &&
		s.active.outcome == nil && s.asksOutside() && !r.TimedOut && r.ExitCode != nil && *r.ExitCode != 0 &&
		containsDenial(r.Output)
}

// escalatesIfAccepted reports whether a command runs outside of the sandbox once the user accepts
// it. If the policy has the user decide on the sandbox, one question decides on both.
func (s *step) escalatesIfAccepted(c *shellCommand) bool {
	mode := s.approvalPolicy().Mode
	return c.denied != nil || c.Escalates || mode != protocol.ApprovalOnRequest && s.asksOutside()
}

// approvalPolicy returns the policy for commands. Commands of a reviewer never ask.
func (s *step) approvalPolicy() protocol.AskForApproval {
	if s.reviewing() != nil {
		return protocol.AskForApproval{Mode: protocol.ApprovalNever}
	}
	return s.state.Settings.ApprovalPolicy
}

func (s *step) asksOutside() bool { return toolspec.AsksOutside(s.approvalPolicy()) }

// rules returns the rules that decide on the calls of the active turn.
func (s *step) rules() toolspec.Rules {
	return toolspec.Rules{
		Policy:   s.approvalPolicy(),
		Sandbox:  s.state.Settings.Sandbox,
		Cwd:      s.state.Settings.Cwd,
		Enforced: s.active.env.Enforced,
	}
}

// verdict decides on a command. An approval for the session comes first.
func (s *step) verdict(c *shellCommand) toolspec.Verdict {
	if s.isApproved(c.key()) {
		return toolspec.Run
	}
	return s.rules().Command(&c.Command)
}

// key identifies the command for acceptForSession.
func (c *shellCommand) key() string { return c.Key(c.outside || c.denied != nil || c.Escalates) }

// refusalText is the output of a refused command: the reason and the next action.
func (s *step) refusalText(c *shellCommand) string {
	const never = ", and the approval policy does not permit to ask the user. "
	switch {
	case c.Escalates:
		return "This command was not run: it asks to run outside of the sandbox" + never +
			"Call the tool without sandbox_permissions, or continue without the command."
	case c.Dangerous:
		return "This command was not run: it removes files by force (rm -f)" + never + "Remove the files without -f."
	}
	return "This command was not run: this system cannot confine commands to the sandbox" + never +
		"Continue without the command."
}

// dangerReason returns the reason to show to the user for a dangerous command, or "".
func (c *shellCommand) dangerReason() string {
	if c.Dangerous {
		return "This command removes files by force (rm -f)."
	}
	return ""
}

func containsDenial(output string) bool {
	output = strings.ToLower(output)
	return slices.ContainsFunc(deniedWords, func(words string) bool { return strings.Contains(output, words) })
}

// askToEscalate asks the client whether a denied command may run again outside of the sandbox.
func (s *step) askToEscalate(c *toolCall, r ToolResult) {
	c.command.denied = &r
	c.command.Reason = "The command failed, probably because of the sandbox. Run it again outside of the sandbox?"
	s.requestApproval(c)
}

// declinedText begins the output of a declined command.
func (c *shellCommand) declinedText() string {
	if c.denied != nil {
		return "The command failed, probably because of the sandbox. The user declined to run it outside of the sandbox"
	}
	return "The user declined this command"
}

func (c *shellCommand) notRunText() string {
	if c.denied != nil {
		return " again."
	}
	return "."
}
