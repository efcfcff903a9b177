package core

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"appserver/core/lineref"
	"appserver/protocol"
)

// turnRecord is a turn as the rollout keeps it.
type turnRecord struct {
	id          string
	root        string // the first turn of the chain of work that led to this one
	status      protocol.TurnStatus
	err         *protocol.TurnError
	startedAt   *int64
	completedAt *int64
	durationMs  *int64
	items       []itemRecord
	// whole is set where items came with their ids: the turn's text events repeat them.
	whole bool
	ended bool // a line says so
	// before is what had been used when the turn began.
	before protocol.ThreadTokenUsage
}

// itemRecord is a completed thread item. It stays in the form of its line, an
// item_completed event, until it is asked for, and where that can be read again, for ever.
type itemRecord struct {
	lineref.Ref
	item protocol.ThreadItem
	says speaker
	// number counts the items of events without ids, none for others. It makes their ids.
	number int64
	// more are further lines of the item: reasoning has one for each part.
	more []lineref.Ref
}

// speaker is whose words an item is.
type speaker int8

const (
	nobody speaker = iota
	theUser
	theAgent
	theThoughts // reasoning of events without ids
)

// isMessage reports whether the item is a message of the user or the agent.
func (r *itemRecord) isMessage() bool { return r.says == theUser || r.says == theAgent }

// Item is the thread item.
func (r *itemRecord) Item() protocol.ThreadItem {
	if r.item.ThreadItemVariant != nil {
		return r.item
	}
	raw, _ := r.Payload()
	item := r.load(raw)
	if r.Source == nil {
		r.item, r.Raw, r.more = item, nil, nil
	}
	return item
}

func (r *itemRecord) load(raw json.RawMessage) (item protocol.ThreadItem) {
	if r.number != none {
		return r.numbered(raw)
	}
	if item.ThreadItemVariant = readLegacy(raw); item.ThreadItemVariant != nil {
		return item
	}
	return loadItem(raw)
}

// applyEvent takes an event_msg line.
func (l *log) applyEvent(ordinal int64, line *protocol.RolloutLine) {
	payload := line.Payload
	switch kind := peek(payload, "type"); kind {
	case protocol.EventItemCompleted:
		l.applyItem(ordinal, payload)
	case protocol.EventTaskStarted, "turn_started":
		l.applyStarted(ordinal, payload)
	case protocol.EventTaskComplete, "turn_complete":
		l.applyComplete(ordinal, payload)
	case protocol.EventTurnAborted:
		l.applyAborted(ordinal, payload)
	case protocol.EventRolledBack:
		l.applyRolledBack(ordinal, line)
	case protocol.EventTokenCount:
		l.applyUsage(payload)
	case protocol.EventSettings:
		l.applySettings(payload)
	case protocol.EventNameUpdated:
		l.name, l.namedAt = peek(payload, "thread_name"), line.Timestamp
	default:
		if l.meta.HistoryMode != protocol.HistoryPaginated {
			l.applyItemEvent(ordinal, kind, payload)
		}
	}
}

// applyStarted begins a turn. An id that is absent, or taken, is made from the
// ordinal.
func (l *log) applyStarted(ordinal int64, payload json.RawMessage) {
	members := gjson.GetManyBytes(payload, "turn_id", "root_turn_id", "started_at", "model_context_window")
	e := protocol.TaskStarted{TurnID: members[0].Str, RootTurnID: optional(members[1].Str), StartedAt: integer(members[2]), ModelContextWindow: integer(members[3])}
	if _, taken := l.turnAt[e.TurnID]; taken || e.TurnID == "" {
		e.TurnID = turnName(ordinal)
	}
	t := l.addTurn(turnRecord{id: e.TurnID, status: protocol.TurnInProgress, startedAt: e.StartedAt})
	set(&t.root, e.RootTurnID)
	l.note(ordinal, t, turnBegan)
	l.usage.ModelContextWindow = e.ModelContextWindow
}

// turnName is the id of a turn that has none, by the line that began it: the reference
// implementation's.
func turnName(ordinal int64) string { return fmt.Sprintf("rollout-%d", ordinal) }

func (l *log) addTurn(t turnRecord) *turnRecord {
	if l.turnAt == nil {
		l.turnAt = map[string]int{}
	}
	l.turnAt[t.id] = len(l.turns)
	t.root, t.before = t.id, l.usage
	l.turns = append(l.turns, t)
	return &l.turns[len(l.turns)-1]
}

