package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/config"
)

// TestExtraBody reads members of requests of a provider and of a model.
func TestExtraBody(t *testing.T) {
	p := load(t, `
		[model_providers.box]
		max_output_tokens = 8192
		extra_body = { temperature = 0.2, options = { top_k = 20 } }
		[model_providers.box.models."qwen3:8b"]
		max_output_tokens = 4096
		extra_body = { chat_template_kwargs = { enable_thinking = false } }
	`).ModelProviders["box"]
	require.JSONEq(t, `{"temperature":0.2,"options":{"top_k":20}}`, string(p.ExtraBody))
	require.EqualValues(t, 8192, *p.MaxOutputTokens)
	require.JSONEq(t, `{"chat_template_kwargs":{"enable_thinking":false}}`, string(p.Models["qwen3:8b"].ExtraBody))
	require.EqualValues(t, 4096, *p.Models["qwen3:8b"].MaxOutputTokens)
}

// TestExtraBodyCannotReplaceWhatTheServerNeeds refuses members in words, for a provider and for a model.
func TestExtraBodyCannotReplaceWhatTheServerNeeds(t *testing.T) {
	for _, member := range []string{"messages", "input", "instructions", "tools", "functions", "model", "stream", "store", "Store",
		"n", "previous_response_id", "conversation", "background"} {
		for _, table := range []string{"model_providers.box", `model_providers.box.models."m"`} {
			_, err := config.Load(config.Source{Home: t.TempDir(), Overrides: []string{
				table + ".extra_body={" + member + "=1,temperature=1}"}})
			require.ErrorContains(t, err, "it cannot have the member "+member+", which the server writes itself: remove it")
		}
	}
	_, err := config.Load(config.Source{Home: t.TempDir(), Overrides: []string{"model_providers.box.extra_body=7"}})
	require.ErrorContains(t, err, "expected a table of members for requests")
}

// TestExtraBodyIsShownAsTables by config/read, for a provider and for a model.
func TestExtraBodyIsShownAsTables(t *testing.T) {
	shown := viewOf(t, load(t, `
		[model_providers.box]
		extra_body = { temperature = 0.2 }
		[model_providers.box.models.m]
		extra_body = { top_k = 3 }
	`), false)
	require.Equal(t, map[string]any{"temperature": 0.2}, at(t, shown, "config", "model_providers", "box", "extra_body"))
	require.Equal(t, map[string]any{"extra_body": map[string]any{"top_k": 3.0}, "max_output_tokens": nil},
		at(t, shown, "config", "model_providers", "box", "models", "m"))
}
