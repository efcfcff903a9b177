package core

import "appserver/protocol"

// verdict is whether a command may run.
type verdict int

const (
	run verdict = iota
	ask
	forbid
)

// verdict decides by policy; docs/approvals.md has the table. A sandbox policy that
// the kernel does not enforce here confines nothing, so what is not known to only read
// needs the user's word.
func (s *step) verdict(c *shellCommand) verdict {
	policy, free := s.policy().Mode, unconfined(s.settings.Sandbox)
	switch {
	case s.remembers(c.key()):
		return run
	case policy == protocol.ApprovalUntrusted:
		return askUnless(c.safe && !c.escalates)
	case c.escalates && !s.asksOutside():
		return forbid
	case c.dangerous && policy == protocol.ApprovalNever:
		return forbid
	case c.dangerous:
		return ask
	case c.escalates:
		return askUnless(free)
	case c.safe, free, s.active.world.Enforced:
		return run
	case s.asksOutside():
		return ask
	}
	return forbid
}

func askUnless(trusted bool) verdict {
	if trusted {
		return run
	}
	return ask
}

// refusal tells the model why a command was not run, and what to do instead.
func (s *step) refusal(c *shellCommand) string {
	switch {
	case c.escalates:
		return "This command was not run: it asks to run outside of the sandbox, and the approval policy never asks the user for that. " +
			"Call the tool without sandbox_permissions, or do without the command."
	case c.dangerous:
		return "This command was not run: it removes files by force (rm -f), and the approval policy never asks the user. Remove them without -f."
	}
	return "This command was not run: commands cannot be confined to the sandbox here, and the approval policy never asks the user."
}

// danger is a reason to ask for a command, "" without one.
func (c *shellCommand) danger() string {
	if c.dangerous {
		return "This command removes files by force (rm -f)."
	}
	return ""
}

// key is what acceptForSession remembers: exactly this script in this directory, and
// whether it may run outside of the sandbox.
func (c *shellCommand) key() string {
	if c.outside || c.denied != nil || c.escalates {
		return c.outsideKey()
	}
	return c.cwd + "\x00" + c.exact()
}

// exact is the script, and what runs it where that is not the user's shell.
func (c *shellCommand) exact() string {
	if c.foreign {
		return c.argv[0] + "\x00" + c.script
	}
	return c.script
}
