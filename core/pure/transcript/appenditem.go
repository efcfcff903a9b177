package transcript

import (
	"encoding/json"
	"slices"
	"strconv"

	"appserver/core/pure/command"
	"appserver/protocol"
)

// Most of a long response are long strings, which have the same JSON in rollouts and on the wire. The
// functions below copy them, which is several times as fast as decoding and encoding. They return false
// for items that they do not know, and for unexpected values.

// storedMember is a member of an object of a rollout.
type storedMember struct {
	name  string
	value json.RawMessage
}

// storedMembers are the members of an object. No two have the same name.
type storedMembers []storedMember

// maxMembers is the number of members of the largest object that is copied.
const maxMembers = 24

// read reads valid JSON in place of the members before.
func (m *storedMembers) read(object json.RawMessage) bool {
	*m = (*m)[:0]
	if len(object) == 0 || object[0] != '{' {
		return false
	}
	for name, value := range protocol.Members(object) {
		if len(*m) == maxMembers || m.get(name) != nil {
			return false
		}
		*m = append(*m, storedMember{name, value})
	}
	return true
}

// get returns a value, or nil.
func (m *storedMembers) get(name string) json.RawMessage {
	for i := range *m {
		if member := &(*m)[i]; member.name == name {
			return member.value
		}
	}
	return nil
}

// isNull reports whether a value is absent or null.
func (m *storedMembers) isNull(name string) bool {
	value := m.get(name)
	return value == nil || string(value) == "null"
}

// itemWriter appends thread items to b. It sets ok to false if a value is unexpected. The members are
// buffers that items share, and in is those that are read.
type itemWriter struct {
	b                    []byte
	ok                   bool
	event, item, content storedMembers
	in                   *storedMembers
}

// appendItem appends an item_completed event as a thread item.
func (w *itemWriter) appendItem(b []byte, payload json.RawMessage) (out []byte, ok bool) {
	if !w.event.read(payload) || string(w.event.get("type")) != `"`+protocol.EventItemCompleted+`"` ||
		!w.item.read(w.event.get("item")) {
		return b, false
	}
	w.b, w.ok, w.in = b, true, &w.item
	switch string(w.item.get("type")) {
	case `"` + userMessageType + `"`:
		w.user()
	case `"` + agentMessageType + `"`:
		w.agent()
	case `"` + reasoningType + `"`:
		w.reasoning()
	case `"` + commandType + `"`:
		w.command()
	default:
		return b, false
	}
	w.in = &w.event
	w.integer("startedAtMs", "started_at_ms")
	w.integer("completedAtMs", "completed_at_ms")
	return append(w.b, '}'), w.ok
}

func (w *itemWriter) write(text string) { w.b = append(w.b, text...) }

func (w *itemWriter) name(wire string) {
	w.b = append(append(append(w.b, `,"`...), wire...), `":`...)
}

// raw appends a string of the rollout as it is, without halves of surrogate pairs.
func (w *itemWriter) raw(value json.RawMessage) {
	if len(value) == 0 || value[0] != '"' {
		w.ok = false
		return
	}
	w.b = append(w.b, protocol.ToWellFormed(value)...)
}

// text appends a string member.
func (w *itemWriter) text(wire, stored string) {
	w.name(wire)
	w.raw(w.in.get(stored))
}

// textOrNull appends a string member, or null.
func (w *itemWriter) textOrNull(wire, stored string) {
	w.name(wire)
	if w.in.isNull(stored) {
		w.write("null")
		return
	}
	w.raw(w.in.get(stored))
}

// filledOrNull returns null for an empty string, and textOrNull otherwise.
func (w *itemWriter) filledOrNull(wire, stored string) {
	if string(w.in.get(stored)) == `""` {
		w.name(wire)
		w.write("null")
		return
	}
	w.textOrNull(wire, stored)
}

// decoded returns a string member.
func (w *itemWriter) decoded(stored string) string {
	text, ok := protocol.StringOf(w.in.get(stored))
	w.ok = w.ok && ok
	return text
}

func (w *itemWriter) string(wire, value string) {
	w.name(wire)
	w.b = protocol.AppendString(w.b, value)
}

// integer appends an integer, or null.
func (w *itemWriter) integer(wire, stored string) {
	w.name(wire)
	if w.in.isNull(stored) {
		w.write("null")
		return
	}
	value := w.in.get(stored)
	w.ok = w.ok && isInteger(value)
	w.b = append(w.b, value...)
}

