package responses

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/refusal"
	"appserver/protocol"
)

// Wire is the Responses API of one provider. It keeps what the provider was found to refuse.
type Wire struct {
	book    refusal.Book
	options Options
}

// Options are settings of a provider.
type Options struct {
	// OmitStore leaves out store, for a provider that refuses it and keeps no conversations.
	OmitStore bool
}

// New makes the wire of a provider.
func New(o Options) *Wire { return &Wire{options: o} }

// optional are the members that can be left out of any request, those within another one first. store is none of them:
// without store: false, a provider may keep the conversation.
var optional = []string{"prompt_cache_key", "parallel_tool_calls", "include", "reasoning.summary", "reasoning",
	"text.verbosity", "service_tier"}

// optionalOf returns the optional members of a request. A text member that has the form of the answer is none.
func optionalOf(p *core.Prompt) []string {
	if isSet(p.OutputSchema) {
		return optional
	}
	return append(slices.Clip(optional), "text")
}

// Path returns "responses".
func (*Wire) Path() []string { return []string{"responses"} }

// Terminal returns the event that ends an answer.
func (*Wire) Terminal() string { return "response.completed" }

// Send posts the request for p.
func (w *Wire) Send(ctx context.Context, to model.Poster, p *core.Prompt) error {
	d := w.book.Of(p.Model)
	members, err := encode(newRequest(d.Prompt(p), d))
	if err != nil {
		return err
	}
	e, url := to.Endpoint()
	e.Extend(members, p.Model, "max_output_tokens")
	d.Filter(members, optionalOf(p))
	if w.options.OmitStore {
		delete(members, "store")
	}
	body := model.EncodeObject(members)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	if e.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+e.APIKey)
	}
	_, err = to.Do(req) // the answer is read by the client
	return err
}

// encode returns the members of a request.
func encode(r *request) (members map[string]json.RawMessage, err error) {
	raw, err := protocol.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	err = protocol.Unmarshal(raw, &members)
	return members, err
}

// Demands returns the demands that refusals of a model have shown so far.
func (w *Wire) Demands(model string) *refusal.Demands { return w.book.Of(model) }

// Learn adds the change that a refusal demands.
func (w *Wire) Learn(p *core.Prompt, r *refusal.Refusal) refusal.Change {
	d := w.book.Of(p.Model)
	sent := d.Prompt(p)
	q := refusal.Request{Members: optionalOf(p), Search: sent.WebSearch != nil, RawReasoning: hasRawReasoning(sent),
		OutputParts: hasOutputParts(sent)}
	for _, t := range tools(sent, limitsOf(p.Model, d)) {
		if t.Name != "" {
			q.Tools = append(q.Tools, t.Name)
		}
		q.Custom = q.Custom || t.Type == customType
	}
	return w.book.Learn(p, r, &q)
}

// Read starts to read an answer.
func (w *Wire) Read(p *core.Prompt, emit func(core.Piece)) model.Reading {
	r := newReading(p, emit)
	r.searches = w.book.Of(p.Model).Prompt(p).WebSearch != nil
	return r
}

// Render returns the messages and the tools of the request for p: the instructions as a message of the
// system, then the input items.
func (w *Wire) Render(p *core.Prompt) (to core.RenderedPrompt, err error) {
	d := w.book.Of(p.Model)
	r := newRequest(d.Prompt(p), d)
	if r.Instructions != "" {
		raw, err := protocol.Marshal(instructionsMessage(r.Instructions))
		if err != nil {
			return to, fmt.Errorf("writing the instructions of the request: %w", err)
		}
		to.Messages, to.Sources = append(to.Messages, raw), append(to.Sources, nil)
	}
	for i, item := range r.Input {
		raw, err := protocol.Marshal(item)
		if err != nil {
			return to, fmt.Errorf("writing the items of the request: %w", err)
		}
		to.Messages, to.Sources = append(to.Messages, raw), append(to.Sources, r.from[i])
	}
	for _, t := range r.Tools {
		raw, err := protocol.Marshal(t)
		if err != nil {
			return to, fmt.Errorf("writing the tools of the request: %w", err)
		}
		to.Tools = append(to.Tools, raw)
	}
	return to, nil
}

func instructionsMessage(text string) protocol.ResponseItem {
	return protocol.ResponseItem{ResponseItemVariant: &protocol.Message{
		Role: protocol.RoleSystem, Content: []protocol.ContentItem{{Type: protocol.ContentInputText, Text: text}},
	}}
}
