package core

import "appserver/protocol"

// GetContextItems requests the list of context items.
type GetContextItems struct {
	To     protocol.Caller
	Cursor *string
	Limit  *uint32
}

// GetContextUsage requests the cost of the context, ListContextEdits the journal.
type (
	GetContextUsage  struct{ To protocol.Caller }
	ListContextEdits struct{ To protocol.Caller }
)

// PreviewContext requests the effect of operations, applied one after the other.
type PreviewContext struct {
	To         protocol.Caller
	Operations []protocol.ContextOperation
}

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

func (in GetContextUsage) apply(s *step) {
	s.reply(in.To, protocol.ContextGetUsageResponse{Revision: s.context.Revision(), Usage: s.contextUsage()})
}

func (in ListContextEdits) apply(s *step) {
	edits := make([]protocol.ContextEdit, len(s.context.Journal()))
	for i, e := range s.context.Journal() {
		edits[i] = e.ContextEdit
	}
	s.reply(in.To, protocol.ContextListEditsResponse{Revision: s.context.Revision(), Edits: edits})
}

func (in PreviewContext) apply(s *step) { s.previewContext(in) }

func (s *step) previewContext(in PreviewContext) {
	answer, err := s.context.Preview(in.Operations, s.state.SelectTurns, s.contextUsage)
	if err != nil {
		s.reject(in.To, err)
		return
	}
	s.reply(in.To, answer)
}

// ContextRevision returns the number of edits of the context.
func (t *Thread) ContextRevision() int64 { return t.context.Revision() }
