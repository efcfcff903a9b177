package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
)

func TestPromptCacheDefaultsFollowTheAddressOfTheProvider(t *testing.T) {
	type cache struct {
		ratio     float64
		retention time.Duration
	}
	large, unknown, local := cache{0.1, 30 * time.Minute}, cache{0.1, 10 * time.Minute}, cache{0.1, time.Hour}
	for address, want := range map[string]cache{
		"https://api.openai.com/v1":                                large,
		"https://API.OPENAI.COM/v1":                                large,
		"https://mine.openai.azure.com/openai/v1":                  large,
		"https://mine.services.ai.azure.com/openai/v1":             large,
		"https://api.anthropic.com/v1":                             {0.1, 5 * time.Minute},
		"https://api.deepseek.com":                                 {0.03, 24 * time.Hour},
		"https://generativelanguage.googleapis.com/v1beta/openai":  local,
		"https://us-central1-aiplatform.googleapis.com/v1/openapi": local,
		"https://api.moonshot.ai/v1":                               {0.1, 5 * time.Minute},
		"https://api.moonshot.cn/v1":                               {0.1, 5 * time.Minute},
		"http://127.0.0.1:8000/v1":                                 local,
		"http://[::1]:8080/v1":                                     local,
		"http://localhost:4000":                                    local,
		"http://10.0.0.7:8000/v1":                                  unknown,
		"https://notapi.openai.com.example/v1":                     unknown,
		"https://gateway.example/api.openai.com":                   unknown,
	} {
		c := load(t, "[model_providers.mine]\nbase_url = \""+address+"\"\n")
		info := c.ProviderInfo("mine", "m", 0)
		require.Equal(t, want, cache{info.CachedPriceRatio, info.CacheRetention}, address)
		require.Zero(t, info.CachedPriceRatio-c.CachedPriceRatio("mine", "m"), address)
	}
	builtin := load(t, "")
	for name, want := range map[string]cache{
		"openai": large, "ollama": {0.1, 5 * time.Minute}, "lmstudio": local, "openrouter": unknown, "offline": unknown,
	} {
		info := builtin.ProviderInfo(name, "m", 0)
		require.Equal(t, want, cache{info.CachedPriceRatio, info.CacheRetention}, name)
	}
}

func TestConfiguredPromptCacheReplacesTheDefault(t *testing.T) {
	c := load(t, `
[model_providers.openai]
cached_price_ratio = 0.5
cache_retention_secs = 86400
[model_providers.none]
base_url = "https://api.deepseek.com"
cached_price_ratio = 1
cache_retention_secs = 0
[model_prices.priced]
input = 4
cached_input = 1
output = 20
`)
	require.Empty(t, c.Warnings)
	info := c.ProviderInfo("openai", "m", 0)
	require.InDelta(t, 0.5, info.CachedPriceRatio, 0)
	require.Equal(t, 24*time.Hour, info.CacheRetention)
	info = c.ProviderInfo("none", "m", 0)
	require.InDelta(t, 1, info.CachedPriceRatio, 0)
	require.Zero(t, info.CacheRetention)
	require.InDelta(t, 0.25, c.CachedPriceRatio("openai", "priced"), 0, "the price of the model has precedence")
	require.Equal(t, new(5.0), c.OutputPriceRatio("openai", "priced"))
	require.Nil(t, c.OutputPriceRatio("openai", "m"))
	shown := c.View(false).Config["model_providers"].(map[string]any)["openai"].(map[string]any)
	require.Equal(t, new(config.Ratio(0.5)), shown["cached_price_ratio"])
	require.Equal(t, new(86400), shown["cache_retention_secs"])
}

func TestWrongPromptCacheSettingsAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		"cached_price_ratio = 1.5":      "expected a number from 0 to 1, got 1.5",
		"cached_price_ratio = -0.1":     "expected a number from 0 to 1, got -0.1",
		"cached_price_ratio = \"free\"": "expected a number from 0 to 1",
		"cache_retention_secs = -1":     "expected at least 0, got -1",
		"cache_retention_secs = 1e9":    "expected an integer",
	} {
		home, _ := write(t, "config.toml", "[model_providers.openai]\n"+text+"\n")
		_, err := config.Load(config.Source{Home: home})
		require.ErrorContains(t, err, want, text)
		require.ErrorContains(t, err, "model_providers.openai.", text)
	}
}
