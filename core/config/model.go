package config

import (
	"cmp"
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

// Models are the models to offer of a provider, which told of listed: the one that its
// threads get unasked is the default and comes first. Of the configured provider, "",
// there are also the models that other usable providers imply. Those are hidden, as a
// thread can use them only together with their provider.
func (c *Config) Models(provider string, listed []core.ListedModel) []protocol.Model {
	own := provider == "" || provider == c.ModelProvider
	if own {
		provider = c.ModelProvider
	}
	models := c.offered(provider, listed)
	if !own {
		return models
	}
	for _, other := range sortedKeys(impliedModels) {
		if other != provider && c.Ready(other) == nil {
			m := c.model(other, core.ListedModel{ID: impliedModels[other]})
			m.Hidden = true
			models = append(models, m)
		}
	}
	return models
}

// offered are the models of one provider. Where none is configured for it, the first that
// it tells of is the default.
func (c *Config) offered(provider string, listed []core.ListedModel) []protocol.Model {
	models := []protocol.Model{}
	preferred := impliedModels[provider]
	if provider == c.ModelProvider {
		preferred = c.Model
	}
	if preferred != "" {
		first := core.ListedModel{ID: preferred}
		if i := slices.IndexFunc(listed, func(m core.ListedModel) bool { return m.ID == preferred }); i >= 0 {
			first = listed[i]
		}
		first.Wordless = false
		models = append(models, c.model(provider, first))
	}
	for _, m := range listed {
		if m.ID != preferred {
			models = append(models, c.model(provider, m))
		}
	}
	if i := slices.IndexFunc(models, func(m protocol.Model) bool { return !m.Hidden }); i >= 0 {
		models[i].IsDefault = true
	}
	return models
}

func (c *Config) model(provider string, m core.ListedModel) protocol.Model {
	name := provider
	if p, ok := c.ModelProviders[provider]; ok {
		name = p.Name
	}
	options, effort := c.efforts()
	out := protocol.Model{
		ID: m.ID, Model: m.ID, DisplayName: cmp.Or(firstLine(m.Name), m.ID), Description: cmp.Or(firstLine(m.Description), m.ID+" of "+name),
		Hidden:                    m.Wordless,
		SupportedReasoningEfforts: options, DefaultReasoningEffort: effort,
		InputModalities:      modalities(m.ID),
		AdditionalSpeedTiers: []string{},
		ServiceTiers:         []json.RawMessage{},
		ContextWindow:        c.ContextWindow(provider, m.ID, m.Window),
	}
	if m.Modalities != nil {
		out.InputModalities = m.Modalities
	}
	return out
}

// maxDescription bounds the description of a model, and its name to show, in bytes: some hundred of them are
// one message.
const maxDescription = 200

// firstLine is the beginning of a text that some write pages of.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxDescription {
		line = strings.ToValidUTF8(line[:maxDescription], "") + "…"
	}
	return strings.TrimSpace(line)
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

// Offers are what a model of a provider is offered, and how it is asked.
func (c *Config) Offers(provider, model string) core.Capabilities {
	return core.Capabilities{
		Images: or(c.Tools.ViewImage, takesImages(model)), Terminals: c.Features.UnifiedExec, Questions: c.Features.UserInput,
		Responses: c.ModelProviders[provider].WireAPI == WireResponses, Verbosity: or(c.ModelVerbosity, ""),
		WebSearch: core.WebSearch{Mode: or(c.WebSearch, core.WebSearchCached), Options: c.Tools.WebSearch.Options},
	}
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

// ContextWindow is the context window of a model in tokens: the configured one, else what
// the provider told (0 is nothing), else the one that is known of the model, else nil.
// Providers on the user's own machine set the window themselves, whatever the model could
// do.
func (c *Config) ContextWindow(provider, model string, told int64) *int64 {
	switch {
	case c.ModelContextWindow != nil:
		return c.ModelContextWindow
	case told > 0:
		return &told
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
