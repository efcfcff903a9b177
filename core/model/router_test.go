package model_test

import (
	"testing"

	"appserver/core"
	"appserver/core/model"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

func TestRouter(t *testing.T) {
	router := &model.Router{Providers: map[string]model.Provider{
		"a": script(t, `{"steps":[{"text":"from a"}]}`),
		"b": script(t, `{"steps":[{"text":"from b"}]}`),
	}}
	for _, name := range []string{"b", "a"} {
		p := userSays("hi")
		p.Provider = name
		pieces, _, err := ask(t.Context(), router, p)
		require.NoError(t, err)
		text, _ := spoken(pieces)
		require.Equal(t, "from "+name, text)
	}
	_, _, err := ask(t.Context(), router, &core.Prompt{Provider: "ghost"})
	m := failed(t, err)
	require.Equal(t, `model provider "ghost" is not configured (there are: a, b); add [model_providers.ghost] to config.toml`, m.Message)
	require.Equal(t, protocol.CodexErrorInfo{Kind: protocol.ErrorOther}, m.Info)
	require.False(t, m.Retry)
}
