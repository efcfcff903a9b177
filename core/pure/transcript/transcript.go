package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/protocol"
)

// Transcript has the turns of a thread in the order in which they began. The zero Transcript is empty. It is not
// safe for concurrent use.
type Transcript struct {
	turns snapshot.List[Turn]
	// ids has the id of each turn, so that it is known without the turn.
	ids     snapshot.List[string]
	indices snapshot.IDs // of turns, by id
	events  snapshot.List[Event]
	// itemEvents are the indices of the events of items, by id.
	itemEvents snapshot.Positions
	// messages are the positions of the messages of the user and the agent.
	messages []int64
	// numbered counts the items of events without ids.
	numbered int64
	// items counts the items of all turns.
	items   int64
	preview string
}

// Event is the begin or the end of a turn, or an item.
type Event struct {
	// Position is the ordinal of its line.
	Position int64
	// Turn is the index of the turn. Item is the index of the item in the turn, or TurnBegan or TurnEnded.
	Turn, Item int32
}

// The values of Event.Item for events that are not items.
const (
	TurnBegan int32 = -2
	TurnEnded int32 = -1
)

// Line is an event of the rollout that is applied.
type Line struct {
	lineref.Ref
	Ordinal int64
	// Usage is the usage of the thread so far.
	Usage protocol.ThreadTokenUsage
}

// TurnCount returns the number of turns.
func (t *Transcript) TurnCount() int { return t.turns.Len() }

// Turn returns a turn by its index.
func (t *Transcript) Turn(i int) *Turn { return t.turns.At(i) }

// TurnID returns the id of a turn. It does not decode the turn of a snapshot.
func (t *Transcript) TurnID(i int) string { return *t.ids.At(i) }

// IndexOf returns the index of the turn with an id.
func (t *Transcript) IndexOf(id string) (index int, found bool) {
	at, found := t.indices.Find(id, func(i int32) bool { return int(i) < t.TurnCount() && t.TurnID(int(i)) == id })
	return int(at), found
}

// Last returns the last turn, or nil.
func (t *Transcript) Last() *Turn {
	if t.TurnCount() == 0 {
		return nil
	}
	return t.Turn(t.TurnCount() - 1)
}

// EventCount returns the number of events.
func (t *Transcript) EventCount() int { return t.events.Len() }

// Event returns an event by its index.
func (t *Transcript) Event(i int) Event { return *t.events.At(i) }

// ItemAt returns the item of an event, which must be an item.
func (t *Transcript) ItemAt(e Event) *Item { return t.Turn(int(e.Turn)).Item(int(e.Item)) }

// LastItem returns the index of the last event of an item with an id, in a turn, or in all turns if that is None.
func (t *Transcript) LastItem(turn int, id string) (event int, found bool) {
	for i := range t.itemEvents.Backward(id) {
		if e := t.Event(i); (turn == None || int(e.Turn) == turn) && t.ItemAt(e).ID() == id {
			return i, true
		}
	}
	return 0, false
}

// EventFrom returns the index of the first event at a position or after it.
func (t *Transcript) EventFrom(position int64) int {
	i, _ := t.events.Search(func(e *Event) int { return cmp.Compare(e.Position, position) })
	return i
}

// MessagesBefore returns the number of messages of the user and the agent before a position.
func (t *Transcript) MessagesBefore(position int64) int {
	n, _ := slices.BinarySearch(t.messages, position)
	return n
}

// BeginOf returns the position at which a turn began, or None if no line has it.
func (t *Transcript) BeginOf(turn int) int64 {
	for _, e := range t.events.Backward() {
		if e.Item == TurnBegan && int(e.Turn) == turn {
			return e.Position
		}
	}
	return None
}

// Preview returns the preview of the first message of the user, or "".
func (t *Transcript) Preview() string { return t.preview }

// Started applies the begin of a turn and returns the model's context window, or nil. A turn whose id is absent
// or taken gets one by its position.
func (t *Transcript) Started(line *Line) (window *int64) {
	members := gjson.GetManyBytes(line.Raw, "turn_id", "root_turn_id", "started_at", "model_context_window")
	id := members[0].Str
	if _, taken := t.IndexOf(id); taken || id == "" {
		id = nameTurn(line.Ordinal)
	}
	turn := t.addTurn(Turn{ID: id, Status: protocol.TurnInProgress, StartedAt: optionalInt(members[2])}, line)
	if root := members[1].Str; root != "" {
		turn.Root = root
	}
	return optionalInt(members[3])
}

// Completed applies the end of a turn.
func (t *Transcript) Completed(line *Line) {
	turn := t.endedBy(line)
	if turn == nil {
		return
	}
	t.end(line, turn)
	members := gjson.GetManyBytes(line.Raw, "completed_at", "duration_ms", "error")
	turn.Status = protocol.TurnCompleted
	turn.CompletedAt, turn.DurationMs = optionalInt(members[0]), optionalInt(members[1])
	if failure := members[2]; failure.IsObject() {
		turn.Status = protocol.TurnFailed
		turn.Err = &protocol.TurnError{
			Message:        failure.Get("message").Str,
			CodexErrorInfo: protocol.ErrorInfoFromStored(json.RawMessage(failure.Get("codex_error_info").Raw)),
		}
	}
}

