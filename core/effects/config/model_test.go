package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/protocol"
)

func effortsOf(m protocol.Model) []string {
	var words []string
	for _, o := range m.SupportedReasoningEfforts {
		words = append(words, o.ReasoningEffort)
	}
	return words
}

func TestModels(t *testing.T) {
	models := load(t, "model = \"qwen3\"\nmodel_provider = \"ollama\"\n").Models("", nil)
	require.Len(t, models, 2)
	chosen, offline := models[0], models[1]
	require.Equal(t, "qwen3", chosen.ID)
	require.Equal(t, "qwen3", chosen.Model)
	require.Equal(t, "qwen3 of Ollama", chosen.Description)
	require.True(t, chosen.IsDefault)
	require.False(t, chosen.Hidden)
	require.Equal(t, []string{"low", "medium", "high"}, effortsOf(chosen))
	require.Equal(t, "medium", chosen.DefaultReasoningEffort)
	require.Equal(t, []string{"text", "image"}, chosen.InputModalities)
	require.Equal(t, "offline", offline.ID)
	require.False(t, offline.IsDefault)
	require.True(t, offline.Hidden, "a thread also needs its provider")
}

func TestModelsOfProvidersWithAKey(t *testing.T) {
	c, _ := loadWith(t, "model_provider = \"offline\"\n", map[string]string{"OPENAI_API_KEY": "k"})
	models := c.Models("", nil)
	require.Len(t, models, 2)
	require.Equal(t, "offline", models[0].ID)
	require.True(t, models[0].IsDefault)
	require.Equal(t, config.DefaultModel, models[1].ID)
}

func TestModelsWithoutAModel(t *testing.T) {
	models := load(t, "model_provider = \"ollama\"\n").Models("", nil)
	require.Len(t, models, 1)
	require.Equal(t, "offline", models[0].ID)
	require.False(t, models[0].IsDefault)
}

// Strict clients reject other efforts, and null for a list.
func TestModelsAreValidForStrictClients(t *testing.T) {
	for effort, want := range map[string][]string{
		"low": {"low", "medium", "high"}, "none": {"none", "low", "medium", "high"},
		"minimal": {"minimal", "low", "medium", "high"}, "xhigh": {"low", "medium", "high", "xhigh"},
		"ultra": {"low", "medium", "high"},
	} {
		m := load(t, "", "model_reasoning_effort="+effort).Models("", nil)[0]
		require.Equal(t, want, effortsOf(m))
		require.Contains(t, want, m.DefaultReasoningEffort)
		text, err := json.Marshal(m)
		require.NoError(t, err)
		require.Contains(t, string(text), `"serviceTiers":[]`)
		require.Contains(t, string(text), `"additionalSpeedTiers":[]`)
		require.Contains(t, string(text), `"availableAccessPrograms":null`)
	}
}

func TestContextWindow(t *testing.T) {
	c := load(t, "")
	for _, tt := range []struct {
		provider, model string
		want            int64
	}{
		{"openai", "gpt-5", 272_000},
		{"openai", "gpt-5-chat-latest", 128_000},
		{"openai", "gpt-4.1-mini", 1_047_576},
		{"openai", "o4-mini", 200_000},
		{"openrouter", "anthropic/claude-sonnet-4", 200_000},
		{"offline", "offline", 128_000},
	} {
		window := c.ContextWindow(tt.provider, tt.model, 0)
		require.NotNil(t, window, tt.model)
		require.Equal(t, tt.want, *window, tt.model)
	}
	require.Nil(t, c.ContextWindow("openai", "unknown-model", 0))
	require.Nil(t, c.ContextWindow("ollama", "deepseek-chat", 0), "a local server sets its own window")

	set := load(t, "model_context_window = 4096\n")
	require.EqualValues(t, 4096, *set.ContextWindow("openai", "gpt-5", 0))
	require.EqualValues(t, 4096, *set.ContextWindow("ollama", "qwen3", 0))
}

