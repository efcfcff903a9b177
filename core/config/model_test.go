package config_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/config"
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
	models := load(t, "model = \"qwen3\"\nmodel_provider = \"ollama\"\n").Models()
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
	require.True(t, offline.Hidden, "a thread needs its provider too")
}

func TestModelsOfProvidersWithAKey(t *testing.T) {
	c, _ := loadWith(t, "model_provider = \"offline\"\n", map[string]string{"OPENAI_API_KEY": "k"})
	models := c.Models()
	require.Len(t, models, 2)
	require.Equal(t, "offline", models[0].ID)
	require.True(t, models[0].IsDefault)
	require.Equal(t, config.DefaultModel, models[1].ID)
}

func TestModelsWithoutAModel(t *testing.T) {
	models := load(t, "model_provider = \"ollama\"\n").Models()
	require.Len(t, models, 1)
	require.Equal(t, "offline", models[0].ID)
	require.False(t, models[0].IsDefault)
}

// Strict clients read no effort beyond these words, and no null for a list.
func TestModelsAreReadableByStrictClients(t *testing.T) {
	for effort, want := range map[string][]string{
		"low": {"low", "medium", "high"}, "none": {"none", "low", "medium", "high"},
		"minimal": {"minimal", "low", "medium", "high"}, "xhigh": {"low", "medium", "high", "xhigh"},
		"ultra": {"low", "medium", "high"},
	} {
		m := load(t, "", "model_reasoning_effort="+effort).Models()[0]
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
		window := c.ContextWindow(tt.provider, tt.model)
		require.NotNil(t, window, tt.model)
		require.Equal(t, tt.want, *window, tt.model)
	}
	require.Nil(t, c.ContextWindow("openai", "unheard-of"))
	require.Nil(t, c.ContextWindow("ollama", "deepseek-chat"), "a local server sets its own window")

	set := load(t, "model_context_window = 4096\n")
	require.EqualValues(t, 4096, *set.ContextWindow("openai", "gpt-5"))
	require.EqualValues(t, 4096, *set.ContextWindow("ollama", "qwen3"))
}

// TestOffers offers images to models that are not known to take none, unless the
// configuration decides.
func TestOffers(t *testing.T) {
	for model, takes := range map[string]bool{"gpt-5": true, "anything": true, "deepseek-chat": false, "openai/gpt-oss-20b": false} {
		require.Equal(t, takes, load(t, "").Offers(model).Images, model)
		require.True(t, load(t, "[tools]\nview_image = true\nweb_search = true\n").Offers(model).Images)
		require.False(t, load(t, "tools.view_image = false\n").Offers(model).Images)
	}
	require.Empty(t, load(t, "[tools]\nweb_search = true\n").Warnings)
}
