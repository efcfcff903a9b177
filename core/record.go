package core

import (
	"appserver/protocol"
)

// recordSettings writes the settings of a turn, "" before the first one.
func (s *step) recordSettings(turnID string) {
	s.record(protocol.LineTurnContext, s.turnContext(turnID))
	applied := protocol.SettingsApplied{Type: protocol.EventSettings, ThreadID: s.id, ThreadSettings: s.storedSettings()}
	if raw, err := protocol.Marshal(applied); err == nil && string(raw) != s.applied {
		s.event(applied)
	}
}

func (t *Thread) storedSettings() protocol.StoredSettings {
	s := t.settings
	return protocol.StoredSettings{
		Model: s.Model, ModelProviderID: s.Provider, ApprovalPolicy: s.ApprovalPolicy, ApprovalsReviewer: s.Reviewer,
		PermissionProfile: s.Sandbox.Profile(s.Cwd), Cwd: s.Cwd,
		CollaborationMode: protocol.StoredMode{Mode: "default", Settings: protocol.StoredModeSettings{Model: s.Model, ReasoningEffort: s.Effort}},
	}
}

func (t *Thread) turnContext(turnID string) protocol.TurnContext {
	s := t.settings
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
