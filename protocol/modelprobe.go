package protocol

// ModelProviderProbeParams requests a check of a provider. It has no key: the server uses the one
// that its configuration names.
type ModelProviderProbeParams struct {
	ModelProvider string `json:"modelProvider"`
	// Model is the model to check. The default is the provider's default for threads.
	Model *string `json:"model,omitempty"`
	// Test also requests a short answer of the model. The provider may charge for it.
	Test *bool `json:"test,omitempty"`
}

// ModelProviderProbeResponse is the result of a check of a provider.
type ModelProviderProbeResponse struct {
	ModelProvider string `json:"modelProvider"`
	Name          string `json:"name"`
	// BaseURL is the address without secrets. It is null for a provider without a network.
	BaseURL *string `json:"baseUrl"`
	// Reachable reports whether the address answered. It is null if no request was sent.
	Reachable *bool `json:"reachable"`
	// Local is set if the address is on this machine or in its network.
	Local bool             `json:"local"`
	Key   ModelProviderKey `json:"key"`
	// Models are the models that threads can use, the default first, at most 200. ModelCount is the number
	// of all.
	Models     []Model `json:"models"`
	ModelCount int     `json:"modelCount"`
	// Test is null unless a model was asked for an answer.
	Test *ModelProviderTest `json:"test"`
	// Problem is the first thing that failed, or null.
	Problem *ModelProviderProblem `json:"problem"`
}

// ModelProviderKey describes the key of a provider. Clients never get the key.
type ModelProviderKey struct {
	// Needed reports whether the provider needs a key, or is null if unknown.
	Needed  *bool `json:"needed"`
	Present bool  `json:"present"`
	// Accepted reports whether the provider accepted the key, or is null if unknown.
	Accepted *bool `json:"accepted"`
	// Source is the source of the key. EnvKey is the variable of the server's environment that has the key, or that
	// could have it, or null.
	Source string  `json:"source" oneof:"none stored environmentVariable configuration login"`
	EnvKey *string `json:"envKey"`
}

// ModelProviderTest is the answer of a model.
type ModelProviderTest struct {
	Model string `json:"model"`
	// Text is the beginning of the answer, or null if the model did not answer.
	Text *string `json:"text"`
	// DurationMs is the time from the request to the end of the answer, in milliseconds.
	DurationMs int64 `json:"durationMs"`
	// Tokens is null if the provider reported no usage.
	Tokens *TokenUsageBreakdown `json:"tokens"`
}

// ModelProviderProblem describes why a provider cannot be used.
type ModelProviderProblem struct {
	// Kind is configuration for a provider that lacks a setting, keyMissing, keyRejected, unreachable,
	// noModelServer for an address that answers something else, noModels, modelNotFound, timeout, or
	// failed for other errors of the provider.
	Kind string `json:"kind" oneof:"configuration keyMissing keyRejected unreachable noModelServer noModels modelNotFound timeout failed"`
	// Message names what failed and on what. Advice is the next action of the user, or null.
	Message string  `json:"message"`
	Advice  *string `json:"advice"`
}

// The kinds of ModelProviderProblem.
const (
	ProbeConfiguration = "configuration"
	ProbeKeyMissing    = "keyMissing"
	ProbeKeyRejected   = "keyRejected"
	ProbeUnreachable   = "unreachable"
	ProbeNoModelServer = "noModelServer"
	ProbeNoModels      = "noModels"
	ProbeModelNotFound = "modelNotFound"
	ProbeTimeout       = "timeout"
	ProbeFailed        = "failed"
)
