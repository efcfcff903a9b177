package state

import (
	"encoding/json"
	"reflect"
	"slices"

	"appserver/protocol"
)

// storedContext is a turn_context line whose values may come from another version.
type storedContext struct {
	protocol.TurnContext
	PermissionProfile protocol.PermissionProfile `json:"permission_profile"`
	ActiveProfile     *protocol.StoredProfile    `json:"active_permission_profile"`
	ApprovalPolicy    json.RawMessage            `json:"approval_policy"`
	ApprovalsReviewer json.RawMessage            `json:"approvals_reviewer"`
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
		s.applyProfile(stored.PermissionProfile, stored.ActiveProfile)
	}
	s.Settings.Roots = stored.WorkspaceRoots
	if slices.Equal(s.Settings.Roots, []string{s.Settings.Cwd}) {
		s.Settings.Roots = nil
	}
	s.applyApprovals(stored.ApprovalPolicy, stored.ApprovalsReviewer)
	s.Applied = string(payload)
}

// applyProfile applies a stored permission profile. The policy is never wider than the profile, except for the rule
// in Unenforced.
func (s *State) applyProfile(p protocol.PermissionProfile, active *protocol.StoredProfile) {
	s.Settings = s.Settings.WithPermissions(Permissions{Sandbox: p.Policy(s.Settings.Cwd), Profile: active.Active()})
	s.Settings.Unenforced = p.Unenforced()
}

// applyPolicy applies the sandbox policy of a turn. The named profile stays if the policy is the same.
func (s *State) applyPolicy(c *storedContext) {
	policy := c.SandboxPolicy.Policy()
	switch {
	case c.PermissionProfile.Type != "":
		s.applyProfile(c.PermissionProfile, c.ActiveProfile)
	case c.SandboxPolicy.Type != "" && !reflect.DeepEqual(policy, s.Settings.Sandbox):
		s.Settings = s.Settings.WithPermissions(Permissions{Sandbox: policy})
	}
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
	s.applyPolicy(&c)
	s.applyApprovals(c.ApprovalPolicy, c.ApprovalsReviewer)
	s.Settings.Effort, s.Settings.Summary, s.Settings.ServiceTier = c.Effort, c.Summary, c.ServiceTier
	s.Settings.Agents = protocol.MultiAgentModeOf(c.MultiAgentMode)
	if c.ModelProvider != "" {
		s.Settings.Provider, s.ProviderRecorded = c.ModelProvider, true
	}
}
