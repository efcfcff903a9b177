package protocol

import "encoding/json"

// ModelListParams requests the models for turns.
type ModelListParams struct {
	// ModelProvider is the provider. The default is the provider of new threads.
	ModelProvider *string `json:"modelProvider,omitempty"`
	// Cursor is the nextCursor of the page before.
	Cursor *string `json:"cursor,omitempty"`
	// Limit is the maximum number of models of a page. By default, one page has all.
	Limit *uint32 `json:"limit,omitempty"`
	// IncludeHidden also lists hidden models: models that do not answer with text, and the models
	// that other usable providers have without a choice.
	IncludeHidden *bool `json:"includeHidden,omitempty"`
	// FindLocal also lists the models of Ollama, LM Studio, llama-server and vLLM, if they answer at
	// their addresses on this machine.
	FindLocal *bool `json:"findLocal,omitempty"`
}

// ModelListResponse is a page of the list of models.
type ModelListResponse struct {
	Data       []Model `json:"data"`
	NextCursor *string `json:"nextCursor"`
}

// Model is a model for turns. Members that concern only the vendor's own models are always null or
// empty.
type Model struct {
	ID string `json:"id"`
	// Model is the name of the model in turn/start.
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
	// ModelProvider is the provider of the model, for thread/start.
	ModelProvider string `json:"modelProvider"`
	// Available reports whether the provider can be used now: it has an address and its key, and
	// answered if it is on this machine. It is null for a provider on this machine that was not
	// asked. UnavailableReason says what is missing.
	Available         *bool   `json:"available"`
	UnavailableReason *string `json:"unavailableReason"`
	// ContextWindow is in tokens, or null if unknown. ContextWindowSource is null without it.
	ContextWindow       *int64         `json:"contextWindow"`
	ContextWindowSource *string        `json:"contextWindowSource" oneof:"configuration provider table"`
	Abilities           ModelAbilities `json:"abilities"`
	// Prices is null if no price is known.
	Prices *ModelPrices `json:"prices"`
}

// The sources of facts about models: the user's configuration, the provider itself, and the table of
// the program.
const (
	ModelSourceConfiguration = "configuration"
	ModelSourceProvider      = "provider"
	ModelSourceTable         = "table"
)

// ModelAbilities are the abilities of a model. An unknown ability is null.
type ModelAbilities struct {
	// Tools is the ability to call tools.
	Tools *ModelAbility `json:"tools"`
	// Images is the ability to read images.
	Images *ModelAbility `json:"images"`
	// Reasoning is the ability to reason before an answer.
	Reasoning *ModelAbility `json:"reasoning"`
}

// ModelAbility reports whether a model has an ability, and the source of this fact.
type ModelAbility struct {
	Supported bool   `json:"supported"`
	Source    string `json:"source" oneof:"configuration provider table"`
}

// ModelPrices are prices for a million tokens. An unknown price is null.
type ModelPrices struct {
	Input *float64 `json:"input"`
	// CachedInput is for input tokens that the provider reads from its cache.
	CachedInput *float64 `json:"cachedInput"`
	Output      *float64 `json:"output"`
	// Currency is USD, or null for prices of the configuration, which can be in any currency.
	Currency *string `json:"currency"`
	Source   string  `json:"source" oneof:"configuration provider table"`
}

// ReasoningEffortOption is a reasoning effort that a model supports.
type ReasoningEffortOption struct {
	ReasoningEffort string `json:"reasoningEffort"`
	Description     string `json:"description"`
}

// ModelProviderListParams requests the model providers.
type ModelProviderListParams struct{}

// ModelProviderListResponse has the built-in and the configured model providers, by id.
type ModelProviderListResponse struct {
	Data []ModelProviderSummary `json:"data"`
	// DefaultProviderID is the provider of new threads.
	DefaultProviderID string `json:"defaultProviderId"`
	// CanChangeDefault is always true: model_provider of the configuration can be written.
	CanChangeDefault bool `json:"canChangeDefault"`
}

// ModelProviderSummary is a model provider.
type ModelProviderSummary struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// CanEdit reports whether modelProvider/config/write can change the provider: one that is not built in, and is in the
	// user's file.
	CanEdit  bool             `json:"canEdit"`
	BaseURL  *string          `json:"baseUrl"`
	Settings ProviderSettings `json:"settings"`
	// KeySource is the source of the key that counts: one that the user has typed, a variable of the server's
	// environment, the configuration, or the login of the user.
	KeySource string `json:"keySource" oneof:"none stored environmentVariable configuration login"`
	// Ready reports whether turns can use the provider. Problem is the reason and the next action if they cannot, or if a
	// typed key is not used.
	Ready   bool    `json:"ready"`
	Problem *string `json:"problem"`
}

// The sources of keys.
const (
	KeyNone          = "none"
	KeyStored        = "stored"
	KeyEnvironment   = "environmentVariable"
	KeyConfiguration = "configuration"
	KeyLogin         = "login"
)

// ModelProviderKeyWriteParams stores the key of a provider, in place of another one.
type ModelProviderKeyWriteParams struct {
	ModelProvider string `json:"modelProvider"`
	APIKey        string `json:"apiKey"`
	// AllowHTTP permits an address with http on another machine, to which the key goes without encryption.
	AllowHTTP bool `json:"allowHttp,omitempty"`
}

// ModelProviderKeyWriteResponse has the provider after the change.
type ModelProviderKeyWriteResponse struct {
	Provider ModelProviderSummary `json:"provider"`
}

// ModelProviderKeyDeleteParams removes the stored key of a provider. The provider need not be configured any more.
type ModelProviderKeyDeleteParams struct {
	ModelProvider string `json:"modelProvider"`
}

// ModelProviderKeyDeleteResponse reports whether there was a key.
type ModelProviderKeyDeleteResponse struct {
	Removed bool `json:"removed"`
}

// ModelProviderChangedNotification reports that the result of modelProvider/list changed.
type ModelProviderChangedNotification struct{}

// NotificationMethod returns the method.
func (ModelProviderChangedNotification) NotificationMethod() string { return "modelProvider/changed" }

// ProviderSettings describes the connection to a provider.
type ProviderSettings struct {
	Type string `json:"type" oneof:"openai customGateway"`
	// Auth is absent for openai.
	Auth *GatewayAuth `json:"auth,omitempty"`
}

// MarshalJSON encodes the members of the type.
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

// GatewayAuth is the source of a provider's key. Clients never get the key.
type GatewayAuth struct {
	// Mode is the source in the configuration: environmentVariable for the variable EnvKey, externallyConfigured for
	// headers and tokens, or none. A typed key counts before it.
	Mode   string  `json:"mode" oneof:"none environmentVariable externallyConfigured"`
	EnvKey *string `json:"envKey,omitempty"`
}

// ModelProviderCapabilitiesReadParams requests the capabilities of the default provider.
type ModelProviderCapabilitiesReadParams struct{}

// ModelProviderCapabilitiesReadResponse reports that no tools run at the provider.
type ModelProviderCapabilitiesReadResponse struct {
	ImageGeneration bool `json:"imageGeneration"`
	WebSearch       bool `json:"webSearch"`
}
