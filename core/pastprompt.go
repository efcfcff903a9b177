package core

import (
	"slices"

	"appserver/core/pure/compaction"
	"appserver/protocol"
)

// PastRequest is a recorded model request, with the parts of its prompt that are no items.
type PastRequest struct {
	protocol.StoredRequest
	ID     string
	system string
	tools  promptTools
	// review has the items of a review.
	review []protocol.ResponseItem
	// Missing names a part of the prompt that the rollout lacks, or is "".
	Missing string
}

// PastRequest returns a recorded model request.
func (t *Thread) PastRequest(id string) (*PastRequest, *protocol.Error) {
	i := t.state.FindRequest(id)
	switch {
	case t.options.Ephemeral:
		return nil, protocol.Refuse(protocol.KindInvalidRequest,
			"thread %s is ephemeral: past requests are rebuilt from a rollout, and it has none", t.state.ID)
	case i < 0:
		return nil, protocol.Refuse(protocol.KindRequestNotFound,
			"there is no request %s: name the requestId of an entry of thread/usage/list", id)
	}
	p := &PastRequest{ID: id, StoredRequest: *t.state.Request(i)}
	p.readTexts(t)
	if p.Kind == protocol.RequestReview {
		p.review = t.reviewItems(i)
	}
	return p, nil
}

// readTexts reads the system prompt and the tools from the lines that have them.
func (p *PastRequest) readTexts(t *Thread) {
	if at, known := t.state.Texts[p.SystemID]; known {
		if text := t.state.Request(at).System; text != nil {
			p.system = *text
		}
	} else {
		p.Missing = "its system prompt"
	}
	at, known := t.state.Texts[p.ToolsID]
	if !known || protocol.Unmarshal(t.state.Request(at).Tools, &p.tools) != nil {
		p.Missing = "its tools"
	}
}

// reviewItems returns the conversation of a review up to its request with an index.
func (t *Thread) reviewItems(index int) (items []protocol.ResponseItem) {
	turn := t.state.Request(index).TurnID
	for i := index; i >= 0; i-- {
		r := t.state.Request(i)
		if r.TurnID != turn {
			break
		}
		items = slices.Concat(r.Added, items)
	}
	return items
}

// Next returns the ordinal of the line after those that were applied.
func (l *Loading) Next() int64 { return l.state.Next }

// PastPrompt returns the prompt of a past request, and the ids of the context items of each of its items. The
// lines before the request's From were applied.
func (l *Loading) PastPrompt(o Options, r *PastRequest) (p *Prompt, sources [][]string) {
	t := l.Thread(o)
	t.state.Settings.Provider, t.state.Settings.Model = r.Provider, r.Model
	t.state.SetModel()
	t.context.SetResponses(r.Responses)
	t.context.ChooseForms()
	p = t.request()
	p.Effort, p.Instructions, p.Tools, p.WebSearch = r.Effort, r.system, r.tools.Tools, r.tools.WebSearch
	switch r.Kind {
	case protocol.RequestReview:
		p.Items = r.review
	case protocol.RequestCompaction:
		c := &compaction.Context{History: t.context}
		span := c.Span(planOf(c, r.Span))
		p.Items, p.Summarises = summaryInput(c, &span, r.system, r.Span.Window), true
		sources = [][]string{t.itemIDs(span.Places)}
	default:
		p.Items, sources = t.context.Prompt(), t.PromptSources()
	}
	return p, sources
}

// PromptSources returns the ids of the context items of each item of the next prompt.
func (t *Thread) PromptSources() (sources [][]string) {
	for _, place := range t.context.PromptPlaces() {
		sources = append(sources, []string{t.context.Item(place).ID()})
	}
	return sources
}

func (t *Thread) itemIDs(places []int) (ids []string) {
	for _, place := range places {
		ids = append(ids, t.context.Item(place).ID())
	}
	return ids
}

// planOf returns the plan of a stored span.
func planOf(c *compaction.Context, s *protocol.StoredSpan) compaction.Plan {
	plan := compaction.Plan{From: none}
	if place, found := c.Find(s.KeepFrom); found {
		plan.From = place
	}
	for _, id := range s.Kept {
		if place, found := c.Find(id); found {
			plan.Words = append(plan.Words, place)
		}
	}
	return plan
}

// Inexact returns the reason why a rebuilt prompt with a hash may differ from what was sent, or "".
func (p *PastRequest) Inexact(id string) string {
	switch {
	case p.Missing != "":
		return "The rollout lacks a part of the request: " + p.Missing + "."
	case p.PromptID == "":
		return "The hash of the request is not known, so the prompt cannot be compared."
	case p.PromptID != id:
		return "The hash differs from that of the request. Lines have changed since, for example because secrets " +
			"were removed, or the provider or the server write requests in another form now."
	}
	return ""
}

// At returns the thread with the context of another revision, or with the context after operations. It is
// for reading, until the next step of the thread. With neither, it returns the thread.
func (t *Thread) At(revision *int64, operations []protocol.ContextOperation) (*Thread, *protocol.Error) {
	var err *protocol.Error
	at := *t
	switch {
	case revision != nil:
		at.context, err = t.context.After(*revision)
	case operations != nil:
		at.context, err = t.context.With(operations, t.state.SelectTurns)
	default:
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	return &at, nil
}
