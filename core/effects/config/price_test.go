package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
)

func TestCachedPriceRatioIsThatOfTheModelsPrices(t *testing.T) {
	c := load(t, `
[model_prices."a/model-1.5"]
input = 4
cached_input = 1.0
output = 15.5
[model_prices.uncached]
input = 2
[model_prices.free]
input = 0
cached_input = 0
[model_prices.same]
input = 1.5
cached_input = 1.5
`)
	require.Empty(t, c.Warnings)
	for model, want := range map[string]float64{
		"a/model-1.5": 0.25, "uncached": 0.1, "free": 0.1, "same": 1, "unknown": 0.1,
	} {
		require.InDelta(t, want, c.CachedPriceRatio("openai", model), 0, model)
	}
	require.Equal(t, map[string]any{"input": int64(4), "cached_input": 1.0, "output": 15.5},
		c.View(false).Config["model_prices"].(map[string]any)["a/model-1.5"])
	require.NotContains(t, load(t, "").View(false).Config, "model_prices")
}

func TestWrongPricesAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"input = -1":                    "expected a price from 0 to 1000000 for a million tokens",
		"input = 2e6":                   "expected a price from 0 to 1000000 for a million tokens",
		"output = \"1\"":                "expected a number, the price of a million tokens",
		"input = 1\ncached_input = 1.5": "expected at most the price of input, 1, got 1.5",
	} {
		home, _ := write(t, "config.toml", "[model_prices.m]\n"+text+"\n")
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "model_prices.m.", text)
		var bad *config.Error
		require.ErrorAs(t, err, &bad)
	}
}
