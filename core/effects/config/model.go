package config

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// DefaultModel is the model of the provider openai if none is configured.
const DefaultModel = "gpt-5"

// impliedModels are the default models of providers.
var impliedModels = map[string]string{
	ProviderOpenAI:  DefaultModel,
	ProviderOffline: "offline",
}

// implied returns the default model of a provider, or empty.
func (c *Config) implied(provider string) string {
	return cmp.Or(c.ModelProviders[provider].Model, impliedModels[provider])
}

// HasModel reports whether the configuration has a model for threads that name only a provider. A model that is set
// for another provider is none.
func (c *Config) HasModel(provider string) bool {
	if provider != c.ModelProvider {
		return c.implied(provider) != ""
	}
	return c.Model != "" && (c.implied(provider) != "" || c.rank("model") >= c.rank("model_provider"))
}

// DefaultModel returns the model of threads that name only a provider, or empty. listed are the models that the
// provider reports. Without a configured one it is the configured model of another provider if the list has it, else
// the one that runs, else the first.
func (c *Config) DefaultModel(provider string, listed []core.ListedModel) string {
	switch {
	case provider != c.ModelProvider && c.implied(provider) != "":
		return c.implied(provider)
	case c.HasModel(provider), c.Model != "" && core.FindModel(listed, c.Model) >= 0:
		return c.Model
	}
	for _, fits := range []func(core.ListedModel) bool{
		func(m core.ListedModel) bool { return !m.Wordless && m.Running },
		func(m core.ListedModel) bool { return !m.Wordless },
	} {
		if i := slices.IndexFunc(listed, fits); i >= 0 {
			return listed[i].ID
		}
	}
	return c.Model
}

// efforts are the reasoning efforts that every client can decode.
var efforts = []protocol.ReasoningEffortOption{
	{ReasoningEffort: "none", Description: "Answers without thinking first"},
	{ReasoningEffort: "minimal", Description: "Thinks as little as it can"},
	{ReasoningEffort: "low", Description: "Thinks briefly, answers soon"},
	{ReasoningEffort: "medium", Description: "Thinks as long as everyday work needs"},
	{ReasoningEffort: "high", Description: "Thinks longer, for hard problems"},
	{ReasoningEffort: "xhigh", Description: "Thinks longest, for the hardest problems"},
}

// Models returns the models of a provider, which reported listed. The default for its threads is
// first. For the configured provider, "", the list also has the models that other usable providers
// imply. Those are hidden, because a thread can use them only with their provider.
func (c *Config) Models(provider string, listed []core.ListedModel) []protocol.Model {
	own := provider == "" || provider == c.ModelProvider
	if own {
		provider = c.ModelProvider
	}
	models := c.offered(provider, listed)
	if !own {
		return models
	}
	for _, other := range sortedKeys(c.ModelProviders) {
		if other != provider && c.implied(other) != "" && c.Ready(other) == nil {
			m := c.model(other, core.ListedModel{ID: c.implied(other)})
			m.Hidden = true
			models = append(models, m)
		}
	}
	return models
}

// ModelsOf returns the models of one provider, which reported listed. The default for its threads is first.
func (c *Config) ModelsOf(provider string, listed []core.ListedModel) []protocol.Model {
	return c.offered(provider, listed)
}