// isInteger reports whether a value is a number of at most 15 digits, as programs write it.
func isInteger(value json.RawMessage) bool {
	const most = 15
	for _, c := range value {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(value) > 0 && len(value) <= most && (value[0] != '0' || len(value) == 1)
}

func (w *itemWriter) user() {
	w.write(`{"type":"userMessage"`)
	w.text("id", "id")
	w.textOrNull("clientId", "client_id")
	w.write(`,"content":[`)
	for i, input := range w.elements("content") {
		m := &w.content
		w.ok = w.ok && m.read(input)
		elements := m.get("text_elements")
		if w.ok = w.ok && string(m.get("type")) == `"text"` && (elements == nil || string(elements) == "[]"); !w.ok {
			return
		}
		if i > 0 {
			w.write(",")
		}
		w.write(`{"type":"text","text":`)
		w.raw(m.get("text"))
		w.write(`,"text_elements":[]}`)
	}
	w.write("]")
}

// elements returns the elements of a list.
func (w *itemWriter) elements(stored string) []json.RawMessage {
	list := w.in.get(stored)
	if len(list) == 0 || list[0] != '[' {
		w.ok = false
		return nil
	}
	return slices.Collect(protocol.Elements(list))
}

func (w *itemWriter) agent() {
	for _, name := range []string{"memory_citation", "moderation", "delivery", "questions"} {
		w.ok = w.ok && w.in.isNull(name)
	}
	content := w.elements("content")
	if w.ok = w.ok && len(content) == 1; !w.ok {
		return
	}
	w.ok = w.content.read(content[0])
	w.write(`{"type":"agentMessage","moderation":null`)
	w.text("id", "id")
	w.name("text")
	w.raw(w.content.get("text"))
	w.filledOrNull("phase", "phase")
	w.write(`,"memoryCitation":null,"delivery":null,"questions":null`)
}

func (w *itemWriter) reasoning() {
	w.write(`{"type":"reasoning"`)
	w.text("id", "id")
	w.texts("summary", "summary_text")
	w.texts("content", "raw_content")
}

// texts appends a list of strings.
func (w *itemWriter) texts(wire, stored string) {
	w.name(wire)
	w.write("[")
	for i, text := range w.elements(stored) {
		if i > 0 {
			w.write(",")
		}
		w.raw(text)
	}
	w.write("]")
}

func (w *itemWriter) command() {
	var argv []string
	for _, word := range w.elements("command") {
		text, ok := protocol.StringOf(word)
		argv, w.ok = append(argv, text), w.ok && ok
	}
	w.write(`{"type":"commandExecution"`)
	w.text("id", "id")
	w.write(`,"pluginId":null,"scriptPath":null`)
	w.string("command", command.Quote(argv))
	w.string("cwd", pathOf(w.decoded("cwd")))
	w.textOrNull("processId", "process_id")
	w.string("source", protocol.CamelCase(w.decoded("source")))
	w.string("status", protocol.CamelCase(w.decoded("status")))
	w.actions()
	w.filledOrNull("aggregatedOutput", "aggregated_output")
	w.integer("exitCode", "exit_code")
	w.duration()
}

// actions appends the actions of a command.
func (w *itemWriter) actions() {
	w.name("commandActions")
	parsed := w.in.get("parsed_cmd")
	if string(parsed) == "[]" {
		w.write("[]")
		return
	}
	var stored []storedAction
	if parsed == nil || protocol.Unmarshal(parsed, &stored) != nil {
		w.ok = false
		return
	}
	text, err := protocol.Marshal(decodeActions(stored))
	w.ok = w.ok && err == nil
	w.b = append(w.b, text...)
}

// duration appends the duration of a command in milliseconds, or null.
func (w *itemWriter) duration() {
	const nanosPerMs = 1e6
	w.name("durationMs")
	if w.in.isNull("duration") {
		w.write("null")
		return
	}
	d := &w.content
	w.ok = w.ok && d.read(w.in.get("duration"))
	w.b = strconv.AppendInt(w.b, w.number(d.get("secs"))*1000+w.number(d.get("nanos"))/nanosPerMs, 10)
}

// number returns the value of an integer.
func (w *itemWriter) number(value json.RawMessage) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	w.ok = w.ok && isInteger(value) && err == nil
	return n
}
