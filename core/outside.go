package core

import (
	"slices"
	"strings"

	"appserver/protocol"
)

// deniedWords are how programs say that the kernel refused them something.
var deniedWords = []string{
	"read-only file system", "permission denied", "operation not permitted",
	"network is unreachable", "name resolution", "could not resolve host", "name or service not known",
}

// unconfined tells whether a policy leaves commands to themselves.
func unconfined(policy protocol.SandboxPolicy) bool {
	switch policy.SandboxPolicyVariant.(type) {
	case *protocol.DangerFullAccess, *protocol.ExternalSandbox:
		return true
	}
	return false
}

// sandboxOf is the policy that a command runs with.
func (s *step) sandboxOf(c *shellCommand) protocol.SandboxPolicy {
	if c.outside {
		return protocol.SandboxDangerFullAccess.Policy()
	}
	return s.settings.Sandbox
}

// outsideKey is what acceptForSession remembers of a command that may run outside of
// the sandbox.
func (c *shellCommand) outsideKey() string { return c.cwd + "\x00" + c.exact() + "\x00outside" }

// offersOutside tells whether a command failed for the sandbox, by its words, and the
// user can be asked to let it run outside. One that only reads never is: what it was
// refused it would be refused outside, too. Clients answer one question for a command, so
// one that the user has accepted is not asked about again.
func (s *step) offersOutside(c *shellCommand, r ToolResult) bool {
	return s.active.world.Enforced && !unconfined(s.sandboxOf(c)) && !c.safe && !c.accepted && s.active.outcome == nil &&
		s.asksOutside() && !r.TimedOut && r.ExitCode != nil && *r.ExitCode != 0 && refused(r.Output)
}

// leavesSandbox reports whether a command runs outside of the sandbox if the user accepts it.
// Under policies that have the user decide on the sandbox, one question decides on both.
func (s *step) leavesSandbox(c *shellCommand) bool {
	mode := s.policy().Mode
	return c.denied != nil || c.escalates || mode != protocol.ApprovalOnRequest && s.asksOutside()
}

// policy is the approval policy that commands run with. Nobody is asked for a review's.
func (s *step) policy() protocol.AskForApproval {
	if s.reviewing() != nil {
		return protocol.AskForApproval{Mode: protocol.ApprovalNever}
	}
	return s.settings.ApprovalPolicy
}

func (s *step) asksOutside() bool { return asksOutside(s.policy()) }

// asksOutside tells whether an approval policy has the user asked for what the sandbox
// does not allow.
func asksOutside(p protocol.AskForApproval) bool {
	switch p.Mode {
	case protocol.ApprovalNever:
		return false
	case protocol.ApprovalGranular:
		return p.Granular.SandboxApproval
	}
	return true
}

func refused(output string) bool {
	output = strings.ToLower(output)
	return slices.ContainsFunc(deniedWords, func(words string) bool { return strings.Contains(output, words) })
}

// offerOutside asks the client whether a command that failed may run once more,
// outside of the sandbox.
func (s *step) offerOutside(c *toolCall, r ToolResult) {
	c.command.denied = &r
	c.command.reason = "The sandbox seems to have kept this command from its work. Run it again outside of the sandbox?"
	s.ask(c)
}

// declined says what the user decided on a command.
func (c *shellCommand) declined() string {
	if c.denied != nil {
		return "The sandbox seems to have kept this command from its work. The user declined to run it outside of the sandbox"
	}
	return "The user declined this command"
}

// notRun ends the sentence on a command that was declined.
func (c *shellCommand) notRun() string {
	if c.denied != nil {
		return " again."
	}
	return "."
}
