package core

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// A sealed compaction replaces the history by an item that only its provider can read. Here
// it replaces nothing: the items before it stay in the context, with their ids.

// isSealed reports whether a compaction's history has an item with encrypted content that
// stands for others.
func isSealed(history []json.RawMessage) bool {
	for _, raw := range history {
		item := gjson.GetManyBytes(raw, "type", "encrypted_content")
		switch item[0].Str {
		case "compaction", "compaction_summary", "context_compaction":
			if item[1].Str != "" {
				return true
			}
		}
	}
	return false
}

// sealedInForce reports whether no later trim or compaction took the place of the last
// sealed compaction.
func (l *log) sealedInForce() bool {
	cut := l.lastCut()
	return l.sealedAt > 0 && (cut == nil || cut.ordinal < l.sealedAt)
}

// unseal warns that the items before a sealed compaction are in the context. If the next
// request would be too long with them, a local extract takes their place.
func (s *step) unseal(w *World) {
	if !s.sealedInForce() {
		return
	}
	from, _ := s.search(s.sealedAt+1, none)
	limit, tokens := s.roomFor(w), s.PromptTokens()
	text := fmt.Sprintf("A compaction of this conversation is encrypted: only the provider that made it can read it. "+
		"The %d items before it are in the context again.", s.listedBefore(from))
	if limit == 0 || tokens <= limit {
		s.warn([]string{text})
		return
	}
	if from == len(s.items) {
		from = none
	}
	_, words := w.Compaction.budgets(w.Compaction.Target)
	c := s.compaction(&w.Compaction, protocol.CompactLocal, compactPlan{from: from, words: s.wordsBefore(from, words)})
	extract := c.extract()
	cut := s.writeCompaction(s.pointOf(c, extract), extract, protocol.CompactLocal, 0)
	s.warn([]string{fmt.Sprintf("A compaction of this conversation is encrypted: only the provider that made it can read it. "+
		"The items before it have too many tokens (%d, and %d fit), so an extract of them stands in their place. "+
		"Take it back with context/undo.", tokens, limit)})
	s.tellSize()
	s.tellCut(cut)
	s.tellContext(s.lastChanges())
}

// roomFor is how many tokens a request may have, 0 if that is not known.
func (s *step) roomFor(w *World) int64 {
	limit, window := w.Compaction.Limit, w.Provider.ContextWindow
	if window != nil && (limit == 0 || *window < limit) {
		return *window
	}
	return limit
}

// listedBefore counts the items that clients see before a place.
func (l *log) listedBefore(place int) (n int) {
	for i := range l.items[:place] {
		if l.items[i].listed() {
			n++
		}
	}
	return n
}