func TestListedModels(t *testing.T) {
	listed := []core.ListedModel{
		{ID: "new", Name: "New", Description: "First line.\nSecond.", Window: 100, Modalities: []string{"text"}},
		{ID: "qwen3", Wordless: true}, {ID: "painter", Wordless: true},
		{ID: "long", Description: strings.Repeat("ä", 200)},
	}
	models := load(t, "model = \"qwen3\"\nmodel_provider = \"ollama\"\n").Models("", listed)
	var ids []string
	for _, m := range models {
		ids = append(ids, m.ID)
		require.Equal(t, m.ID == "qwen3", m.IsDefault, m.ID)
		require.Equal(t, m.ID == "painter" || m.ID == "offline", m.Hidden, m.ID)
	}
	require.Equal(t, []string{"qwen3", "new", "painter", "long", "offline"}, ids,
		"the configured model is first and occurs once")
	require.Equal(t, "New", models[1].DisplayName)
	require.Equal(t, "First line.", models[1].Description)
	require.Equal(t, []string{"text"}, models[1].InputModalities)
	require.EqualValues(t, 100, *models[1].ContextWindow)
	require.Nil(t, models[0].ContextWindow)
	require.Equal(t, strings.Repeat("ä", 100)+"…", models[3].Description)

	unset := load(t, "model_provider = \"ollama\"\n").Models("",
		[]core.ListedModel{{ID: "painter", Wordless: true}, {ID: "a"}, {ID: "b"}})
	require.False(t, unset[0].IsDefault)
	require.True(t, unset[1].IsDefault, "without a configured model, the first visible one")
	require.False(t, unset[2].IsDefault)
}

func TestModelsOfAnotherProvider(t *testing.T) {
	models := load(t, "model = \"qwen3\"\nmodel_provider = \"ollama\"\n").Models("offline", nil)
	require.Len(t, models, 1)
	require.Equal(t, "offline", models[0].ID)
	require.True(t, models[0].IsDefault)
	require.False(t, models[0].Hidden)
	require.Empty(t, load(t, "").Models("lmstudio", nil))
}

func TestReportedContextWindow(t *testing.T) {
	c := load(t, "")
	require.EqualValues(t, 5, *c.ContextWindow("openrouter", "gpt-5", 5), "it is stronger than the published one")
	require.EqualValues(t, 5, *c.ContextWindow("ollama", "qwen3", 5))
	require.EqualValues(t, 7, *load(t, "model_context_window = 7\n").ContextWindow("ollama", "qwen3", 5))
	require.EqualValues(t, 90, c.CompactionOf("ollama", "qwen3", 100).Limit)
	require.EqualValues(t, 100, *c.ProviderInfo("ollama", "qwen3", 100).ContextWindow)
}

func TestSummaries(t *testing.T) {
	c := load(t, "[model_providers.a]\nname = \"A\"\nbase_url = \"https://u:secret@h/v1\"\nenv_key = \"A_KEY\"\n[model_providers.b]\nhttp_headers = { X = \"secret\" }\n")
	byID := map[string]protocol.ModelProviderSummary{}
	for _, s := range c.Summaries() {
		byID[s.ID] = s
	}
	require.Equal(t, "https://u:xxxxx@h/v1", *byID["a"].BaseURL)
	require.Equal(t, "A", byID["a"].Name)
	require.Equal(t, protocol.ProviderSettings{Type: "customGateway",
		Auth: &protocol.GatewayAuth{Mode: "environmentVariable", EnvKey: new("A_KEY")}}, byID["a"].Settings)
	require.Equal(t, "externallyConfigured", byID["b"].Settings.Auth.Mode)
	require.Nil(t, byID["b"].BaseURL)
	require.Equal(t, protocol.ProviderSettings{Type: "openai"}, byID["openai"].Settings)
	require.Equal(t, "none", byID["ollama"].Settings.Auth.Mode)
}

// TestAgentsWithPathsAreOn reads the switch in both forms.
func TestAgentsWithPathsAreOn(t *testing.T) {
	for text, on := range map[string]bool{
		"[features]\nmulti_agent_v2 = true\n": true, "[features.multi_agent_v2]\nenabled = true\nx = 1\n": true,
		"[features]\nmulti_agent_v2 = false\n": false, "[features.multi_agent_v2]\nenabled = false\n": false, "": false,
	} {
		require.Equal(t, on, load(t, text).Capabilities("offline", "x", core.ListedModel{}).Agents.ByPath, text)
	}
}

// TestBoundsOfAgentsWithPathsAreRefused requires an error that names the setting that is obeyed.
func TestBoundsOfAgentsWithPathsAreRefused(t *testing.T) {
	var paths config.MultiAgentPaths
	err := paths.UnmarshalJSON([]byte(`{"enabled": true, "max_concurrent_threads_per_session": 2}`))
	require.ErrorContains(t, err, "max_concurrent_threads_per_session is not supported here: set agents.max_threads")
}