// offered returns the models of one provider. If none is configured, the first reported one is the
// default.
func (c *Config) offered(provider string, listed []core.ListedModel) []protocol.Model {
	models := []protocol.Model{}
	preferred := c.implied(provider)
	if provider == c.ModelProvider {
		preferred = c.Model
	}
	at := -1
	if preferred != "" {
		first := core.ListedModel{ID: preferred}
		if at = core.FindModel(listed, preferred); at >= 0 {
			first = listed[at]
			first.ID = preferred
		}
		first.Wordless = false
		models = append(models, c.model(provider, first))
	}
	for i, m := range listed {
		if i != at {
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
	options, effort := c.efforts(m.NoThinking)
	window, source := c.window(provider, m.ID, m.Window)
	available, reason := c.availability(provider)
	out := protocol.Model{
		ID: m.ID, Model: m.ID, DisplayName: cmp.Or(firstLine(m.Name), m.ID),
		Description:               cmp.Or(firstLine(m.Description), m.ID+" of "+name),
		Hidden:                    m.Wordless,
		SupportedReasoningEfforts: options, DefaultReasoningEffort: effort,
		InputModalities:      modalities(m.ID),
		AdditionalSpeedTiers: []string{},
		ServiceTiers:         []json.RawMessage{},
		ModelProvider:        provider, Available: available, UnavailableReason: reason,
		ContextWindow: window, ContextWindowSource: source,
		Abilities: c.abilities(provider, m), Prices: c.prices(provider, m.ID, m.Prices),
	}
	if images := out.Abilities.Images; images != nil && images.Source == protocol.ModelSourceTable {
		out.InputModalities = inputs(images.Supported)
	}
	if m.Modalities != nil {
		out.InputModalities = m.Modalities
	}
	return out
}

// availability reports whether a provider can be used now, as far as the configuration shows, or returns nil for a
// provider on this machine. The reason says what is missing.
func (c *Config) availability(provider string) (available *bool, reason *string) {
	if err := c.Ready(provider); err != nil {
		return new(false), new(err.Error())
	}
	if c.ModelProviders[provider].OnThisMachine() {
		return nil, nil
	}
	return new(true), nil
}

// maxDescription bounds the description and the display name of a model, in bytes: one message can
// have hundreds of them.
const maxDescription = 200

// firstLine returns the start of a text, because some providers send pages.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) > maxDescription {
		line = strings.ToValidUTF8(line[:maxDescription], "") + "…"
	}
	return strings.TrimSpace(line)
}

// textOnly are prefixes of the names of models that do not accept images, by their makers'
// documentation.
var textOnly = []string{"deepseek-", "gpt-oss", "gpt-3.5", "o1-mini", "o3-mini", "codestral", "devstral", "qwen3-coder",
	"qwen2.5-coder", "kimi-k2", "glm-4.5", "glm-4.6"}

// takesImages reports whether a model accepts images, as far as its name shows.
func takesImages(model string) bool {
	name := model[strings.LastIndexByte(model, '/')+1:]
	return !slices.ContainsFunc(textOnly, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func modalities(model string) []string { return inputs(takesImages(model)) }

func inputs(images bool) []string {
	if images {
		return []string{"text", "image"}
	}
	return []string{"text"}
}

// Capabilities returns the capabilities of a provider's model. listed has the report of the provider about the model,
// or is the zero value.
func (c *Config) Capabilities(provider, model string, listed core.ListedModel) core.Capabilities {
	images, reported := takesImages(model), listed.Modalities != nil
	if reported {
		images = slices.Contains(listed.Modalities, "image")
	}
	return core.Capabilities{
		Images:   or(c.Tools.ViewImage, images) && c.Features.ViewImage,
		NoImages: reported && !images && !or(c.Tools.ViewImage, false),
		NoTools:  listed.NoTools, NoThinking: listed.NoThinking,
		Terminals: c.Features.UnifiedExec, Questions: c.Features.UserInput,
		Responses: c.ModelProviders[provider].WireAPI == WireResponses, Verbosity: or(c.ModelVerbosity, ""),
		WebSearch: c.webSearch(provider, listed),
		Limits: core.Limits{NoShell: !c.Features.ShellTool, NoPlan: !or(c.Tools.UpdatePlan.Enabled, true),
			NoQuestions: !or(c.Tools.UserInput.Enabled, true), NoLogin: !c.AllowLoginShell,
			NoAbortedNote: !c.Agents.InterruptMessage,
			Output:        int(min(or(c.ToolOutputTokenLimit, 0), 1<<30)),
			ToolSearch:    c.toolSearch()},
		Agents: c.agentRules(),
	}
}

// toolSearch returns the rule for tools of MCP servers.
func (c *Config) toolSearch() core.ToolSearch {
	percent := c.MCPToolsPercent
	if c.Features.AlwaysDefer {
		percent = 0
	}
	return core.ToolSearch{On: c.Features.ToolSearch, Percent: percent}
}

// efforts returns low, medium, high and the configured effort, which is the default if every client
// can decode it. A model that is known not to reason has none only.
func (c *Config) efforts(noThinking bool) ([]protocol.ReasoningEffortOption, string) {
	if noThinking {
		return efforts[:1:1], efforts[0].ReasoningEffort
	}
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
