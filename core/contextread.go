package core

import (
	"appserver/core/pure/view"
	"appserver/protocol"
)

// GetContextItems requests the list of context items.
type GetContextItems struct {
	To     protocol.Caller
	Cursor *string
	Limit  *uint32
}

// ReadContextItem requests one item in full.
type ReadContextItem struct {
	To protocol.Caller
	ID string
}

// SearchContext requests the items whose text has a match.
type SearchContext struct {
	To    protocol.Caller
	Query *protocol.ContextSearchParams
}

// GetContextUsage requests the cost of the context, ListContextEdits the journal.
type (
	GetContextUsage  struct{ To protocol.Caller }
	ListContextEdits struct {
		To protocol.Caller
		// WithItems is set if the response has the changed items.
		WithItems bool
	}
)

func (in GetContextItems) apply(s *step) {
	items, total, next, err := s.context.Page(in.Cursor, in.Limit)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, protocol.ContextGetItemsResponse{
		Revision: s.context.Revision(), Total: total, Items: items, Usage: s.contextUsage(), NextCursor: next,
	})
}

func (in ReadContextItem) apply(s *step) {
	answer, err := s.context.ReadItem(in.ID)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, answer)
}

func (in SearchContext) apply(s *step) {
	answer, err := view.SearchContext(s.context, in.Query)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, answer)
}

func (in GetContextUsage) apply(s *step) {
	s.reply(in.To, protocol.ContextGetUsageResponse{
		Revision: s.context.Revision(), Usage: s.contextUsage(), ServerTools: s.serverToolUsage(),
	})
}

func (in ListContextEdits) apply(s *step) {
	s.reply(in.To, protocol.ContextListEditsResponse{Revision: s.context.Revision(),
		Edits: s.context.Edits(in.WithItems)})
}

// ContextRevision returns the number of edits of the context.
func (t *Thread) ContextRevision() int64 { return t.context.Revision() }

// NextPrompt returns the request of a turn that starts now, without the user's input, and its cost in
// tokens. While a turn is active it returns the next request of that turn.
func (t *Thread) NextPrompt(env TurnEnv) (p *Prompt, tokens int64) {
	if t.isIdle() {
		t.applyEnv(env)
		t.setServerTools(env.Tools, env.Provider.ContextWindow)
	}
	p, tokens = t.Prompt(), t.PromptTokens()
	if !t.isIdle() {
		return p, tokens
	}
	for _, m := range t.newNotices(env) {
		p.Items = append(p.Items, protocol.ResponseItem{ResponseItemVariant: m})
		tokens += t.context.Scaled(t.context.Count(m.Content[0].Text))
	}
	return p, tokens
}

// ContextItems returns the whole list of context items, for clients after a change.
func (t *Thread) ContextItems() protocol.ContextItemsNotification {
	return t.contextNotification(t.context.Notification())
}

// ContextChanges returns the changes of the list, for clients that keep it.
func (t *Thread) ContextChanges(c ContextChanged) protocol.ContextItemsNotification {
	return t.contextNotification(t.context.UpdateNotification(c.Update))
}

func (t *Thread) contextNotification(n protocol.ContextItemsNotification) protocol.ContextItemsNotification {
	n.ThreadID, n.Usage = t.state.ID, t.contextUsage()
	return n
}

// Describe prepares at most n of the items that clients can list, so that the first list is faster. It
// returns false if no item is left, and for large threads.
func (t *Thread) Describe(n int) (more bool) { return t.context.DescribeSome(n) }

// Projection returns a function that rewrites the lines of the rollout for a reader that ignores context
// edits, so that its model receives the same prompt. The function returns false for a line to leave out.
// Projection returns nil if every line stays as it is, or if ordinals do not identify lines.
func (t *Thread) Projection() func(protocol.RolloutLine) (protocol.RolloutLine, bool) {
	if t.state.Disordered {
		return nil
	}
	return t.context.Projection()
}
