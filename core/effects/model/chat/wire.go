package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/refusal"
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
	err = post(ctx, e.APIKey, url, request, body(p, demands, to.TakesNoEffort()))
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
