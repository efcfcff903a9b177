package protocol

import "encoding/json"

// ModelListParams asks for the models that turns can use, hidden ones with
// IncludeHidden only. They come in one page, whatever Cursor and Limit say.
type ModelListParams struct {
	ModelProvider *string `json:"modelProvider,omitempty"`
	Cursor        *string `json:"cursor,omitempty"`
	Limit         *uint32 `json:"limit,omitempty"`
	IncludeHidden *bool   `json:"includeHidden,omitempty"`
}

// ModelListResponse is the list of models. NextCursor is always null.
type ModelListResponse struct {
	Data       []Model `json:"data"`
	NextCursor *string `json:"nextCursor"`
}

// Model is a model that turns can use. Turns name it by Model. What belongs to the
// vendor's own models only is null or empty always.
type Model struct {
	ID                        string                  `json:"id"`
	Model                     string                  `json:"model"`
	Upgrade                   *string                 `json:"upgrade"`
	UpgradeInfo               json.RawMessage         `json:"upgradeInfo"`
	AvailabilityNux           json.RawMessage         `json:"availabilityNux"`
	DisplayName               string                  `json:"displayName"`
	Description               string                  `json:"description"`
	ModelSpecialty            *string                 `json:"modelSpecialty"`
	Hidden                    bool                    `json:"hidden"`
	SupportedReasoningEfforts []ReasoningEffortOption `json:"supportedReasoningEfforts"`
	DefaultReasoningEffort    string                  `json:"defaultReasoningEffort"`
	InputModalities           []string                `json:"inputModalities" oneof:"text image audio"`
	SupportsPersonality       bool                    `json:"supportsPersonality"`
	MultiAgentVersion         *string                 `json:"multiAgentVersion" oneof:"disabled v1 v2"`
	AdditionalSpeedTiers      []string                `json:"additionalSpeedTiers"`
	ServiceTiers              []json.RawMessage       `json:"serviceTiers"`
	DefaultServiceTier        *string                 `json:"defaultServiceTier"`
	AvailableAccessPrograms   json.RawMessage         `json:"availableAccessPrograms"`
	IsDefault                 bool                    `json:"isDefault"`
}

// ReasoningEffortOption is an effort that a model offers.
type ReasoningEffortOption struct {
	ReasoningEffort string `json:"reasoningEffort"`
	Description     string `json:"description"`
}

// ConfigReadParams asks for the configuration in force. Cwd makes no difference:
// there are no configuration files of projects.
type ConfigReadParams struct {
	IncludeLayers bool    `json:"includeLayers,omitempty"`
	Cwd           *string `json:"cwd,omitempty"`
}

// ConfigReadResponse is the configuration in force, where each value comes from
// (by dotted key), and the layers it is made of, the strongest first; null where
// they were not asked for.
type ConfigReadResponse struct {
	Config  map[string]any                 `json:"config"`
	Origins map[string]ConfigLayerMetadata `json:"origins"`
	Layers  []ConfigLayer                  `json:"layers"`
}

// ConfigLayerMetadata names a layer and its version, a hash of its content.
type ConfigLayerMetadata struct {
	Name    ConfigLayerSource `json:"name"`
	Version string            `json:"version"`
}

// ConfigLayer is one source of configuration. DisabledReason is null for a layer
// that is in force.
type ConfigLayer struct {
	Name           ConfigLayerSource `json:"name"`
	Version        string            `json:"version"`
	Config         map[string]any    `json:"config"`
	DisabledReason *string           `json:"disabledReason"`
}

// ConfigLayerSource is the user's file, or the flags of the command line.
type ConfigLayerSource struct {
	Type string
	File string
}

// The types of a ConfigLayerSource.
const (
	LayerUser         = "user"
	LayerSessionFlags = "sessionFlags"
)

// MarshalJSON writes the members of the layer's type.
func (s ConfigLayerSource) MarshalJSON() ([]byte, error) {
	if s.Type == LayerUser {
		return marshal(struct {
			Type    string  `json:"type"`
			File    string  `json:"file"`
			Profile *string `json:"profile"`
		}{s.Type, s.File, nil})
	}
	return marshal(map[string]string{"type": s.Type})
}
