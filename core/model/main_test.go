package model_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"appserver/core"
	"appserver/core/model"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretKey = "sk-verysecret-0123456789"

// serve starts an endpoint and a provider for it; edit changes the endpoint's
// description.
func serve(t *testing.T, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *model.OpenAI {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	e := model.Endpoint{Name: "test", BaseURL: server.URL + "/v1", APIKey: secretKey}
	for _, f := range edit {
		f(&e)
	}
	provider := model.NewOpenAI(e)
	t.Cleanup(provider.Close)
	return provider
}

// events serves a stream of these bytes and closes it properly.
func events(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}
}

// ask streams a prompt and collects what is emitted.
func ask(ctx context.Context, provider model.Provider, p *core.Prompt) (pieces []core.Piece, answer core.Answer, err error) {
	answer, err = provider.Stream(ctx, p, func(piece core.Piece) { pieces = append(pieces, piece) })
	return pieces, answer, err
}

// spoken is the text and the reasoning of pieces.
func spoken(pieces []core.Piece) (text, reasoning string) {
	for _, p := range pieces {
		if p.Kind == core.PieceReasoning {
			reasoning += p.Text
		} else {
			text += p.Text
		}
	}
	return text, reasoning
}

// failed is the model error of a Stream that must fail.
func failed(t *testing.T, err error) *core.ModelError {
	t.Helper()
	var m *core.ModelError
	require.ErrorAs(t, err, &m)
	return m
}

func items(variants ...protocol.ResponseItemVariant) []protocol.ResponseItem {
	var list []protocol.ResponseItem
	for _, v := range variants {
		list = append(list, protocol.ResponseItem{ResponseItemVariant: v})
	}
	return list
}

func say(role, text string) *protocol.Message {
	kind := protocol.ContentInputText
	if role == protocol.RoleAssistant {
		kind = protocol.ContentOutputText
	}
	return &protocol.Message{Role: role, Content: []protocol.ContentItem{{Type: kind, Text: text}}}
}

func userSays(text string) *core.Prompt {
	return &core.Prompt{Provider: "test", Model: "some-model", ThreadID: "thread-1", Items: items(say(protocol.RoleUser, text))}
}