func TestFeatures(t *testing.T) {
	require.Equal(t, []protocol.ExperimentalFeature{
		{Name: "default_mode_request_user_input", Stage: "underDevelopment"},
		{Name: "multi_agent", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "multi_agent_v2", Stage: "underDevelopment"},
		{Name: "shell_tool", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "tool_search", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "tool_search_always_defer_mcp_tools", Stage: "underDevelopment"},
		{Name: "unified_exec", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "view_image", Stage: "stable", Enabled: true, DefaultEnabled: true},
	}, load(t, "").FeatureList())
	c := load(t, "[features]\ndefault_mode_request_user_input = true\nunified_exec = false\nother = true\n")
	require.Equal(t, []protocol.ExperimentalFeature{
		{Name: "default_mode_request_user_input", Stage: "underDevelopment", Enabled: true},
		{Name: "multi_agent", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "multi_agent_v2", Stage: "underDevelopment"},
		{Name: "shell_tool", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "tool_search", Stage: "stable", Enabled: true, DefaultEnabled: true},
		{Name: "tool_search_always_defer_mcp_tools", Stage: "underDevelopment"},
		{Name: "unified_exec", Stage: "stable", DefaultEnabled: true},
		{Name: "view_image", Stage: "stable", Enabled: true, DefaultEnabled: true},
	}, c.FeatureList())
	require.True(t, c.Capabilities("p", "m", core.ListedModel{}).Questions)
	require.False(t, load(t, "").Capabilities("p", "m", core.ListedModel{}).Questions)
}

func TestDeprecationsAreSorted(t *testing.T) {
	require.Empty(t, load(t, "[features]\nmulti_agent = true\nunified_exec = false\n").Deprecations())
	c := load(t, "experimental_use_unified_exec_tool = false\n[features]\nweb_search = true\ncollab = false\n")
	var summaries []string
	for _, n := range c.Deprecations() {
		require.NotEmpty(t, *n.Details)
		summaries = append(summaries, n.Summary)
	}
	require.Equal(t, []string{
		"`[features].collab` is deprecated. Use `[features].multi_agent`.",
		"`[features].experimental_use_unified_exec_tool` is deprecated. Use `[features].unified_exec`.",
		"`[features].web_search` is deprecated.",
	}, summaries)
}

func TestOldKeyOfUnifiedExec(t *testing.T) {
	for text, want := range map[string]bool{
		"experimental_use_unified_exec_tool = false":                                                        false,
		"[features]\nexperimental_use_unified_exec_tool = false":                                            false,
		"experimental_use_unified_exec_tool = false\n[features]\nexperimental_use_unified_exec_tool = true": true,
		"[features]\nexperimental_use_unified_exec_tool = false\nunified_exec = true":                       true,
		"[features]\nexperimental_use_unified_exec_tool = 5":                                                true,
	} {
		require.Equal(t, want, load(t, text).Features.UnifiedExec, text)
	}
}

func TestDisabledSkills(t *testing.T) {
	c := load(t, `
[[skills.config]]
path = "/a//SKILL.md"
enabled = false
[[skills.config]]
name = "b"
enabled = false
[[skills.config]]
name = "c"
enabled = false
[[skills.config]]
path = "/c/SKILL.md"
enabled = true
[[skills.config]]
enabled = false
`)
	require.False(t, c.SkillEnabled("a", "/a/SKILL.md"))
	require.False(t, c.SkillEnabled("b", "/x/SKILL.md"))
	require.True(t, c.SkillEnabled("c", "/c/SKILL.md"), "the last row counts")
	require.True(t, c.SkillEnabled("d", "/d/SKILL.md"))
	require.True(t, c.SkillEnabled("", "/d/SKILL.md"))
	require.True(t, load(t, "").SkillEnabled("a", "/a/SKILL.md"))
}

// TestImagesOfAModelWithoutThemAreLeftOut only if the provider reports it: names are guesses.
func TestImagesOfAModelWithoutThemAreLeftOut(t *testing.T) {
	text, both := core.ListedModel{Modalities: []string{"text"}}, core.ListedModel{Modalities: []string{"text", "image"}}
	for config, want := range map[string]bool{"": true, "tools.view_image = true\n": false,
		"tools.view_image = false\n": true} {
		require.Equal(t, want, load(t, config).Capabilities("p", "m", text).NoImages, config)
		require.False(t, load(t, config).Capabilities("p", "m", both).NoImages, config)
		require.False(t, load(t, config).Capabilities("p", "gpt-oss:20b", core.ListedModel{}).NoImages, config)
	}
}

