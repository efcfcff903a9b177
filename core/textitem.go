package core

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"appserver/core/lineref"
	"appserver/protocol"
)

// The types of events without ids whose items are shown. Their items are numbered from 1.
const (
	eventRawReasoning  = "agent_reasoning_raw_content"
	eventCompacted     = "context_compacted"
	eventEnteredReview = "entered_review_mode"
	eventExitedReview  = "exited_review_mode"
)

// applyItemEvent adds the item of an event in a file without item_completed. Other events
// bring no item.
func (l *log) applyItemEvent(ordinal int64, kind string, payload json.RawMessage) {
	switch kind {
	case protocol.EventUserMessage:
		l.applyUserText(ordinal, payload)
	case protocol.EventAgentMessage:
		if peek(payload, "message") != "" {
			l.addNumbered(ordinal, l.openTurn(ordinal), theAgent, payload)
		}
	case protocol.EventAgentReasoning, eventRawReasoning:
		if peek(payload, "text") != "" {
			l.applyThought(ordinal, payload)
		}
	case eventEnteredReview:
		if gjson.GetBytes(payload, "target").IsObject() {
			l.addNumbered(ordinal, l.openTurn(ordinal), nobody, payload)
		}
	case eventCompacted, eventExitedReview:
		l.addNumbered(ordinal, l.openTurn(ordinal), nobody, payload)
	default:
		if _, shown := legacyEvents[kind]; shown {
			l.applyLegacy(ordinal, kind, payload)
		}
	}
}

// openTurn is the turn that an event without a turn belongs to: the last one, or a new one
// if that has ended.
func (l *log) openTurn(ordinal int64) *turnRecord {
	if t := l.lastTurn(); t != nil && !t.ended {
		return t
	}
	return l.turnOf("", ordinal)
}

// applyUserText begins a turn unless a line began one, or a compaction did.
func (l *log) applyUserText(ordinal int64, payload json.RawMessage) {
	t := l.lastTurn()
	if t == nil || t.ended || t.status != protocol.TurnInProgress && len(t.items) > 0 {
		t = l.turnOf("", ordinal)
	}
	if t.whole {
		return
	}
	l.addNumbered(ordinal, t, theUser, payload)
	l.context.ShowUserMessage(itemName(l.numbered))
	if l.preview == "" {
		l.preview = protocol.PreviewOf(peek(payload, "message"))
	}
}

// applyThought adds to the reasoning that the turn ends with, or begins some.
func (l *log) applyThought(ordinal int64, payload json.RawMessage) {
	t := l.openTurn(ordinal)
	if n := len(t.items); n > 0 && !t.whole && t.items[n-1].says == theThoughts {
		t.items[n-1].think(l.ref(none, payload))
		return
	}
	l.addNumbered(ordinal, t, theThoughts, payload)
}

// addNumbered adds an item that its event gives no id. Turns that have items with ids have
// that one, too.
func (l *log) addNumbered(ordinal int64, t *turnRecord, says speaker, payload json.RawMessage) {
	if t.whole {
		return
	}
	l.numbered++
	r := itemRecord{Ref: l.ref(none, payload), says: says, number: l.numbered}
	r.Evict()
	l.addItem(ordinal, t, r)
}

func itemName(number int64) string { return fmt.Sprintf("item-%d", number) }

// think adds a part of reasoning.
func (r *itemRecord) think(part lineref.Ref) {
	if v, decoded := r.item.ThreadItemVariant.(*protocol.ReasoningItem); decoded {
		think(v, part.Raw)
		return
	}
	part.Evict()
	r.more = append(r.more, part)
}

func think(v *protocol.ReasoningItem, payload json.RawMessage) {
	switch text := peek(payload, "text"); peek(payload, "type") {
	case protocol.EventAgentReasoning:
		v.Summary = append(v.Summary, text)
	case eventRawReasoning:
		v.Content = append(v.Content, text)
	}
}

// numbered is the item of an event without an id.
func (r *itemRecord) numbered(payload json.RawMessage) (item protocol.ThreadItem) {
	e, id := gjson.ParseBytes(payload), r.id()
	switch e.Get("type").Str {
	case protocol.EventUserMessage:
		item.ThreadItemVariant = &protocol.UserMessageItem{ID: id, ClientID: optional(e.Get("client_id").Str), Content: eventInput(e)}
	case protocol.EventAgentMessage:
		item.ThreadItemVariant = agentItem(id, e.Get("message").Str, e)
	case eventCompacted:
		item.ThreadItemVariant = &protocol.ContextCompactionItem{ID: id}
	case eventEnteredReview:
		item.ThreadItemVariant = &protocol.EnteredReviewModeItem{ID: id, Review: e.Get("user_facing_hint").Str}
	case eventExitedReview:
		item.ThreadItemVariant = loadExited(withMembers(id, e, nil))
	default:
		item.ThreadItemVariant = r.reasoning(id, payload)
	}
	return item
}

func (r *itemRecord) reasoning(id string, payload json.RawMessage) *protocol.ReasoningItem {
	v := &protocol.ReasoningItem{ID: id, Summary: []string{}, Content: []string{}}
	think(v, payload)
	for i := range r.more {
		part, _ := r.more[i].Payload()
		think(v, part)
	}
	return v
}

// agentItem is a message of the agent with what its line tells of it.
func agentItem(id, text string, in gjson.Result) *protocol.AgentMessageItem {
	v := &protocol.AgentMessageItem{ID: id, Text: text, Phase: optional(in.Get("phase").Str)}
	if citation := in.Get("memory_citation"); citation.IsObject() {
		threads := either(citation, "threadIds", "rolloutIds")
		v.MemoryCitation, _ = protocol.Marshal(object{"entries": rawOf(citation.Get("entries")), "threadIds": rawOf(threads)})
	}
	if moderation := in.Get("moderation"); moderation.IsObject() {
		v.Moderation, _ = protocol.Marshal(object{"moderated": moderation.Get("moderated").Bool(), "display": rawOf(moderation.Get("display"))})
	}
	v.Delivery, v.Questions = unlessNull(in.Get("delivery")), unlessNull(in.Get("questions"))
	return v
}

// unlessNull is a value as it is written, nil if it is absent or null.
func unlessNull(value gjson.Result) json.RawMessage {
	if value.Type == gjson.Null {
		return nil
	}
	return json.RawMessage(value.Raw)
}
