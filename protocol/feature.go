package protocol

import "encoding/json"

// ExperimentalFeatureListParams asks for switches of the configuration. ThreadID has no
// effect: the configuration that threads begin with counts.
type ExperimentalFeatureListParams struct {
	Cursor   *string `json:"cursor,omitempty"`
	Limit    *uint32 `json:"limit,omitempty"`
	ThreadID *string `json:"threadId,omitempty"`
}

// ExperimentalFeatureListResponse is a page of the list of switches.
type ExperimentalFeatureListResponse struct {
	Data       []ExperimentalFeature `json:"data"`
	NextCursor *string               `json:"nextCursor"`
}

// ExperimentalFeature is a switch: features.NAME of the configuration. DisplayName, Description and
// Announcement are null for features that are not offered to people.
type ExperimentalFeature struct {
	Name           string  `json:"name"`
	Stage          string  `json:"stage" oneof:"beta underDevelopment stable deprecated removed"`
	DisplayName    *string `json:"displayName"`
	Description    *string `json:"description"`
	Announcement   *string `json:"announcement"`
	Enabled        bool    `json:"enabled"`
	DefaultEnabled bool    `json:"defaultEnabled"`
}

// CollaborationModeListParams asks for the modes of turn/start.
type CollaborationModeListParams struct{}

// CollaborationModeListResponse is the modes, with what each would set.
type CollaborationModeListResponse struct {
	Data []CollaborationModeMask `json:"data"`
}

// CollaborationModeMask is a mode; null leaves as it is what a thread has.
type CollaborationModeMask struct {
	Name            string  `json:"name"`
	Mode            *string `json:"mode" oneof:"plan default"`
	Model           *string `json:"model"`
	ReasoningEffort *string `json:"reasoning_effort"`
}

// The modes of CollaborationModeMask.
const (
	ModePlan    = "plan"
	ModeDefault = "default"
)

// PermissionProfileListParams requests the permission profiles of threads in Cwd, by default the directory of the
// server.
type PermissionProfileListParams struct {
	Cursor *string `json:"cursor,omitempty"`
	Limit  *uint32 `json:"limit,omitempty"`
	Cwd    *string `json:"cwd,omitempty"`
}

// PermissionProfileListResponse is a page of the list of profiles.
type PermissionProfileListResponse struct {
	Data       []PermissionProfileSummary `json:"data"`
	NextCursor *string                    `json:"nextCursor"`
}

// PermissionProfileSummary is a built-in permission profile, or one of the configuration. If it has a rule that this
// server cannot enforce, Allowed is false and Description is the reason.
type PermissionProfileSummary struct {
	ID          string  `json:"id"`
	Description *string `json:"description"`
	Allowed     bool    `json:"allowed"`
}

// ConfigRequirementsReadParams asks what an administrator demands of the configuration.
type ConfigRequirementsReadParams struct{}

// ConfigRequirementsReadResponse reports that there are no requirements. Both members are always null.
type ConfigRequirementsReadResponse struct {
	SupportsIndependentSpeedModes *bool           `json:"supportsIndependentSpeedModes"`
	Requirements                  json.RawMessage `json:"requirements"`
}

// HooksListParams asks for the hooks of working directories, of the server's own without
// Cwds. ThreadID has no effect.
type HooksListParams struct {
	Cwds     []string `json:"cwds,omitempty"`
	ThreadID *string  `json:"threadId,omitempty"`
}

// HooksListResponse is the hooks by working directory.
type HooksListResponse struct {
	Data []HooksListEntry `json:"data"`
}

// HooksListEntry has the hooks of a working directory. The lists are always empty, because the server
// does not run hooks.
type HooksListEntry struct {
	Cwd      string            `json:"cwd"`
	Hooks    []json.RawMessage `json:"hooks"`
	Warnings []string          `json:"warnings"`
	Errors   []json.RawMessage `json:"errors"`
}
