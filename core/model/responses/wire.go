package responses

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"appserver/core"
	"appserver/core/model"
	"appserver/protocol"
)

// Wire is the Responses API of one provider. It keeps what the provider was found to refuse.
type Wire struct {
	optional model.Optional
	limits   knownLimits
}

// New makes the wire of a provider.
func New() *Wire {
	return &Wire{optional: model.Optional{Members: []string{
		"prompt_cache_key", "parallel_tool_calls", "include", "reasoning", "text", "store", "service_tier",
	}}}
}

// Path is responses.
func (*Wire) Path() []string { return []string{"responses"} }

// Terminal is the event that ends an answer.
func (*Wire) Terminal() string { return "response.completed" }

// Send posts the request for p.
func (w *Wire) Send(ctx context.Context, to model.Poster, p *core.Prompt) error {
	members, err := encode(newRequest(p, w.limits.of(p.Model)))
	if err != nil {
		return err
	}
	sent := w.optional.Filter(members)
	e, url := to.Endpoint()
	e.Extend(members, p.Model, "max_output_tokens")
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
	return w.optional.Failed(err, sent)
}

// encode gives the members of a request.
func encode(r *request) (members map[string]json.RawMessage, err error) {
	raw, err := protocol.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("writing the request: %w", err)
	}
	err = protocol.Unmarshal(raw, &members)
	return members, err
}

// Learn takes note of refused members and of a refusal of tools.
func (w *Wire) Learn(p *core.Prompt, err error) bool {
	return w.limits.learnReasoning(p, err) || w.optional.Learn(err) || w.limits.learn(p, err)
}

// Read starts to read an answer.
func (w *Wire) Read(p *core.Prompt, emit func(core.Piece)) model.Reading {
	r := newReading(p, emit)
	r.searches = p.WebSearch != nil && !w.limits.of(p.Model).offline
	return r
}

// Render gives the messages and the tools of the request for p: the instructions as a message of the
// system, then the input items.
func (w *Wire) Render(p *core.Prompt) (to core.RenderedPrompt, err error) {
	r := newRequest(p, w.limits.of(p.Model))
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
		to.Messages, to.Sources = append(to.Messages, raw), append(to.Sources, r.from[i:i+1])
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
