package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/protocol"
)

// onlyModel returns the entry of a model that a provider reports so.
func onlyModel(t *testing.T, c *config.Config, provider string, m core.ListedModel) protocol.Model {
	t.Helper()
	for _, listed := range c.ModelsOf(provider, []core.ListedModel{m}) {
		if listed.ID == m.ID {
			return listed
		}
	}
	require.Fail(t, "the model is not listed")
	return protocol.Model{}
}

func ability(supported bool, source string) *protocol.ModelAbility {
	return &protocol.ModelAbility{Supported: supported, Source: source}
}

// TestTheStrongestSourceOfAFactCounts: the configuration, then the provider, then the table.
func TestTheStrongestSourceOfAFactCounts(t *testing.T) {
	reported := core.ListedModel{ID: "gpt-4.1", Window: 5000, NoTools: true, Thinking: true, Modalities: []string{"text"},
		Prices: &core.ModelPrices{Input: new(7.0), Output: new(70.0)}}
	unreported := core.ListedModel{ID: "gpt-4.1"}
	table, plain := "table", load(t, "")
	m := onlyModel(t, plain, "openai", unreported)
	require.EqualValues(t, 1_047_576, *m.ContextWindow)
	require.Equal(t, &table, m.ContextWindowSource)
	require.Equal(t, protocol.ModelAbilities{Tools: ability(true, table), Images: ability(true, table),
		Reasoning: ability(false, table)}, m.Abilities)
	require.Equal(t, &protocol.ModelPrices{Input: new(2.0), CachedInput: new(0.5), Output: new(8.0), Currency: new("USD"),
		Source: table}, m.Prices)
	require.Equal(t, []string{"low", "medium", "high"}, effortsOf(m), "the table decides nothing")

	m = onlyModel(t, plain, "openai", reported)
	require.EqualValues(t, 5000, *m.ContextWindow)
	require.Equal(t, "provider", *m.ContextWindowSource)
	require.Equal(t, protocol.ModelAbilities{Tools: ability(false, "provider"), Images: ability(false, "provider"),
		Reasoning: ability(true, "provider")}, m.Abilities)
	require.Equal(t, &protocol.ModelPrices{Input: new(7.0), Output: new(70.0), Currency: new("USD"), Source: "provider"},
		m.Prices)

	set := load(t, "model_context_window = 9\ntools.view_image = true\n[model_prices.\"gpt-4.1\"]\ninput = 3\n")
	m = onlyModel(t, set, "openai", reported)
	require.EqualValues(t, 9, *m.ContextWindow)
	require.Equal(t, "configuration", *m.ContextWindowSource)
	require.Equal(t, ability(true, "configuration"), m.Abilities.Images)
	require.Equal(t, &protocol.ModelPrices{Input: new(3.0), Source: "configuration"}, m.Prices)
}

// TestUnknownFactsAreNull: of unknown names, and of servers on this machine, whatever the names of their models are.
func TestUnknownFactsAreNull(t *testing.T) {
	c := load(t, `
		[model_providers.near]
		base_url = "http://127.0.0.1:4000/v1"
		[model_providers.named]
		base_url = "http://localhost:4000/v1"
		[model_providers.ollama]
		base_url = "http://box.example.com:11434/v1"
	`)
	for provider, model := range map[string]string{"openai": "my-gpt-5", "near": "gpt-5", "named": "openai/gpt-5", "ollama": "gpt-5",
		"lmstudio": "gpt-5", "llamacpp": "gpt-5", "vllm": "gpt-5", "openrouter": "me/gpt-5"} {
		m := onlyModel(t, c, provider, core.ListedModel{ID: model})
		require.Nil(t, m.ContextWindow, provider)
		require.Nil(t, m.ContextWindowSource, provider)
		require.Equal(t, protocol.ModelAbilities{}, m.Abilities, provider)
		require.Nil(t, m.Prices, provider)
	}
}

// TestTheTableHasNoEffectOnRequests: a model that takes no tools or images by the table gets them.
func TestTheTableHasNoEffectOnRequests(t *testing.T) {
	c := load(t, "")
	m := onlyModel(t, c, "openai", core.ListedModel{ID: "gpt-5-chat-latest"})
	require.Equal(t, ability(false, "table"), m.Abilities.Tools)
	can := c.Capabilities("openai", "gpt-5-chat-latest", core.ListedModel{})
	require.False(t, can.NoTools)
	require.False(t, can.NoImages)
	require.False(t, can.NoThinking)
}

// TestPriceRatiosComeFromTheStrongestSource, the configured ratio of a provider among them.
func TestPriceRatiosComeFromTheStrongestSource(t *testing.T) {
	c := load(t, "")
	require.InDelta(t, 0.25, c.CachedPriceRatio("openai", "gpt-4.1"), 0, "of the table")
	require.InDelta(t, 4, *c.OutputPriceRatio("openai", "gpt-4.1"), 0)
	require.InDelta(t, 0.1, c.CachedPriceRatio("openai", "unknown"), 0, "of the address")
	require.Nil(t, c.OutputPriceRatio("openai", "unknown"))
	reported := c.Reported(func(provider, model string) *core.ModelPrices {
		return &core.ModelPrices{Input: new(2.0), CachedInput: new(1.0), Output: new(6.0)}
	})
	require.InDelta(t, 0.5, reported.CachedPriceRatio("openrouter", "x"), 0)
	require.InDelta(t, 3, *reported.OutputPriceRatio("openrouter", "x"), 0)
	set := load(t, "[model_providers.openai]\ncached_price_ratio = 0.7\n")
	require.InDelta(t, 0.7, set.CachedPriceRatio("openai", "gpt-4.1"), 0)
	absurd := c.Reported(func(string, string) *core.ModelPrices {
		return &core.ModelPrices{Input: new(1.0), CachedInput: new(5.0)}
	})
	require.InDelta(t, 0.1, absurd.CachedPriceRatio("openrouter", "x"), 0, "a cached token never costs more")
}
