package model_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"
)

// TestExtraMembersOfRequests merges members of the endpoint and of the model into requests, on each wire.
func TestExtraMembersOfRequests(t *testing.T) { eachWire(t, testExtraMembersOfRequests) }

func testExtraMembersOfRequests(t *testing.T, w encoding) {
	var body string
	provider := w.serve(t, func(to http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		modeltest.Events(w.text("a")+w.end)(to, r)
	}, func(e *model.Endpoint) {
		e.Extra = model.Extra{Members: `{"temperature":0.2,"reasoning":{"effort":"low"},"o":{"a":1,"b":{"c":2}}}`, MaxOutput: 900}
		e.ModelExtra = map[string]model.Extra{"m": {Members: `{"o":{"b":{"d":3}},"top_p":1}`, MaxOutput: 50}}
	})
	limit := map[string]string{"chat": "max_tokens", "responses": "max_output_tokens"}[w.name]
	for name, want := range map[string]string{
		"m":     `{"temperature":0.2,"effort":"low","o":{"a":1,"b":{"c":2,"d":3}},"limit":50,"top_p":1}`,
		"other": `{"temperature":0.2,"effort":"low","o":{"a":1,"b":{"c":2}},"limit":900}`,
	} {
		p := modeltest.UserSays("hi")
		p.Model, p.Summary = name, "auto"
		_, _, err := modeltest.Ask(t.Context(), provider, p)
		require.NoError(t, err)
		require.JSONEq(t, want, gjson.Get(body, `{temperature,"effort":reasoning.effort,o,"limit":`+limit+`,top_p}`).Raw)
		require.True(t, gjson.Get(body, "stream").Bool())
	}
	if w.name == "responses" {
		require.Equal(t, "auto", gjson.Get(body, "reasoning.summary").Str, "the server's members stay")
	}
}

// TestLimitOfOutputHasTheNameThatAModelTakes sends the newer name after a refusal.
func TestLimitOfOutputHasTheNameThatAModelTakes(t *testing.T) {
	var limits []string
	chat := encodings[0]
	provider := chat.serve(t, func(to http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		limits = append(limits, gjson.GetBytes(raw, "{max_tokens,max_completion_tokens}").Raw)
		if gjson.GetBytes(raw, "max_tokens").Exists() {
			http.Error(to, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use `+
				`'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`,
				http.StatusBadRequest)
			return
		}
		modeltest.Events(chat.text("a")+chat.end)(to, r)
	}, func(e *model.Endpoint) { e.Extra.MaxOutput = 70 })
	for range 2 {
		_, _, err := modeltest.Ask(t.Context(), provider, &core.Prompt{Model: "o9", Items: modeltest.Items(
			modeltest.Say(protocol.RoleUser, "hi"))})
		require.NoError(t, err)
	}
	require.Equal(t, []string{`{"max_tokens":70}`, `{"max_completion_tokens":70}`, `{"max_completion_tokens":70}`}, limits)
}
