package protocol

import "encoding/json"

// ModelListParams requests the models for turns, hidden ones only with IncludeHidden. The provider is
// ModelProvider, or the default of new threads. Cursor is the NextCursor of the page before. Without
// Limit, one page has all models.
type ModelListParams struct {
	ModelProvider *string `json:"modelProvider,omitempty"`
	Cursor        *string `json:"cursor,omitempty"`
	Limit         *uint32 `json:"limit,omitempty"`
	IncludeHidden *bool   `json:"includeHidden,omitempty"`
}

// ModelListResponse is a page of the list of models.
type ModelListResponse struct {
	Data       []Model `json:"data"`
	NextCursor *string `json:"nextCursor"`
}

// Model is a model for turns. Turns name it by Model. ContextWindow is in tokens, or null if unknown.
// Members that concern only the vendor's own models are always null or empty.
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
	ContextWindow             *int64                  `json:"contextWindow"`
}

// ReasoningEffortOption is an effort that a model offers.
type ReasoningEffortOption struct {
	ReasoningEffort string `json:"reasoningEffort"`
	Description     string `json:"description"`
}

// ModelProviderListParams asks for the providers of models.
type ModelProviderListParams struct{}

// ModelProviderListResponse is the providers that are built in and configured, by id.
// DefaultProviderID is the one that threads get unasked. CanChangeDefault is always true:
// model_provider of the configuration can be written.
type ModelProviderListResponse struct {
	Data              []ModelProviderSummary `json:"data"`
	DefaultProviderID string                 `json:"defaultProviderId"`
	CanChangeDefault  bool                   `json:"canChangeDefault"`
}

// ModelProviderSummary is a provider of models. CanEdit is always false: there is no method
// that edits a provider; its configuration can be written.
type ModelProviderSummary struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	CanEdit  bool             `json:"canEdit"`
	BaseURL  *string          `json:"baseUrl"`
	Settings ProviderSettings `json:"settings"`
}

// ProviderSettings describe the connection to a provider. Auth is absent for openai.
type ProviderSettings struct {
	Type string       `json:"type" oneof:"openai customGateway"`
	Auth *GatewayAuth `json:"auth,omitempty"`
}

// MarshalJSON writes the members of the type: a provider of one's own without Auth has none.
func (s ProviderSettings) MarshalJSON() ([]byte, error) {
	type plain ProviderSettings
	switch {
	case s.Type != ProviderCustom:
		s.Auth = nil
	case s.Auth == nil:
		s.Auth = &GatewayAuth{Mode: "none"}
	}
	return marshal(plain(s))
}

// The types of ProviderSettings.
const (
	ProviderOpenAI = "openai"
	ProviderCustom = "customGateway"
)

// GatewayAuth is the source of a provider's key: the variable EnvKey, none, or headers and tokens in
// the configuration, which are not sent to clients.
type GatewayAuth struct {
	Mode   string  `json:"mode" oneof:"none environmentVariable externallyConfigured"`
	EnvKey *string `json:"envKey,omitempty"`
}

// ModelProviderCapabilitiesReadParams asks what the default provider can do.
type ModelProviderCapabilitiesReadParams struct{}

// ModelProviderCapabilitiesReadResponse reports that no tools run at the provider.
type ModelProviderCapabilitiesReadResponse struct {
	ImageGeneration bool `json:"imageGeneration"`
	WebSearch       bool `json:"webSearch"`
}
