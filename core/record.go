package core

import (
	"bytes"
	"cmp"

	"appserver/protocol"
)

// changeSettings records the settings of a turn, or of a thread before its first turn ("").
func (s *step) changeSettings(next Settings, turnID string) {
	s.record(protocol.LineTurnContext, turnContext(next, turnID))
	applied := protocol.SettingsApplied{Type: protocol.EventSettings, ThreadID: s.id, ThreadSettings: next.stored()}
	if raw, err := protocol.Marshal(applied); err == nil && string(raw) != s.applied {
		s.event(applied)
	}
	s.out.Sync = true
}

// adjustSettings records settings that differ from the current ones.
func (s *step) adjustSettings(next Settings, turnID string) {
	if !equalJSON(turnContext(s.settings, turnID), turnContext(next, turnID)) ||
		!equalJSON(s.settings.stored(), next.stored()) {
		s.changeSettings(next, turnID)
	}
}

// equalJSON reports whether two values have the same encoding.
func equalJSON(a, b any) bool {
	left, errLeft := protocol.Marshal(a)
	right, errRight := protocol.Marshal(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// stored returns the form of the event.
func (s Settings) stored() protocol.StoredSettings {
	return protocol.StoredSettings{
		Model: s.Model, ModelProviderID: s.Provider, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		PermissionProfile: s.Sandbox.Profile(s.Cwd), Cwd: s.Cwd,
		CollaborationMode: s.storedMode(),
	}
}

// storedMode returns the form of the mode.
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
