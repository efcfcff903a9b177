package transcript

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// The types of events without ids whose items are shown.
const (
	eventRawReasoning  = "agent_reasoning_raw_content"
	eventCompacted     = "context_compacted"
	eventEnteredReview = "entered_review_mode"
	eventExitedReview  = "exited_review_mode"
)

// LegacyEvent applies an event of a file without item_completed events. It returns a message of the user, or the
// zero Shown. Events that bring no item change nothing.
func (t *Transcript) LegacyEvent(kind string, line *Line) (shown Shown) {
	switch kind {
	case protocol.EventUserMessage:
		return t.addUserMessage(line)
	case protocol.EventAgentMessage:
		if member(line.Raw, "message") != "" {
			t.addNumbered(line, t.openTurn(line), agent)
		}
	case protocol.EventAgentReasoning, eventRawReasoning:
		if member(line.Raw, "text") != "" {
			t.addReasoning(line)
		}
	case eventEnteredReview:
		if gjson.GetBytes(line.Raw, "target").IsObject() {
			t.addNumbered(line, t.openTurn(line), noSpeaker)
		}
	case eventCompacted, eventExitedReview:
		t.addNumbered(line, t.openTurn(line), noSpeaker)
	default:
		if _, known := legacyEvents[kind]; known {
			t.addLegacyItem(line)
		}
	}
	return Shown{}
}

// openTurn returns the turn of an event that names none: the last turn, or a new one if that has ended.
func (t *Transcript) openTurn(line *Line) *Turn {
	if last := t.Last(); last != nil && !last.ended {
		return last
	}
	return t.turnOf("", line)
}

// addUserMessage adds a message. It begins a turn unless a line or a compaction began one.
func (t *Transcript) addUserMessage(line *Line) Shown {
	turn := t.Last()
	if turn == nil || turn.ended || turn.Status != protocol.TurnInProgress && len(turn.items) > 0 {
		turn = t.turnOf("", line)
	}
	if turn.hasIDs {
		return Shown{}
	}
	t.addNumbered(line, turn, user)
	if t.preview == "" {
		t.preview = protocol.PreviewOf(member(line.Raw, "message"))
	}
	return Shown{ItemID: numberedID(t.numbered)}
}

// addReasoning adds a part to the reasoning at the end of the turn, or an item.
func (t *Transcript) addReasoning(line *Line) {
	turn := t.openTurn(line)
	if n := len(turn.items); n > 0 && !turn.hasIDs && turn.items[n-1].speaker == reasoning {
		turn.items[n-1].addReasoning(line.Ref)
		return
	}
	t.addNumbered(line, turn, reasoning)
}

// addNumbered adds an item without an id, unless the turn has its items with ids.
func (t *Transcript) addNumbered(line *Line, turn *Turn, s speaker) {
	if turn.hasIDs {
		return
	}
	t.numbered++
	t.addItem(line, turn, Item{Ref: line.Ref, speaker: s, number: t.numbered})
}

// addLegacyItem adds the item of an event that has an id. The item belongs to the turn that the event names, or
// to the open turn if it names none.
func (t *Transcript) addLegacyItem(line *Line) {
	item := Item{Ref: line.Ref, number: None}
	id := member(line.Raw, "turn_id")
	if id == "" {
		t.addItem(line, t.openTurn(line), item)
		return
	}
	if i, known := t.IndexOf(id); known {
		t.addItem(line, t.Turn(i), item)
	}
}

// agentItem returns a message of the agent with the members of its line.
func agentItem(id, text string, in gjson.Result) *protocol.AgentMessageItem {
	v := &protocol.AgentMessageItem{ID: id, Text: text, Phase: protocol.OrNil(in.Get("phase").Str)}
	if citation := in.Get("memory_citation"); citation.IsObject() {
		threads := firstMember(citation, "threadIds", "rolloutIds")
		v.MemoryCitation, _ = protocol.Marshal(object{
			"entries": rawOrNull(citation.Get("entries")), "threadIds": rawOrNull(threads)})
	}
	if moderation := in.Get("moderation"); moderation.IsObject() {
		v.Moderation, _ = protocol.Marshal(object{
			"moderated": moderation.Get("moderated").Bool(), "display": rawOrNull(moderation.Get("display"))})
	}
	v.Delivery, v.Questions = rawOrNil(in.Get("delivery")), rawOrNil(in.Get("questions"))
	return v
}

// rawOrNil returns the JSON of a value, or nil if it is absent or null.
func rawOrNil(value gjson.Result) json.RawMessage {
	if value.Type == gjson.Null {
		return nil
	}
	return json.RawMessage(value.Raw)
}
