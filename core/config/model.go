package config

import (
	"encoding/json"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// DefaultModel is the model of the provider openai where none is configured.
const DefaultModel = "gpt-5"

// impliedModels are the models of providers that can choose one by themselves.
var impliedModels = map[string]string{
	ProviderOpenAI:  DefaultModel,
	ProviderOffline: "offline",
}

// modelFor is the model for a provider that a thread asks for without a model;
// empty where none is known.
func (c *Config) modelFor(provider string) string {
	if implied := impliedModels[provider]; implied != "" && provider != c.ModelProvider {
		return implied
	}
	return c.Model
}

// efforts are the reasoning efforts that every client can read.
var efforts = []protocol.ReasoningEffortOption{
	{ReasoningEffort: "none", Description: "Answers without thinking first"},
	{ReasoningEffort: "minimal", Description: "Thinks as little as it can"},
	{ReasoningEffort: "low", Description: "Thinks briefly, answers soon"},
	{ReasoningEffort: "medium", Description: "Thinks as long as everyday work needs"},
	{ReasoningEffort: "high", Description: "Thinks longer, for hard problems"},
	{ReasoningEffort: "xhigh", Description: "Thinks longest, for the hardest problems"},
}

// Models are the models to offer: the configured one, which is the default, and
// the models that other usable providers imply. Those are hidden, as a thread can
// use them only together with their provider.
func (c *Config) Models() []protocol.Model {
	models := []protocol.Model{}
	if c.Model != "" {
		models = append(models, c.model(c.ModelProvider, c.Model))
	}
	for _, provider := range sortedKeys(impliedModels) {
		if provider != c.ModelProvider && c.Ready(provider) == nil {
			models = append(models, c.model(provider, impliedModels[provider]))
		}
	}
	return models
}

func (c *Config) model(provider, model string) protocol.Model {
	name := provider
	if p, ok := c.ModelProviders[provider]; ok {
		name = p.Name
	}
	options, effort := c.efforts()
	return protocol.Model{
		ID: model, Model: model, DisplayName: model, Description: model + " of " + name,
		Hidden: provider != c.ModelProvider, IsDefault: provider == c.ModelProvider,
		SupportedReasoningEfforts: options, DefaultReasoningEffort: effort,
		InputModalities:      modalities(model),
		AdditionalSpeedTiers: []string{},
		ServiceTiers:         []json.RawMessage{},
	}
}

// textOnly are beginnings of the names of models that take no images, as their makers say.
var textOnly = []string{"deepseek-", "gpt-oss", "gpt-3.5", "o1-mini", "o3-mini", "codestral", "devstral", "qwen3-coder", "qwen2.5-coder", "kimi-k2", "glm-4.5", "glm-4.6"}

// takesImages tells whether a model takes images, as far as its name tells.
func takesImages(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return !slices.ContainsFunc(textOnly, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func modalities(model string) []string {
	if takesImages(model) {
		return []string{"text", "image"}
	}
	return []string{"text"}
}

// Offers are the tools that are offered to a model.
func (c *Config) Offers(model string) core.Offers {
	return core.Offers{Images: or(c.Tools.ViewImage, takesImages(model)), Terminals: c.Features.UnifiedExec}
}

// efforts are low, medium, high and the configured effort, which is the default,
// where it is one that every client can read.
func (c *Config) efforts() ([]protocol.ReasoningEffortOption, string) {
	offered, chosen := []string{"low", "medium", "high"}, "medium"
	isKnown := func(o protocol.ReasoningEffortOption) bool { return o.ReasoningEffort == *c.ModelReasoningEffort }
	if c.ModelReasoningEffort != nil && slices.ContainsFunc(efforts, isKnown) {
		chosen = *c.ModelReasoningEffort
		offered = append(offered, chosen)
	}
	options := slices.DeleteFunc(slices.Clone(efforts), func(o protocol.ReasoningEffortOption) bool {
		return !slices.Contains(offered, o.ReasoningEffort)
	})
	return options, chosen
}

// windows are the input limits, in tokens, that the makers of models publish, by
// the beginning of the model's name.
var windows = map[string]int64{
	"gpt-5":         272_000,
	"gpt-5-chat":    128_000,
	"gpt-4.1":       1_047_576,
	"gpt-4o":        128_000,
	"chatgpt-4o":    128_000,
	"gpt-4-turbo":   128_000,
	"o1":            200_000,
	"o3":            200_000,
	"o4-mini":       200_000,
	"claude-":       200_000,
	"gemini-2":      1_048_576,
	"deepseek-chat": 128_000,
	"offline":       128_000,
}

// ContextWindow is the context window of a model in tokens: the configured one,
// else the one that is known of the model, else nil. Providers on the user's own
// machine set the window themselves, whatever the model could do.
func (c *Config) ContextWindow(provider, model string) *int64 {
	if c.ModelContextWindow != nil {
		return c.ModelContextWindow
	}
	if provider == ProviderOllama || provider == ProviderLMStudio {
		return nil
	}
	name := model[strings.LastIndexByte(model, '/')+1:]
	best, window := 0, int64(0)
	for prefix, size := range windows {
		if strings.HasPrefix(name, prefix) && len(prefix) > best {
			best, window = len(prefix), size
		}
	}
	if best == 0 {
		return nil
	}
	return &window
}