// TestCapabilities: models accept images unless they are in textOnly or the configuration decides.
func TestCapabilities(t *testing.T) {
	for model, takes := range map[string]bool{"gpt-5": true, "anything": true, "deepseek-chat": false,
		"openai/gpt-oss-20b": false} {
		require.Equal(t, takes, load(t, "").Capabilities("p", model, core.ListedModel{}).Images, model)
		require.True(t, load(t, "[tools]\nview_image = true\nweb_search = true\n").Capabilities("p", model, core.ListedModel{}).Images)
		require.False(t, load(t, "tools.view_image = false\n").Capabilities("p", model, core.ListedModel{}).Images)
	}
	require.Empty(t, load(t, "[tools]\nweb_search = true\n").Warnings)
}

// TestSearchOfTheWebByProvider offers the search to providers that can have it.
func TestSearchOfTheWebByProvider(t *testing.T) {
	c := load(t, `
		[model_providers.own]
		base_url = "http://127.0.0.1:11434/v1"
		[model_providers.studio]
		base_url = "http://192.168.0.7:1234/v1"
		[model_providers.gateway]
		base_url = "https://models.example.com/v1"
		[model_providers.with]
		base_url = "http://127.0.0.1:11434/v1"
		web_search = true
		[model_providers.without]
		base_url = "https://models.example.com/v1"
		web_search = false
	`)
	for provider, want := range map[string]string{"openai": core.WebSearchCached, "ollama": "", "lmstudio": "", "own": "",
		"studio": "", "gateway": core.WebSearchCached, "with": core.WebSearchCached, "without": ""} {
		require.Equal(t, want, c.Capabilities(provider, "m", core.ListedModel{}).WebSearch.Mode, provider)
	}
	require.Empty(t, c.Capabilities("gateway", "m", core.ListedModel{NoProviderTools: true}).WebSearch.Mode)
}

// TestDefaultModelOfAProvider: the configured model belongs to the configured provider. Another provider has its own,
// or one that it lists.
func TestDefaultModelOfAProvider(t *testing.T) {
	c := load(t, `
		model = "big"
		model_provider = "ollama"
		[model_providers.set]
		base_url = "https://models.example.com/v1"
		model = "own"
	`)
	embeds, small, runs := core.ListedModel{ID: "e", Wordless: true}, core.ListedModel{ID: "small"},
		core.ListedModel{ID: "runs", Running: true}
	for _, tt := range []struct {
		provider string
		listed   []core.ListedModel
		want     string
	}{
		{"ollama", []core.ListedModel{small}, "big"},
		{"set", []core.ListedModel{small}, "own"},
		{"openai", nil, "gpt-5"},
		{"lmstudio", []core.ListedModel{embeds, small}, "small"},
		{"lmstudio", []core.ListedModel{embeds, small, runs}, "runs"},
		{"lmstudio", []core.ListedModel{runs, {ID: "big:latest"}}, "big"},
		{"lmstudio", []core.ListedModel{embeds}, "big"},
		{"lmstudio", nil, "big"},
	} {
		require.Equal(t, tt.want, c.DefaultModel(tt.provider, tt.listed), tt)
	}
	require.Equal(t, "own", load(t, "model_provider = \"set\"\n[model_providers.set]\nmodel = \"own\"\n").Model)
	require.Equal(t, "small", load(t, "model_provider = \"ollama\"\n").DefaultModel("ollama", []core.ListedModel{small}))
}

func TestToolSearchIsConfigured(t *testing.T) {
	rule := func(text string) core.ToolSearch {
		return load(t, text).Capabilities("p", "m", core.ListedModel{}).Limits.ToolSearch
	}
	require.Equal(t, core.ToolSearch{On: true, Percent: 10}, rule(""))
	require.Equal(t, core.ToolSearch{On: true, Percent: 30}, rule("mcp_tools_percent = 30"))
	require.Equal(t, core.ToolSearch{On: true}, rule("[features]\ntool_search_always_defer_mcp_tools = true"))
	require.False(t, rule("[features]\ntool_search = false").On)
}
