package state

import (
	"cmp"

	"appserver/protocol"
)

// Settings are the settings of turns. They hold until a client changes them.
type Settings struct {
	Model          string
	Provider       string
	Cwd            string
	ApprovalPolicy protocol.AskForApproval
	Reviewer       protocol.ApprovalsReviewer
	Sandbox        protocol.SandboxPolicy
	// Profile names the permission profile of Sandbox, or is nil.
	Profile *protocol.ActiveProfile
	// Roots are the workspace roots that a client set, or nil for Cwd.
	Roots []string
	// Unenforced is a rule of the stored permission profile that Sandbox does not express, or "".
	Unenforced  string
	Effort      *string
	Summary     string
	ServiceTier *string
	// Mode is plan, or "" for the default. ModeText has the client's instructions for the mode, or
	// nil for the built-in ones.
	Mode     string
	ModeText *string
	// Agents is when the model starts other agents.
	Agents protocol.MultiAgentMode
}

// WithTurn returns the settings with the overrides of a turn/start. Permissions are those that the params name,
// or nil.
func (s Settings) WithTurn(p *protocol.TurnStartParams, permissions *Permissions) Settings {
	s = s.In(p.Cwd)
	protocol.Override(&s.Model, p.Model)
	protocol.Override(&s.ApprovalPolicy, p.ApprovalPolicy)
	protocol.Override(&s.Reviewer, p.ApprovalsReviewer)
	if p.SandboxPolicy != nil {
		s = s.WithPermissions(Permissions{Sandbox: *p.SandboxPolicy})
	}
	if permissions != nil {
		s = s.WithPermissions(*permissions)
	}
	protocol.Override(&s.Summary, p.Summary)
	protocol.OverrideOptional(&s.Effort, p.Effort)
	protocol.OverrideOptional(&s.ServiceTier, p.ServiceTier)
	protocol.Override(&s.Agents, p.MultiAgentMode)
	return s.withMode(p.CollaborationMode)
}

// withMode returns the settings with the settings of a mode, which take precedence. A nil mode changes
// nothing.
func (s Settings) withMode(m *protocol.CollaborationMode) Settings {
	if m == nil {
		return s
	}
	s.Mode = ""
	if m.Mode == protocol.ModePlan {
		s.Mode = m.Mode
	}
	replace(&s.Model, m.Settings.Model)
	s.Effort, s.ModeText = m.Settings.ReasoningEffort, m.Settings.DeveloperInstructions
	return s
}

// WithResume returns the settings with the overrides of a thread/resume, except its permissions.
func (s Settings) WithResume(p *protocol.ThreadResumeParams) Settings {
	s = s.In(p.Cwd)
	protocol.Override(&s.Model, p.Model)
	protocol.Override(&s.Provider, p.ModelProvider)
	protocol.Override(&s.ApprovalPolicy, p.ApprovalPolicy)
	protocol.Override(&s.Reviewer, p.ApprovalsReviewer)
	protocol.OverrideOptional(&s.ServiceTier, p.ServiceTier)
	return s
}

// Stored returns the form of the thread_settings_applied event.
func (s Settings) Stored() protocol.StoredSettings {
	return protocol.StoredSettings{
		Model: s.Model, ModelProviderID: s.Provider, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		PermissionProfile: s.Sandbox.Profile(s.Cwd), ActiveProfile: s.Profile.Stored(), Cwd: s.Cwd, WorkspaceRoots: s.Roots,
		CollaborationMode: s.StoredMode(),
	}
}

// StoredMode returns the form of the mode.
func (s Settings) StoredMode() protocol.StoredMode {
	return protocol.StoredMode{
		Mode:     cmp.Or(s.Mode, protocol.ModeDefault),
		Settings: protocol.StoredModeSettings{Model: s.Model, ReasoningEffort: s.Effort, DeveloperInstructions: s.ModeText},
	}
}

// TurnContext returns the turn_context line of a turn with these settings, or of a thread before its
// first turn ("").
func (s Settings) TurnContext(turnID string) protocol.TurnContext {
	return protocol.TurnContext{
		TurnID: turnID, Cwd: s.Cwd, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		SandboxPolicy: s.Sandbox.Stored(), Model: s.Model, ModelProvider: s.Provider, Effort: s.Effort,
		Summary: cmp.Or(s.Summary, "auto"), ServiceTier: s.ServiceTier, MultiAgentMode: s.Agents.Stored(),
	}
}

// replace replaces a text unless the new one is empty.
func replace(to *string, from string) {
	if from != "" {
		*to = from
	}
}