// Aborted applies the interruption of a turn.
func (t *Transcript) Aborted(line *Line) {
	var e protocol.TurnAborted
	turn := t.endedBy(line)
	if protocol.Unmarshal(line.Raw, &e) != nil || turn == nil {
		return
	}
	t.end(line, turn)
	turn.Status, turn.CompletedAt, turn.DurationMs = protocol.TurnInterrupted, e.CompletedAt, e.DurationMs
}

// Shown is a message of the user in the transcript. TurnID is "" if the line before the event has the message,
// whatever its turn.
type Shown struct{ TurnID, ItemID string }

// ItemCompleted applies an item_completed event. It returns a message of the user, or the zero Shown.
func (t *Transcript) ItemCompleted(line *Line) (shown Shown) {
	kind := member(line.Raw, "item.type")
	if kind == "" {
		return Shown{}
	}
	turn := t.turnOf(member(line.Raw, "turn_id"), line)
	item := Item{Ref: line.Ref, number: None}
	switch kind {
	case userMessageType:
		item.speaker = user
		shown = Shown{turn.ID, member(line.Raw, "item.id")}
		t.setPreviewOf(line.Raw)
	case agentMessageType:
		item.speaker = agent
	}
	t.addItem(line, turn, item)
	turn.hasIDs = turn.hasIDs || item.IsMessage()
	return shown
}

// Reverted is a transcript before a revert. It is valid while no turn and no item joins the transcript.
type Reverted struct {
	before Transcript
	first  int
}

// Usage returns the usage before the first turn that was removed.
func (r *Reverted) Usage() protocol.ThreadTokenUsage { return r.before.Turn(r.first).UsageBefore }

// First returns the id of the first turn that was removed.
func (r *Reverted) First() string { return r.before.TurnID(r.first) }

// Revert removes the turns from an index on, and all that came from a position on.
func (t *Transcript) Revert(first int, position int64) Reverted {
	r := Reverted{*t, first}
	for i := first; i < t.TurnCount(); i++ {
		t.indices.Delete(t.TurnID(i))
		t.items -= int64(len(t.Turn(i).items))
	}
	events, messages := t.EventFrom(position), t.MessagesBefore(position)
	t.turns.Cut(first)
	t.ids.Cut(first) // after the turns, because a block of them is decoded with their ids
	t.events.Cut(events)
	t.itemEvents.Cut(events)
	t.messages = slices.Clip(t.messages[:messages])
	t.numbered = t.items
	if first == 0 {
		t.preview = ""
	}
	return r
}

// UndoRevert restores the turns that a revert removed.
func (t *Transcript) UndoRevert(r *Reverted) {
	indices := t.indices
	*t = r.before
	t.indices = indices
	for i := r.first; i < t.TurnCount(); i++ {
		t.indices.Set(t.TurnID(i), int32(i))
	}
}

// addTurn adds a turn that begins at a line.
func (t *Transcript) addTurn(turn Turn, line *Line) *Turn {
	t.indices.Set(turn.ID, int32(t.TurnCount()))
	turn.Root, turn.UsageBefore = turn.ID, line.Usage
	t.turns.Append(turn)
	t.ids.Append(turn.ID)
	added := t.Last()
	t.addEvent(line, added, TurnBegan)
	return added
}

// turnOf returns the turn with an id. A turn that no line began is added.
func (t *Transcript) turnOf(id string, line *Line) *Turn {
	if i, known := t.IndexOf(id); known {
		return t.Turn(i)
	}
	if id == "" {
		id = nameTurn(line.Ordinal)
	}
	return t.addTurn(Turn{ID: id, Status: protocol.TurnCompleted}, line)
}

// nameTurn returns the id of a turn without one, as the reference implementation names it.
func nameTurn(ordinal int64) string { return fmt.Sprintf("rollout-%d", ordinal) }

// endedBy returns the turn that a line ends: the one that it names, or the last one, or nil.
func (t *Transcript) endedBy(line *Line) *Turn {
	if i, known := t.IndexOf(member(line.Raw, "turn_id")); known {
		return t.Turn(i)
	}
	return t.Last()
}

// end adds the end of a turn. A second line that ends it changes its result, but not its position.
func (t *Transcript) end(line *Line, turn *Turn) {
	if !turn.ended {
		t.addEvent(line, turn, TurnEnded)
	}
	turn.ended = true
}

func (t *Transcript) addEvent(line *Line, turn *Turn, item int32) {
	index, _ := t.IndexOf(turn.ID)
	t.events.Append(Event{line.Ordinal, int32(index), item})
}

func (t *Transcript) addItem(line *Line, turn *Turn, item Item) {
	t.itemEvents.Add(item.ID(), t.events.Len())
	item.Evict()
	t.addEvent(line, turn, int32(len(turn.items)))
	turn.items = append(turn.items, item)
	t.items++
	if item.IsMessage() {
		t.messages = append(t.messages, line.Ordinal)
	}
}

func (t *Transcript) setPreviewOf(payload json.RawMessage) {
	if t.preview != "" {
		return
	}
	if u, ok := DecodeItem(payload).ThreadItemVariant.(*protocol.UserMessageItem); ok {
		t.preview = protocol.PreviewOf(InputText(u.Content))
	}
}
