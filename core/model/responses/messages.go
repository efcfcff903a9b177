package responses

import (
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// messages keeps the messages of an answer apart, by their output indexes. One message is emitted at
// a time: what comes of another meanwhile is held until the first is whole. A provider that gives no
// output indexes has one message at a time.
type messages struct {
	// spoke is set once the answer had text, said once the message under way had.
	spoke, said bool
	open        int // the output index of the message under way
	held        map[int]*strings.Builder
	waiting     []waitingMessage
	closed      map[int]bool // the output indexes of whole messages
}

// waitingMessage is whole before the message under way is.
type waitingMessage struct {
	*protocol.Message
	index *int
}

// begin takes an item that is added, which may use the output index of another again.
func (m *messages) begin(index *int) {
	if index != nil {
		delete(m.closed, *index)
	}
}

// takes reports whether a delta is of the message under way, which begins now if there is none. Any
// other delta is held, and one of a whole message is dropped.
func (m *messages) takes(e *event) bool {
	switch {
	case e.OutputIndex == nil:
		return true
	case m.closed[*e.OutputIndex]:
		return false
	case !m.said:
		m.open = *e.OutputIndex
		return true
	case m.open == *e.OutputIndex:
		return true
	}
	m.hold(*e.OutputIndex, e.Delta)
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

// message takes a message that is whole. It ends the one under way, unless deltas of its own are
// held.
func (r *reading) message(i *protocol.Message, index *int) {
	if index != nil && r.said && r.held[*index] != nil {
		r.waiting = append(r.waiting, waitingMessage{i, index})
		return
	}
	r.speak(i, index)
	for _, next := range r.waiting {
		r.speak(next.Message, next.index)
	}
	r.waiting = nil
}

func (r *reading) speak(i *protocol.Message, index *int) {
	if !r.said {
		r.text(messageText(i))
	}
	r.whole(protocol.ResponseItem{ResponseItemVariant: i})
	r.said = false
	if index == nil {
		r.held = nil // any of it may be this message's
		return
	}
	delete(r.held, *index)
	if r.closed == nil {
		r.closed = map[int]bool{}
	}
	r.closed[*index] = true
}

// messageText is the text and the refusals of a message.
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
		r.held[*next.index].Reset()
		r.text(messageText(next.Message))
	}
	r.waiting = nil
	for _, index := range slices.Sorted(maps.Keys(r.held)) {
		r.text(r.held[index].String())
	}
	r.held = nil
}
