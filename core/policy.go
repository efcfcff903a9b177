package core

import (
	"slices"
	"strings"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// verdict decides on a command. A rule that forbids it comes first, then an approval for the session. A rule never
// permits more than the policies.
func (s *step) verdict(c *shellCommand) toolspec.Verdict {
	c.rule = s.ruleFor(c)
	if c.forbidden() {
		return toolspec.Refuse
	}
	if s.isApproved(c.key()) {
		return toolspec.Run
	}
	verdict := s.commandRules().Command(&c.Command)
	if c.rule.Decision != toolspec.RulePrompts || verdict == toolspec.Refuse {
		return verdict
	}
	c.onlyRule = verdict == toolspec.Run
	if !toolspec.AsksForRules(s.approvalPolicy()) {
		return toolspec.Refuse
	}
	return toolspec.Ask
}

// ruleFor returns the decision of the user's rules about a command.
func (s *step) ruleFor(c *shellCommand) toolspec.RuleVerdict {
	rules := s.active.env.CommandRules
	if !rules.Restricts() {
		return toolspec.RuleVerdict{}
	}
	return rules.Decide(c.Programs())
}

// rules returns the rules that decide on the calls of the active turn.
func (s *step) rules() toolspec.Rules {
	return toolspec.Rules{
		Policy:          s.approvalPolicy(),
		Sandbox:         s.state.Settings.Sandbox,
		Cwd:             s.state.Settings.Cwd,
		Enforced:        s.active.env.Enforced,
		ConfinesReading: s.active.env.ConfinesReading,
	}
}

// access returns the access of a command beside its sandbox policy. A command that no user accepted
// and that runs only because it reads is confined to reading.
func (s *step) access(c *shellCommand) Access {
	switch env := s.active.env; {
	case c.accepted || c.outside || !s.commandRules().RunsToRead(&c.Command):
		return AccessOfPolicy
	case env.ConfinesReading:
		return AccessReading
	}
	return AccessUnconfinedReading
}

// approvalPolicy returns the policy for commands. Commands of a reviewer never ask.
func (s *step) approvalPolicy() protocol.AskForApproval {
	if s.reviewing() != nil {
		return protocol.AskForApproval{Mode: protocol.ApprovalNever}
	}
	return s.state.Settings.ApprovalPolicy
}

// sandboxOf returns the sandbox policy of a command.
func (s *step) sandboxOf(c *shellCommand) protocol.SandboxPolicy {
	if c.outside {
		return protocol.SandboxDangerFullAccess.Policy()
	}
	return s.commandSandbox()
}

// asksOutside reports whether the user can be asked to run a command outside of the sandbox.
func (s *step) asksOutside() bool {
	return toolspec.AsksOutside(s.approvalPolicy()) && !s.commandsRead()
}

// escalatesIfAccepted reports whether a command runs outside of the sandbox once the user accepts
// it. If the policy has the user decide on the sandbox, one question decides on both.
func (s *step) escalatesIfAccepted(c *shellCommand) bool {
	mode := s.approvalPolicy().Mode
	return c.denied != nil || c.Escalates || !c.onlyRule && mode != protocol.ApprovalOnRequest && s.asksOutside()
}

// isSandboxDenial reports whether the output shows that the sandbox denied an action, and the user
// may be asked to run the command outside. A command that only reads would be denied outside as
// well. A command that the user accepted is not asked about again, since clients answer one
// question per command.
func (s *step) isSandboxDenial(c *shellCommand, r ToolResult) bool {
	return s.active.env.Enforced && !toolspec.Unconfined(s.sandboxOf(c)) && !c.Reads() && !c.accepted &&
		!s.isEnding() && s.asksOutside() && !r.TimedOut && r.ExitCode != nil && *r.ExitCode != 0 &&
		containsDenial(r.Output)
}

// deniedWords are parts of messages that programs print when the kernel denies an action.
var deniedWords = []string{
	"read-only file system", "permission denied", "operation not permitted",
	"network is unreachable", "name resolution", "could not resolve host", "name or service not known",
}

func containsDenial(output string) bool {
	output = strings.ToLower(output)
	return slices.ContainsFunc(deniedWords, func(words string) bool { return strings.Contains(output, words) })
}

// refusalText returns the output of a refused command: the reason and the next action.
func (s *step) refusalText(c *shellCommand) string {
	const never = ", and the approval policy does not permit to ask the user. "
	switch {
	case c.forbidden() || c.onlyRule:
		return c.ruleText()
	case c.Escalates:
		return "This command was not run: it asks to run outside of the sandbox" + never +
			"Call the tool without sandbox_permissions, or continue without the command."
	case c.Dangerous:
		return "This command was not run: it removes files by force (rm -f)" + never + "Remove the files without -f."
	}
	return "This command was not run: this system cannot confine commands to the sandbox" + never +
		"Continue without the command."
}

// forbidden reports whether a rule forbids the command.
func (c *shellCommand) forbidden() bool { return c.rule.Decision == toolspec.RuleForbids }

// ruleText returns the output of a command that a rule refuses.
func (c *shellCommand) ruleText() string {
	r := c.rule.Rule
	text := "This command was not run: the rule in " + r.Source + " forbids `" + r.Command() + "`."
	switch {
	case r.Decision == toolspec.RulePrompts:
		text = "This command was not run: the rule in " + r.Source + " has the user decide on `" + r.Command() +
			"`, and the approval policy does not permit to ask the user."
	case !c.rule.Certain:
		text = "This command was not run: it cannot be compared with the rule in " + r.Source + ", which forbids `" +
			r.Command() + "`, and the approval policy does not permit to ask the user. Write each program by its name, " +
			"without variables."
	}
	if r.Justification != "" {
		text += " " + r.Justification
	}
	return text
}

// ruleReason returns the reason of a question that only a rule asks, or "".
func (c *shellCommand) ruleReason() string {
	r := c.rule.Rule
	switch {
	case r == nil:
		return ""
	case r.Justification != "":
		return r.Justification
	case !c.rule.Certain:
		return "It may run `" + r.Command() + "`, on which the rule in " + r.Source + " decides."
	}
	return "The rule in " + r.Source + " asks before `" + r.Command() + "`."
}

// isApproved reports whether the user accepted the key for the session. Approvals do not hold for a
// reviewer.
func (s *step) isApproved(key string) bool { return s.reviewing() == nil && s.allowed[key] }

func (s *step) rememberApproval(key string) {
	if s.allowed == nil {
		s.allowed = map[string]bool{}
	}
	s.allowed[key] = true
}
