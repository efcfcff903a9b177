package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"appserver/core"
	"appserver/core/model"
	"appserver/core/model/refusal"

	openai "github.com/sashabaranov/go-openai"
)

// Wire is the Chat Completions API of one provider. It keeps what the provider was found to demand.
type Wire struct {
	book  refusal.Book
	tools toolCache
}

// optional are the members that can be left out of any request.
var optional = []string{"prompt_cache_key", "parallel_tool_calls", "stream_options", "service_tier", memberProgress}

// New makes the wire of a provider.
func New() *Wire { return &Wire{} }

// Path returns "chat/completions".
func (*Wire) Path() []string { return []string{"chat", "completions"} }

// Terminal names both events with which providers end an answer.
func (*Wire) Terminal() string { return "[DONE] or a finish_reason" }

// Send posts the request for p.
func (w *Wire) Send(ctx context.Context, to model.Poster, p *core.Prompt) error {
	demands := w.book.Of(p.Model)
	p = demands.Prompt(p)
	messages := form(Messages(p), demands)
	tools, err := w.tools.encode(p.Tools)
	if err != nil {
		return err
	}
	overrides, err := overrides(p, messages, tools)
	if err != nil {
		return err
	}
	e, url := to.Endpoint()
	request := &poster{to: to, overrides: overrides, demands: demands,
		extend: func(members map[string]json.RawMessage) { e.Extend(members, p.Model, limitMember(demands)) }}
	config := openai.DefaultConfig(e.APIKey)
	config.BaseURL, config.HTTPClient = url, request
	// The answer is read elsewhere: the library's reader runs two regular expressions a line, and
	// takes an error of the provider for the end.
	_, err = openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, body(p, demands, to.TakesNoEffort()))
	return err
}

// Demands returns the demands that refusals of a model have shown so far.
func (w *Wire) Demands(model string) *refusal.Demands { return w.book.Of(model) }

// Learn adds the change that a refusal demands.
func (w *Wire) Learn(p *core.Prompt, r *refusal.Refusal) refusal.Change {
	demands := w.book.Of(p.Model)
	sent := demands.Prompt(p)
	messages := form(Messages(sent), demands)
	q := refusal.Request{Chat: true, Members: optional, Echoed: echoes(messages)}
	for _, t := range sent.Tools {
		q.Tools = append(q.Tools, t.Name)
	}
	q.NullContent = slices.ContainsFunc(messages, func(m Message) bool { return m.Content.isNull() })
	return w.book.Learn(p, r, &q)
}

// Read starts to read an answer.
func (*Wire) Read(p *core.Prompt, emit func(core.Piece)) model.Reading { return newAssembly(p, emit) }

// Render returns the messages and the tools of the request for p.
func (w *Wire) Render(p *core.Prompt) (core.RenderedPrompt, error) {
	demands := w.book.Of(p.Model)
	p = demands.Prompt(p)
	return render(p, form(tracedMessages(p), demands), &w.tools)
}

// Render returns the messages and the tools of the Chat Completions request for p.
func Render(p *core.Prompt) (core.RenderedPrompt, error) {
	return render(p, tracedMessages(p), new(toolCache))
}

func render(p *core.Prompt, messages []Message, tools *toolCache) (r core.RenderedPrompt, err error) {
	for _, m := range messages {
		raw, err := m.encode()
		if err != nil {
			return r, fmt.Errorf("writing the messages of the request: %w", err)
		}
		r.Messages, r.Sources = append(r.Messages, raw), append(r.Sources, m.items)
	}
	r.Tools, err = tools.encode(p.Tools)
	return r, err
}

// poster is the HTTP client of go-openai: it corrects a request on its way out.
type poster struct {
	to        model.Poster
	overrides map[string]json.RawMessage
	demands   *refusal.Demands
	extend    func(members map[string]json.RawMessage)
}

// Do adds the members that the library cannot express to the body.
func (r *poster) Do(req *http.Request) (*http.Response, error) {
	var members map[string]json.RawMessage
	if err := json.NewDecoder(req.Body).Decode(&members); err != nil {
		return nil, fmt.Errorf("reading the request that go-openai wrote: %w", err)
	}
	for name, value := range r.overrides {
		members[name] = value
	}
	if r.to.ReportsProgress() {
		members[memberProgress] = json.RawMessage("true")
	}
	r.extend(members)
	r.demands.Filter(members, optional)
	body := model.EncodeObject(members)
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return r.to.Do(req)
}
