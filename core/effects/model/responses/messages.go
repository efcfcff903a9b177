package responses

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core/effects/model"
	"appserver/protocol"
)

// messages keeps the messages of an answer apart, by their output indexes. One message is emitted at
// a time: what comes of another meanwhile is held until the first is whole. A provider that gives no
// output indexes has one message at a time.
type messages struct {
	// spoke is set after the answer had text, said after the current message had text.
	spoke, said bool
	open        int // the output index of the message under way
	held        map[int]*strings.Builder
	waiting     []waitingMessage
	closed      map[int]bool // the output indexes of whole messages
}

// waitingMessage is whole before the message under way is.
type waitingMessage struct {
	*protocol.Message
	index outputIndex
}

// begin processes a new item, which may use the output index of another again.
func (m *messages) begin(index outputIndex) {
	if index.given {
		delete(m.closed, index.place)
	}
}

// takes reports whether a delta belongs to the current message, which begins now if there is none.
// Other deltas are held, and those of a complete message are dropped.
func (m *messages) takes(e *event) bool {
	switch {
	case !e.OutputIndex.given:
		return true
	case m.closed[e.OutputIndex.place]:
		return false
	case !m.said:
		m.open = e.OutputIndex.place
		return true
	case m.open == e.OutputIndex.place:
		return true
	}
	m.hold(e.OutputIndex.place, e.Delta)
	return false
}

func (m *messages) hold(index int, delta string) {
	text := m.held[index]
	if text == nil {
		if m.held == nil {
			m.held = map[int]*strings.Builder{}
		}
		text = &strings.Builder{}
		m.held[index] = text
	}
	text.WriteString(delta)
}

// message processes a complete message. It ends the one under way, unless deltas of its own are
// held.
func (r *reading) message(i *protocol.Message, index outputIndex) {
	if index.given && r.said && r.held[index.place] != nil {
		r.waiting = append(r.waiting, waitingMessage{i, index})
		return
	}
	r.speak(i, index)
	for _, next := range r.waiting {
		r.speak(next.Message, next.index)
	}
	r.waiting = nil
}

func (r *reading) speak(i *protocol.Message, index outputIndex) {
	if !r.said {
		r.text(messageText(i))
	}
	r.think.Close()
	if r.think.Found {
		i.Content = []protocol.ContentItem{{Type: protocol.ContentOutputText, Text: model.WithoutThought(messageText(i))}}
		r.think.Found = false
	}
	r.whole(protocol.ResponseItem{ResponseItemVariant: i})
	r.said = false
	if !index.given {
		r.held = nil // any of it may be this message's
		return
	}
	delete(r.held, index.place)
	if r.closed == nil {
		r.closed = map[int]bool{}
	}
	r.closed[index.place] = true
}

// messageText returns the text and the refusals of a message.
func messageText(m *protocol.Message) string {
	var text strings.Builder
	for _, part := range m.Content {
		text.WriteString(part.Text)
		if part.Raw != nil {
			text.WriteString(gjson.GetBytes(part.Raw, "refusal").Str)
		}
	}
	return text.String()
}

// flush emits what is held when the answer ends: the messages that wait for one which is never
// whole, and the texts of others that are not.
func (r *reading) flush() {
	for _, next := range r.waiting {
		r.held[next.index.place].Reset()
		r.text(messageText(next.Message))
	}
	r.waiting = nil
	for _, index := range slices.Sorted(maps.Keys(r.held)) {
		r.text(r.held[index].String())
	}
	r.held = nil
}
