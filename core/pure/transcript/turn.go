package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"appserver/core/pure/lineref"
	"appserver/protocol"
)

// None is the index of no element.
const None = -1

// Turn is a turn as the lines of the rollout describe it.
type Turn struct {
	ID string
	// Root is the first turn of the chain of work that led to this one. It may be the turn itself.
	Root        string
	Status      protocol.TurnStatus
	Err         *protocol.TurnError
	StartedAt   *int64
	CompletedAt *int64
	DurationMs  *int64
	// UsageBefore is the usage of the thread before the turn.
	UsageBefore protocol.ThreadTokenUsage
	items       []Item
	// hasIDs is set if the turn has messages with ids. Its events without ids repeat them.
	hasIDs bool
	ended  bool // a line ends it
}

// Items returns the items of the turn. The caller must not change the list.
func (t *Turn) Items() []Item { return t.items }

// Item returns an item by its index in the turn.
func (t *Turn) Item(i int) *Item { return &t.items[i] }

// View returns the turn without its items.
func (t *Turn) View() protocol.Turn {
	return protocol.Turn{
		ID: t.ID, RootTurnID: new(t.Root), Items: []protocol.ThreadItem{}, ItemsView: protocol.ItemsNotLoaded,
		Status: t.Status, Error: t.Err, StartedAt: t.StartedAt, CompletedAt: t.CompletedAt, DurationMs: t.DurationMs,
	}
}

// Summary returns the first message of the user and the last message of the agent.
func (t *Turn) Summary() []protocol.ThreadItem {
	items := []protocol.ThreadItem{}
	for i := range t.items {
		if t.items[i].speaker == user {
			items = append(items, t.items[i].ThreadItem())
			break
		}
	}
	for i := len(t.items) - 1; i >= 0; i-- {
		if t.items[i].speaker == agent {
			return append(items, t.items[i].ThreadItem())
		}
	}
	return items
}

// Item is a completed item. It is the JSON of its line until it is needed, or for ever if the line can be read
// again.
type Item struct {
	lineref.Ref
	item    protocol.ThreadItem
	speaker speaker
	// number is the number of an item without an id, or None.
	number int64
	// more are further lines of the item: reasoning without an id has one for each part.
	more []lineref.Ref
}

// speaker is the author of an item's text.
type speaker int8

const (
	noSpeaker speaker = iota
	user
	agent
	reasoning // reasoning without an id
)

// IsMessage reports whether the item is a message of the user or the agent.
func (r *Item) IsMessage() bool { return r.speaker == user || r.speaker == agent }

// partMark occurs at least once for each part of the text of a message of the agent.
var partMark = []byte(`"text"`)

// Peek returns JSON whose strings contain the text of a message. Line feeds between parts of the text are missing. It
// returns nil if the item has to be decoded. The JSON is valid until another item is read. It overrides Peek of the
// reference, whose JSON can have more than one part.
func (r *Item) Peek() []byte {
	text := r.Ref.Peek()
	if r.speaker == agent && bytes.Count(text, partMark) > 1 {
		return nil // nothing stands between the parts
	}
	return text
}

// IsNumbered reports whether the item has a number instead of an id of its own.
func (r *Item) IsNumbered() bool { return r.number != None }

// ID returns the id of the item. It does not decode the item.
func (r *Item) ID() string {
	switch {
	case r.number != None:
		return numberedID(r.number)
	case r.item.ThreadItemVariant != nil:
		return r.item.ItemID()
	}
	raw, _ := r.Payload()
	if id := legacyID(raw); id != "" {
		return id
	}
	return member(raw, "item.id")
}

// ThreadItem returns the item as clients see it.
func (r *Item) ThreadItem() protocol.ThreadItem {
	if r.item.ThreadItemVariant != nil {
		return r.item
	}
	raw, _ := r.Payload()
	item := r.decode(raw, payloadOf)
	if r.Source == nil {
		r.item, r.Raw, r.more = item, nil, nil
	}
	return item
}

func payloadOf(ref *lineref.Ref) json.RawMessage {
	raw, _ := ref.Payload()
	return raw
}

// decode returns the item. read returns the payloads of its further lines.
func (r *Item) decode(raw json.RawMessage, read func(*lineref.Ref) json.RawMessage) (item protocol.ThreadItem) {
	if r.number != None {
		return r.decodeNumbered(raw, read)
	}
	if item.ThreadItemVariant = decodeLegacy(raw); item.ThreadItemVariant != nil {
		return item
	}
	return DecodeItem(raw)
}

func numberedID(number int64) string { return fmt.Sprintf("item-%d", number) }

// addReasoning adds a part of reasoning.
func (r *Item) addReasoning(part lineref.Ref) {
	if v, decoded := r.item.ThreadItemVariant.(*protocol.ReasoningItem); decoded {
		appendReasoning(v, part.Raw)
		return
	}
	part.Evict()
	r.more = append(r.more, part)
}

func appendReasoning(v *protocol.ReasoningItem, payload json.RawMessage) {
	switch text := member(payload, "text"); member(payload, "type") {
	case protocol.EventAgentReasoning:
		v.Summary = append(v.Summary, text)
	case eventRawReasoning:
		v.Content = append(v.Content, text)
	}
}

// decodeNumbered returns the item of an event without an id.
func (r *Item) decodeNumbered(payload json.RawMessage,
	read func(*lineref.Ref) json.RawMessage) (item protocol.ThreadItem) {
	e, id := gjson.ParseBytes(payload), numberedID(r.number)
	switch e.Get("type").Str {
	case protocol.EventUserMessage:
		item.ThreadItemVariant = &protocol.UserMessageItem{
			ID: id, ClientID: protocol.OrNil(e.Get("client_id").Str), Content: inputOfEvent(e)}
	case protocol.EventAgentMessage:
		item.ThreadItemVariant = agentItem(id, e.Get("message").Str, e)
	case eventCompacted:
		item.ThreadItemVariant = &protocol.ContextCompactionItem{ID: id}
	case eventEnteredReview:
		item.ThreadItemVariant = &protocol.EnteredReviewModeItem{ID: id, Review: e.Get("user_facing_hint").Str}
	case eventExitedReview:
		item.ThreadItemVariant = decodeExited(withMembers(id, e, nil))
	default:
		item.ThreadItemVariant = r.decodeReasoning(id, payload, read)
	}
	return item
}

func (r *Item) decodeReasoning(id string, payload json.RawMessage,
	read func(*lineref.Ref) json.RawMessage) *protocol.ReasoningItem {
	v := &protocol.ReasoningItem{ID: id, Summary: []string{}, Content: []string{}}
	appendReasoning(v, payload)
	for i := range r.more {
		appendReasoning(v, read(&r.more[i]))
	}
	return v
}
