package toolspec

import (
	"appserver/core/pure/command"
	"appserver/protocol"
)

// Verdict is the decision about a call before it runs.
type Verdict int

// The verdicts: the call runs, the user decides, or the model gets a refusal.
const (
	Run Verdict = iota
	Ask
	Refuse
)

// Rules decide whether calls run. Calls that the user accepted for the session need no verdict.
type Rules struct {
	Policy  protocol.AskForApproval
	Sandbox protocol.SandboxPolicy
	// Cwd is the working directory of the thread, an absolute path.
	Cwd string
	// Enforced is set if the kernel can confine commands to the sandbox policy.
	Enforced bool
	// ConfinesReading is set if the kernel can confine commands to reading.
	ConfinesReading bool
}

// Command returns the verdict on a command. If the kernel cannot confine commands, a sandbox policy
// confines nothing, so the user decides on each command that does not certainly read only.
func (r Rules) Command(c *Command) Verdict {
	unconfined := Unconfined(r.Sandbox)
	switch {
	case r.Policy.Mode == protocol.ApprovalUntrusted:
		return askUnless(r.certainlyReads(c) && !c.Escalates)
	case c.Escalates && !AsksOutside(r.Policy):
		return Refuse
	case c.Dangerous && r.Policy.Mode == protocol.ApprovalNever:
		return Refuse
	case c.Dangerous:
		return Ask
	case c.Escalates:
		return askUnless(unconfined)
	case unconfined, r.Enforced, r.certainlyReads(c):
		return Run
	}
	return r.askOrRefuse()
}

// certainlyReads reports whether a command does nothing but read: the kernel confines it, or its text leaves no doubt.
func (r Rules) certainlyReads(c *Command) bool {
	return c.Reading == command.ReadsAnywhere || c.Reads() && r.ConfinesReading
}

// RunsToRead reports whether a command that no user accepted runs only because it reads. Such a command must be
// confined to reading if the kernel can do that, whatever the sandbox policy permits.
func (r Rules) RunsToRead(c *Command) bool {
	untrusted := r.Policy.Mode == protocol.ApprovalUntrusted
	return r.certainlyReads(c) && !c.Escalates && (untrusted || !r.Enforced && !Unconfined(r.Sandbox))
}

// Patch returns the verdict on a patch of these files, absolute paths. It does not depend on the
// kernel, since the server writes the files.
func (r Rules) Patch(files []string) Verdict {
	switch {
	case r.Policy.Mode == protocol.ApprovalUntrusted:
		return Ask
	case r.mayWrite(files):
		return Run
	}
	return r.askOrRefuse()
}

// ServerTool returns the verdict on a call of a server's tool, by its approval mode, its hints and
// the policy.
func (r Rules) ServerTool(t *ServerTool) Verdict {
	switch {
	case t.Approval == approveAlways, t.Harmless():
		return Run
	case t.Approval != approvePrompt && r.Policy.Mode == protocol.ApprovalNever && Unconfined(r.Sandbox):
		return Run
	case !Elicits(r.Policy):
		return Refuse
	}
	return Ask
}

func (r Rules) askOrRefuse() Verdict {
	if AsksOutside(r.Policy) {
		return Ask
	}
	return Refuse
}

func askUnless(trusted bool) Verdict {
	if trusted {
		return Run
	}
	return Ask
}

// Unconfined reports whether a sandbox policy does not restrict commands.
func Unconfined(policy protocol.SandboxPolicy) bool {
	switch policy.SandboxPolicyVariant.(type) {
	case *protocol.DangerFullAccess, *protocol.ExternalSandbox:
		return true
	}
	return false
}

// AsksOutside reports whether the user decides on actions that the sandbox does not permit.
func AsksOutside(p protocol.AskForApproval) bool {
	switch p.Mode {
	case protocol.ApprovalNever:
		return false
	case protocol.ApprovalGranular:
		return p.Granular.SandboxApproval
	}
	return true
}

// AsksForRules reports whether the user decides on commands if a rule says so.
func AsksForRules(p protocol.AskForApproval) bool {
	return p.Mode != protocol.ApprovalNever && (p.Granular == nil || p.Granular.Rules)
}

// Elicits reports whether MCP servers may ask the user, and whether the user decides on their tools.
func Elicits(p protocol.AskForApproval) bool {
	return p.Mode != protocol.ApprovalNever && (p.Granular == nil || p.Granular.McpElicitations)
}
