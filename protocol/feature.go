package protocol

import "encoding/json"

// ExperimentalFeatureListParams requests the switches of the configuration.
type ExperimentalFeatureListParams struct {
	Cursor *string `json:"cursor,omitempty"`
	Limit  *uint32 `json:"limit,omitempty"`
	// ThreadID has no effect: the response has the configuration of new threads.
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

// CollaborationModeListParams requests the modes for turn/start.
type CollaborationModeListParams struct{}

// CollaborationModeListResponse lists the modes and their settings.
type CollaborationModeListResponse struct {
	Data []CollaborationModeMask `json:"data"`
}

// CollaborationModeMask is a mode with its settings. A null setting keeps the setting of the
// thread.
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

// ConfigRequirementsReadParams requests the requirements of an administrator for the configuration.
type ConfigRequirementsReadParams struct{}

// ConfigRequirementsReadResponse reports that there are no requirements. Both members are always null.
type ConfigRequirementsReadResponse struct {
	SupportsIndependentSpeedModes *bool           `json:"supportsIndependentSpeedModes"`
	Requirements                  json.RawMessage `json:"requirements"`
}

// HooksListParams requests the hooks of working directories.
type HooksListParams struct {
	// Cwds are the working directories. The default is the server's own.
	Cwds []string `json:"cwds,omitempty"`
	// ThreadID has no effect.
	ThreadID *string `json:"threadId,omitempty"`
}

// HooksListResponse lists the hooks by working directory.
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
