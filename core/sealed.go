package core

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// An encrypted compaction is a history that takes the place of the items before it, and only its
// provider can read that. Both are in the context: the next request has the compaction if it goes to
// that provider by the Responses API, else the items before it.

// aside is why the next request does not have an item, but another form of it.
type aside int8

const (
	// compactionSent is for the items before an encrypted compaction that is sent.
	compactionSent aside = iota + 1
	// originalsSent is for the items of an encrypted compaction that is not sent.
	originalsSent
)

// joinSealed adds the items of an encrypted compaction. chooseForms decides if they are sent.
func (l *log) joinSealed(ordinal int64, history []json.RawMessage) {
	l.sealed = append(l.sealed, ordinal)
	for k, raw := range history {
		l.join(contextItem{ordinal: ordinal, turnID: l.currentTurn(), Ref: l.ref(k, raw), aside: originalsSent})
		added := &l.items[len(l.items)-1]
		added.maker = l.makerOf(maker{l.settings.Provider, l.settings.Model})
		if what := subjectOf(raw[:min(len(raw), 512)]); added.ofUser && what != theReminder {
			added.tells = what
		}
	}
}

// chooseForms decides which form of the items before encrypted compactions the next request has.
func (t *Thread) chooseForms() {
	if len(t.sealed) == 0 && t.opened == 0 {
		return
	}
	t.opened = t.openCompaction()
	changed := false
	for i := range t.items {
		c := &t.items[i]
		if form := t.formOf(c); form != c.aside {
			c.aside, changed = form, true
		}
	}
	if changed {
		t.allChanged = true
		t.hearAgain()
	}
}

// openCompaction is the ordinal of the last encrypted compaction that the next request can have, 0
// without one. One that the user took out is none.
func (t *Thread) openCompaction() int64 {
	for i := len(t.sealed) - 1; i >= 0; i-- {
		if c := t.sealedItem(t.sealed[i]); c != nil && c.kept() && t.nativeNotSent(c) == "" {
			return t.sealed[i]
		}
	}
	return 0
}

func (t *Thread) formOf(c *contextItem) aside {
	switch {
	case c.ordinal < t.opened:
		return compactionSent
	case c.ordinal == t.opened, c.Part == none || !t.isSealedAt(c.ordinal):
		return 0
	}
	return originalsSent
}

// isSealedAt reports whether the line with an ordinal is an encrypted compaction that no later trim
// or compaction took out. Of one that was, what is left are items like others.
func (h *history) isSealedAt(ordinal int64) bool {
	if !slices.Contains(h.sealed, ordinal) {
		return false
	}
	c := h.sealedItem(ordinal)
	return c != nil && !c.fate.hidden
}

// sealedItem is the encrypted item of a compaction, or nil.
func (h *history) sealedItem(ordinal int64) *contextItem {
	first, _ := h.search(ordinal, 0)
	for i := first; i < len(h.items) && h.items[i].ordinal == ordinal; i++ {
		if c := &h.items[i]; c.native && c.price > 0 {
			return c
		}
	}
	return nil
}

// lastSealed is the ordinal of the last encrypted compaction that no trim or compaction took out, 0
// without one.
func (h *history) lastSealed() int64 {
	for i := len(h.sealed) - 1; i >= 0; i-- {
		if h.isSealedAt(h.sealed[i]) {
			return h.sealed[i]
		}
	}
	return 0
}

// hidingSealed takes out the encrypted compactions behind the first item that a trim keeps: they
// stand for what is before it, too.
func (h *history) hidingSealed(from int, kept map[int]bool) (changes []change) {
	if from == none {
		return nil
	}
	for i := range h.items {
		c := &h.items[i]
		if kept[i] || c.Part == none || c.fate.hidden || c.ordinal <= h.items[from].ordinal || !h.isSealedAt(c.ordinal) {
			continue
		}
		after := c.fate
		after.hidden = true
		changes = append(changes, change{int32(i), c.fate, after})
	}
	return changes
}

// unsentForms are the places of the items of encrypted compactions that are not sent.
func (h *history) unsentForms() (places []int) {
	for i := range h.items {
		if c := &h.items[i]; c.aside == originalsSent && !c.fate.hidden {
			places = append(places, i)
		}
	}
	return places
}

// otherFormSent is the reason for an item that is aside.
func (t *Thread) otherFormSent(c *contextItem) protocol.NotSentReason {
	if c.aside == compactionSent {
		return protocol.NotSentCompactionSent
	}
	if why := t.nativeNotSent(c); c.native && why != "" {
		return why
	}
	return protocol.NotSentOriginalsSent
}

// placeholderSent reports whether the next request has a placeholder for an output.
func (t *Thread) placeholderSent(place int) bool {
	return t.items[place].aside == 0 && t.standsFor(place)
}

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

// unseal warns that the items before an encrypted compaction are in the context. If the next
// request would be too long with them, a local extract takes their place.
func (s *step) unseal(w *World) {
	sealed := s.lastSealed()
	if sealed == 0 || s.opened == sealed {
		return
	}
	from, _ := s.search(sealed+1, none)
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
		if l.items[i].listed() && l.items[i].aside == 0 {
			n++
		}
	}
	return n
}
