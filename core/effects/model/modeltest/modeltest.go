// Package modeltest has the shared parts of the tests of model providers: prompts, endpoints that answer
// from memory, and a client that collects an answer.
package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/protocol"
)

// SecretKey is the API key of the endpoints.
const SecretKey = "sk-verysecret-0123456789"

// Serve starts an endpoint and makes a provider for it. edit changes the endpoint's description.
func Serve(t *testing.T, wire model.Wire, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *model.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	e := model.Endpoint{Name: "test", BaseURL: server.URL + "/v1", APIKey: SecretKey}
	for _, f := range edit {
		f(&e)
	}
	provider := model.NewClient(e, wire)
	t.Cleanup(provider.Close)
	return provider
}

// Events serves a stream of these bytes and closes it properly.
func Events(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, stream)
	}
}

// Ask streams a prompt and collects its pieces.
func Ask(ctx context.Context, provider model.Provider, p *core.Prompt) (pieces []core.Piece, answer core.Answer,
	err error) {
	answer, err = provider.Stream(ctx, p, func(piece core.Piece) { pieces = append(pieces, piece) })
	return pieces, answer, err
}

// Spoken returns the text and the reasoning of pieces.
func Spoken(pieces []core.Piece) (text, reasoning string) {
	for _, p := range pieces {
		if p.Kind == core.PieceText {
			text += p.Text
		} else {
			reasoning += p.Text
		}
	}
	return text, reasoning
}

// Failed returns the model error of a Stream that must fail.
func Failed(t *testing.T, err error) *core.ModelError {
	t.Helper()
	var m *core.ModelError
	if !errors.As(err, &m) {
		t.Fatalf("got %v, want a *core.ModelError", err)
	}
	return m
}

// Items returns variants as items.
func Items(variants ...protocol.ResponseItemVariant) []protocol.ResponseItem {
	var list []protocol.ResponseItem
	for _, v := range variants {
		list = append(list, protocol.ResponseItem{ResponseItemVariant: v})
	}
	return list
}

// Say returns a message with a text.
func Say(role, text string) *protocol.Message {
	kind := protocol.ContentInputText
	if role == protocol.RoleAssistant {
		kind = protocol.ContentOutputText
	}
	return &protocol.Message{Role: role, Content: []protocol.ContentItem{{Type: kind, Text: text}}}
}

// UserSays returns a prompt with one message of the user.
func UserSays(text string) *core.Prompt {
	return &core.Prompt{Provider: "test", Model: "some-model", ThreadID: "thread-1",
		Items: Items(Say(protocol.RoleUser, text))}
}

// FixedAnswer is a transport that answers each request with a status and a body.
type FixedAnswer struct {
	Status int
	Body   string
}

// RoundTrip never fails.
func (a FixedAnswer) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.Status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.Body))}, nil
}

// RoundTrip is a transport made of a function.
type RoundTrip func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f RoundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// StreamResponse returns an event stream with this body.
func StreamResponse(body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       io.NopCloser(body),
	}
}

// FromReader makes a provider that answers each request with a new reader, without a network.
func FromReader(wire model.Wire, body func() io.Reader) *model.Client {
	return model.NewClient(model.Endpoint{Name: "memory", BaseURL: "http://memory/v1", Transport: RoundTrip(
		func(*http.Request) (*http.Response, error) { return StreamResponse(body()), nil })}, wire)
}

// FromMemory makes a provider that answers each request with this stream, without a network.
func FromMemory(wire model.Wire, stream string) *model.Client {
	return FromReader(wire, func() io.Reader { return strings.NewReader(stream) })
}