// endingTurn is the turn that an event ends: the one that it names, or else the last one.
func (l *log) endingTurn(payload json.RawMessage) *turnRecord {
	if at, known := l.turnAt[peek(payload, "turn_id")]; known {
		return &l.turns[at]
	}
	return l.lastTurn()
}

func (l *log) applyComplete(ordinal int64, payload json.RawMessage) {
	t := l.endingTurn(payload)
	if t == nil {
		return
	}
	l.noteEnd(ordinal, t)
	members := gjson.GetManyBytes(payload, "completed_at", "duration_ms", "error")
	t.status, t.completedAt, t.durationMs = protocol.TurnCompleted, integer(members[0]), integer(members[1])
	if failure := members[2]; failure.IsObject() {
		t.status = protocol.TurnFailed
		t.err = &protocol.TurnError{
			Message:        failure.Get("message").Str,
			CodexErrorInfo: protocol.ErrorInfoFromStored(json.RawMessage(failure.Get("codex_error_info").Raw)),
		}
	}
}

func (l *log) applyAborted(ordinal int64, payload json.RawMessage) {
	var e protocol.TurnAborted
	t := l.endingTurn(payload)
	if protocol.Unmarshal(payload, &e) != nil || t == nil {
		return
	}
	l.noteEnd(ordinal, t)
	t.status, t.completedAt, t.durationMs = protocol.TurnInterrupted, e.CompletedAt, e.DurationMs
}

func (l *log) applyUsage(payload json.RawMessage) {
	var e protocol.TokenCount
	if protocol.Unmarshal(payload, &e) == nil && e.Info != nil {
		l.context.Calibrate(l.settings.Model, e.Info)
		l.priceReasoning(e.Info)
		l.usage.Total = e.Info.TotalTokenUsage.Breakdown()
		l.usage.Last = e.Info.LastTokenUsage.Breakdown()
		l.usage.ModelContextWindow = e.Info.ModelContextWindow
	}
}

// priceReasoning applies a report of reasoning tokens. It skips events that repeat a report.
func (l *log) priceReasoning(info *protocol.TokenCountInfo) {
	reported := info.LastTokenUsage.ReasoningOutputTokens
	if total := info.TotalTokenUsage.Breakdown(); reported > 0 && total != l.usage.Total {
		l.context.PriceReasoning(reported)
	}
}

// applyItem adds an item to its turn. Items of a turn that no line began get one.
func (l *log) applyItem(ordinal int64, payload json.RawMessage) {
	kind := peek(payload, "item.type")
	if kind == "" {
		return
	}
	t := l.turnOf(peek(payload, "turn_id"), ordinal)
	r := itemRecord{Ref: l.ref(none, payload), number: none}
	switch kind {
	case storedUserMessage:
		r.says = theUser
		if last := l.context.Len() - 1; last >= 0 && l.context.Item(last).TurnID() == t.id { // what a reviewer is told is in no history
			l.context.ShowUserMessage(peek(payload, "item.id"))
		}
		l.notePreview(payload)
	case storedAgentMessage:
		r.says = theAgent
	}
	r.Evict()
	l.addItem(ordinal, t, r)
	t.whole = t.whole || r.isMessage()
}

func (l *log) notePreview(payload json.RawMessage) {
	if l.preview != "" {
		return
	}
	if u, ok := loadItem(payload).ThreadItemVariant.(*protocol.UserMessageItem); ok {
		l.preview = protocol.PreviewOf(inputText(u.Content))
	}
}

func userItem(id, text string) protocol.ThreadItem {
	return protocol.ThreadItem{ThreadItemVariant: &protocol.UserMessageItem{ID: id, Content: plainInput(text)}}
}

func plainInput(text string) []protocol.UserInput {
	return []protocol.UserInput{{UserInputVariant: &protocol.TextInput{Text: text, TextElements: []protocol.TextElement{}}}}
}

func (l *log) lastTurn() *turnRecord {
	if len(l.turns) == 0 {
		return nil
	}
	return &l.turns[len(l.turns)-1]
}

// turnOf is the turn with the id, made where there is none.
func (l *log) turnOf(id string, ordinal int64) *turnRecord {
	if i, ok := l.turnAt[id]; ok {
		return &l.turns[i]
	}
	if id == "" {
		id = turnName(ordinal)
	}
	t := l.addTurn(turnRecord{id: id, status: protocol.TurnCompleted})
	l.note(ordinal, t, turnBegan)
	return t
}
