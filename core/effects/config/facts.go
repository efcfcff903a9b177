package config

import (
	"slices"

	"appserver/core"
	"appserver/core/effects/modeltable"
	"appserver/protocol"
)

// offlineWindow is the window of the model offline, in tokens.
const offlineWindow = 128_000

// row returns the row of a model in the table of the program.
func (c *Config) row(provider, model string) (modeltable.Row, bool) {
	if provider == ProviderOffline || c.servesOwnModels(provider) {
		return modeltable.Row{}, false
	}
	return modeltable.Find(c.ModelProviders[provider].BaseURL, model)
}

// ContextWindow returns the context window of a model in tokens: the configured one, else reported unless it is 0,
// else that of the table, else nil.
func (c *Config) ContextWindow(provider, model string, reported int64) *int64 {
	window, _ := c.window(provider, model, reported)
	return window
}

// window returns the context window of a model and its source, or nil.
func (c *Config) window(provider, model string, reported int64) (window *int64, source *string) {
	row, _ := c.row(provider, model)
	if provider == ProviderOffline && model == impliedModels[ProviderOffline] && reported == 0 {
		reported = offlineWindow
	}
	switch {
	case c.ModelContextWindow != nil:
		return c.ModelContextWindow, new(protocol.ModelSourceConfiguration)
	case reported > 0:
		return &reported, new(protocol.ModelSourceProvider)
	case row.Window > 0:
		return &row.Window, new(protocol.ModelSourceTable)
	}
	return nil, nil
}

// abilities returns the abilities of a model for lists. Only what the configuration or the provider says has an effect
// on requests.
func (c *Config) abilities(provider string, m core.ListedModel) (a protocol.ModelAbilities) {
	ability := func(supported bool, source string) *protocol.ModelAbility {
		return &protocol.ModelAbility{Supported: supported, Source: source}
	}
	if row, ok := c.row(provider, m.ID); ok {
		a.Tools = ability(row.Tools, protocol.ModelSourceTable)
		a.Images = ability(row.Images, protocol.ModelSourceTable)
		a.Reasoning = ability(row.Reasoning, protocol.ModelSourceTable)
	}
	if m.Tools || m.NoTools {
		a.Tools = ability(m.Tools, protocol.ModelSourceProvider)
	}
	if m.Thinking || m.NoThinking {
		a.Reasoning = ability(m.Thinking, protocol.ModelSourceProvider)
	}
	if m.Modalities != nil {
		a.Images = ability(slices.Contains(m.Modalities, "image"), protocol.ModelSourceProvider)
	}
	if c.Tools.ViewImage != nil {
		a.Images = ability(*c.Tools.ViewImage, protocol.ModelSourceConfiguration)
	}
	return a
}

// prices returns the prices of a model, or nil: those of the configuration, else those that the provider reports, else
// those of the table.
func (c *Config) prices(provider, model string, reported *core.ModelPrices) *protocol.ModelPrices {
	known, source := c.pricesOf(provider, model, reported)
	if source == "" {
		return nil
	}
	prices := &protocol.ModelPrices{Input: known.Input, CachedInput: known.CachedInput, Output: known.Output,
		Source: source}
	if source != protocol.ModelSourceConfiguration {
		prices.Currency = new("USD")
	}
	return prices
}

// pricesOf returns the prices of a model and their source, or "".
func (c *Config) pricesOf(provider, model string, reported *core.ModelPrices) (core.ModelPrices, string) {
	configured := c.ModelPrices[model]
	known := core.ModelPrices{Input: (*float64)(configured.Input), CachedInput: (*float64)(configured.CachedInput),
		Output: (*float64)(configured.Output)}
	if known != (core.ModelPrices{}) {
		return known, protocol.ModelSourceConfiguration
	}
	if reported != nil {
		return *reported, protocol.ModelSourceProvider
	}
	row, _ := c.row(provider, model)
	known = core.ModelPrices{Input: row.Input, CachedInput: row.CachedInput, Output: row.Output}
	if known != (core.ModelPrices{}) {
		return known, protocol.ModelSourceTable
	}
	return core.ModelPrices{}, ""
}
