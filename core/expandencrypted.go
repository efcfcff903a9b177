package core

import (
	"fmt"

	"appserver/core/pure/compaction"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// expandEncrypted warns that the items before an encrypted compaction are in the context again. If the
// next request would be too long with them, an extract replaces them.
func (s *step) expandEncrypted(env *TurnEnv) {
	encrypted := s.context.LastEncrypted()
	if encrypted == 0 || s.context.SentCompaction() == encrypted {
		return
	}
	from := s.context.FindOrdinal(encrypted + 1)
	limit, tokens := roomFor(env), s.PromptTokens()
	text := fmt.Sprintf("A compaction of this conversation is encrypted: only the provider that made it can read it. "+
		"The %d items before it are in the context again.", s.listedBefore(from))
	if limit == 0 || tokens <= limit {
		s.warn([]string{text})
		return
	}
	if from == s.context.Len() {
		from = history.None
	}
	_, words := env.Compaction.Budgets(env.Compaction.Target)
	plan := compaction.Plan{From: from, Words: s.compactable().WordsBefore(from, words)}
	c := s.newCompaction(&env.Compaction, protocol.CompactLocal, plan)
	audit := c.rules.Audit(&c.span, c.rules.Extract(&c.span))
	cut := s.writeCompaction(s.pointOf(c, &audit), audit.Text, protocol.CompactLocal, 0)
	s.warn([]string{fmt.Sprintf("A compaction of this conversation is encrypted: only the provider that made it can read it. "+
		"The items before it have too many tokens (%d, and %d fit), so an extract of them stands in their place. "+
		"Take it back with context/undo.", tokens, limit)})
	s.recordSize()
	s.notifyTrim(cut)
	s.contextChanged(s.lastChanges())
}

// listedBefore counts the items that clients see before a place.
func (t *Thread) listedBefore(place int) (n int) {
	for i := range place {
		if c := t.context.Item(i); c.Listed() && c.InForm() {
			n++
		}
	}
	return n
}
