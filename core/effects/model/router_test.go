package model_test

import (
	"context"
	"testing"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

func TestRouter(t *testing.T) {
	router := &model.Router{Providers: map[string]model.Provider{
		"a": speaker("from a"),
		"b": speaker("from b"),
	}}
	for _, name := range []string{"b", "a"} {
		p := modeltest.UserSays("hi")
		p.Provider = name
		pieces, _, err := modeltest.Ask(t.Context(), router, p)
		require.NoError(t, err)
		text, _ := modeltest.Spoken(pieces)
		require.Equal(t, "from "+name, text)
	}
	_, _, err := modeltest.Ask(t.Context(), router, &core.Prompt{Provider: "ghost"})
	m := modeltest.Failed(t, err)
	require.Equal(t, `model provider "ghost" is not configured (there are: a, b); add [model_providers.ghost] to config.toml`, m.Message)
	require.Equal(t, protocol.CodexErrorInfo{Kind: protocol.ErrorOther}, m.Info)
	require.False(t, m.Retry)
}

// speaker is a provider with a constant answer.
type speaker string

func (s speaker) Stream(_ context.Context, _ *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	emit(core.Piece{Kind: core.PieceText, Text: string(s)})
	return core.Answer{}, nil
}
