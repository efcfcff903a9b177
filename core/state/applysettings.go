package state

import (
	"encoding/json"

	"appserver/protocol"
)

// storedContext is a turn_context line whose values may come from another version.
type storedContext struct {
	protocol.TurnContext
	ApprovalPolicy    json.RawMessage `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
}

// storedSettings is a thread_settings_applied event whose values may come from another version.
type storedSettings struct {
	protocol.StoredSettings
	ApprovalPolicy    json.RawMessage `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage `json:"approvals_reviewer"`
}

// applySettings applies the settings that the reference implementation stores. Absent settings do not
// change.
func (s *State) applySettings(payload json.RawMessage) {
	var e struct {
		ThreadSettings *storedSettings `json:"thread_settings"`
	}
	if protocol.Unmarshal(payload, &e) != nil || e.ThreadSettings == nil {
		return
	}
	stored := e.ThreadSettings
	replace(&s.Settings.Cwd, stored.Cwd)
	replace(&s.Settings.Model, stored.Model)
	s.ModelRecorded = s.ModelRecorded || stored.Model != ""
	replace(&s.Settings.Provider, stored.ModelProviderID)
	s.ProviderRecorded = s.ProviderRecorded || stored.ModelProviderID != ""
	if mode := stored.CollaborationMode; mode.Mode != "" {
		s.Settings = s.Settings.withMode(&protocol.CollaborationMode{Mode: mode.Mode,
			Settings: protocol.CollaborationModeSettings{
				ReasoningEffort:       mode.Settings.ReasoningEffort,
				DeveloperInstructions: mode.Settings.DeveloperInstructions,
			}})
	}
	if stored.PermissionProfile.Type != "" {
		s.Settings.Sandbox = stored.PermissionProfile.Policy(s.Settings.Cwd)
	}
	s.applyApprovals(stored.ApprovalPolicy, stored.ApprovalsReviewer)
	s.Applied = string(payload)
}

// applyApprovals applies the approval policy and its reviewer. An unknown policy becomes on-request.
// An absent one does not change.
func (s *State) applyApprovals(policy, reviewer json.RawMessage) {
	if len(policy) > 0 && protocol.Unmarshal(policy, &s.Settings.ApprovalPolicy) != nil {
		s.Settings.ApprovalPolicy = protocol.AskForApproval{Mode: protocol.ApprovalOnRequest}
	}
	var who protocol.ApprovalsReviewer
	if protocol.Unmarshal(reviewer, &who) == nil {
		s.Settings.Reviewer = who
	}
}

// applyTurnContext applies the settings of a turn.
func (s *State) applyTurnContext(payload json.RawMessage) {
	var c storedContext
	if protocol.Unmarshal(payload, &c) != nil {
		return
	}
	replace(&s.Settings.Cwd, c.Cwd)
	replace(&s.Settings.Model, c.Model)
	s.ModelRecorded = s.ModelRecorded || c.Model != ""
	if c.SandboxPolicy.Type != "" {
		s.Settings.Sandbox = c.SandboxPolicy.Policy()
	}
	s.applyApprovals(c.ApprovalPolicy, c.ApprovalsReviewer)
	s.Settings.Effort, s.Settings.Summary, s.Settings.ServiceTier = c.Effort, c.Summary, c.ServiceTier
	if c.ModelProvider != "" {
		s.Settings.Provider, s.ProviderRecorded = c.ModelProvider, true
	}
}
