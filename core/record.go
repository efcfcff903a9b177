package core

import (
	"bytes"
	"cmp"

	"appserver/protocol"
)

// changeSettings makes settings those of a turn, "" before the first one: it writes
// them, and the lines change the state.
func (s *step) changeSettings(next Settings, turnID string) {
	s.record(protocol.LineTurnContext, turnContext(next, turnID))
	applied := protocol.SettingsApplied{Type: protocol.EventSettings, ThreadID: s.id, ThreadSettings: next.stored()}
	if raw, err := protocol.Marshal(applied); err == nil && string(raw) != s.applied {
		s.event(applied)
	}
	s.out.Sync = true
}

// adjustSettings does so only where they differ from those in force.
func (s *step) adjustSettings(next Settings, turnID string) {
	if !equalJSON(turnContext(s.settings, turnID), turnContext(next, turnID)) || !equalJSON(s.settings.stored(), next.stored()) {
		s.changeSettings(next, turnID)
	}
}

// equalJSON tells whether payloads of lines say the same.
func equalJSON(a, b any) bool {
	left, errLeft := protocol.Marshal(a)
	right, errRight := protocol.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// stored is the form of the event that keeps settings.
func (s Settings) stored() protocol.StoredSettings {
	return protocol.StoredSettings{
		Model: s.Model, ModelProviderID: s.Provider, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		PermissionProfile: s.Sandbox.Profile(s.Cwd), Cwd: s.Cwd,
		CollaborationMode: s.storedMode(),
	}
}

// storedMode is the form that keeps the mode.
func (s Settings) storedMode() protocol.StoredMode {
	return protocol.StoredMode{
		Mode:     cmp.Or(s.Mode, protocol.ModeDefault),
		Settings: protocol.StoredModeSettings{Model: s.Model, ReasoningEffort: s.Effort, DeveloperInstructions: s.ModeText},
	}
}

func turnContext(s Settings, turnID string) protocol.TurnContext {
	return protocol.TurnContext{
		TurnID: turnID, Cwd: s.Cwd, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		SandboxPolicy: s.Sandbox.Stored(), Model: s.Model, ModelProvider: s.Provider, Effort: s.Effort,
		Summary: summaryOr(s.Summary), ServiceTier: s.ServiceTier,
	}
}

func summaryOr(s string) string {
	if s == "" {
		return "auto"
	}
	return s
}
