package digest

import (
	"fmt"
	"sort"
	"strings"

	"appserver/protocol"
)

// kind is the kind of a passage, in the order in which kinds are shortened.
type kind int

const (
	outputs kind = iota
	// work are calls, reasoning, notices of the server, and items of unknown types.
	work
	answers
	requests
)

// minRoom is the length in bytes to which passages of a kind are shortened before those of the next kind are.
var minRoom = map[kind]int{outputs: 200, work: 200, answers: 400, requests: 600}

// maxRoom bounds the shown part of a passage, in bytes, even if there is room for more: the begin and
// the end of an output are enough.
var maxRoom = map[kind]int{outputs: 8 << 10, work: 16 << 10, answers: 64 << 10, requests: 64 << 10}

// minRequestRoom is the length in bytes to which the user's words are shortened if nothing else is left.
const minRequestRoom = 100

// passage is an item as text.
type passage struct {
	kind       kind
	head, body string
	// callID identifies a call, which has call set, or the call of an output.
	callID string
	call   bool
	// outcome is the exit code of an output with the cause of a failure. It is shown if the body is shortened.
	outcome string
	// room bounds the shown part of the body, in bytes.
	room int
	// omitted is set if the transcript leaves the passage out.
	omitted bool
}

// size returns an upper bound of the passage's text.
func (p *passage) size() int {
	return len(p.head) + len(p.shownOutcome()) + min(p.room, len(p.body)) + len("\n\n")
}

func (p *passage) text() string {
	return p.head + p.shownOutcome() + omitMiddle(p.body, p.room) + "\n\n"
}

func (p *passage) shownOutcome() string {
	if p.outcome == "" || p.room >= len(p.body) {
		return ""
	}
	return "[" + p.outcome + "]\n"
}

// Transcript returns items as text for a model that summarises them, at most limit bytes: messages
// under their roles, calls as "shell: go test ./...", outputs after them. Each kind has its own limit.
// If the text is too long, outputs are shortened first, to their beginnings and ends; the room of an output
// grows with its place, so that old ones are shortened more than recent ones. An output that is shortened
// begins with its outcome: the exit code, and the cause of a failure. Calls and reasoning follow, all to the
// same length, then the assistant's messages, and the user's last. If the text is still too long, outputs
// keep their outcomes only, and then the oldest items are left out, the user's last.
func Transcript(items []protocol.ResponseItem, limit int) string {
	t := transcript{passages: passagesOf(items)}
	t.fit(limit)
	var text strings.Builder
	text.WriteString(t.mark())
	for i := range t.passages {
		if !t.passages[i].omitted {
			text.WriteString(t.passages[i].text())
		}
	}
	return firstBytes(strings.TrimSuffix(text.String(), "\n\n"), max(0, limit))
}

// transcript has the passages of a text for a model, the number of omitted ones, and the size of the others in bytes.
type transcript struct {
	passages []passage
	omitted  int
	size     int
}

// mark returns the text that begins a transcript with omitted passages, or "".
func (t *transcript) mark() string {
	if t.omitted == 0 {
		return ""
	}
	return fmt.Sprintf("[… %d older items left out …]\n\n", t.omitted)
}

// fit shortens and omits passages until all have at most limit bytes.
func (t *transcript) fit(limit int) {
	for i := range t.passages {
		t.size += t.passages[i].size()
	}
	for k := outputs; k <= requests; k++ {
		t.shorten(k, limit, minRoom[k])
	}
	t.shorten(outputs, limit, 0)
	t.drop(limit, func(k kind) bool { return k != requests })
	t.shorten(requests, limit-len(t.mark()), minRequestRoom)
	t.drop(limit, func(kind) bool { return true })
	for k := outputs; k <= requests; k++ {
		t.shorten(k, limit-len(t.mark()), 0)
	}
}

// shorten cuts the longest passages of a kind, until all passages have at most limit bytes. Outputs are cut in
// proportion to their places, others to one length. None gets less than minimum bytes.
func (t *transcript) shorten(k kind, limit, minimum int) {
	if t.size <= limit {
		return
	}
	var list []*passage
	for i := range t.passages {
		if p := &t.passages[i]; p.kind == k && !p.omitted {
			list = append(list, p)
		}
	}
	// roomOf returns the room of a passage if the last one has a room.
	roomOf := func(i, last int) int {
		if k == outputs {
			last = int(int64(last) * int64(i+1) / int64(len(list)))
		}
		return min(list[i].room, max(minimum, last))
	}
	// last is the greatest room of the last passage with which all fit, or 0.
	last := sort.Search(maxRoom[k]*len(list), func(last int) bool {
		size := t.size
		for i, p := range list {
			cut := *p
			cut.room = roomOf(i, last+1)
			size += cut.size() - p.size()
		}
		return size > limit
	})
	for i, p := range list {
		t.size -= p.size()
		p.room = roomOf(i, last)
		t.size += p.size()
	}
}

// drop omits the oldest passages of some kinds, until all passages have at most limit bytes. One passage always stays.
func (t *transcript) drop(limit int, some func(kind) bool) {
	for i := range t.passages {
		if t.size+len(t.mark()) <= limit || t.omitted == len(t.passages)-1 {
			return
		}
		if p := &t.passages[i]; some(p.kind) && !p.omitted {
			p.omitted = true
			t.omitted++
			t.size -= p.size()
		}
	}
}

// passagesOf returns a passage for each item that has any text.
func passagesOf(items []protocol.ResponseItem) []passage {
	list := make([]passage, 0, len(items))
	labels := map[string]string{}
	before := ""
	for _, item := range items {
		p := passageOf(item)
		if p.kind == outputs {
			p.head = outputHeading(labels[p.callID], before != "" && p.callID == before)
		}
		before = ""
		if p.call {
			before = p.callID
			labels[p.callID] = p.head + headLine(p.body, scrapLimit)
		}
		if p.call || strings.TrimSpace(p.body) != "" {
			p.body = valid(p.body)
			p.room = min(len(p.body), maxRoom[p.kind])
			list = append(list, p)
		}
	}
	return list
}

// outputHeading returns the heading, with the name of the call if it is not directly before the output.
func outputHeading(label string, follows bool) string {
	if follows || label == "" {
		return "Output:\n"
	}
	return "Output of " + label + "\n"
}

func passageOf(item protocol.ResponseItem) passage {
	if m, ok := readMessage(item); ok {
		return messagePassage(m)
	}
	if o, ok := readOutput(item); ok {
		return passage{kind: outputs, body: o.text, callID: o.callID, outcome: outcomeOf(o.text)}
	}
	if c, ok := readCall(item); ok {
		return passage{kind: work, head: headLine(c.tool, scrapLimit) + ": ", body: c.input, callID: c.id, call: true}
	}
	switch v := item.ResponseItemVariant.(type) {
	case *protocol.Reasoning:
		return passage{kind: work, head: "## Reasoning\n", body: thoughts(v)}
	case *protocol.Unknown:
		return passage{kind: work, head: "## " + headLine(v.Tag, scrapLimit) + "\n", body: string(v.Raw)}
	}
	return passage{kind: work}
}

func messagePassage(m message) passage {
	switch {
	case m.role == protocol.RoleAssistant:
		return passage{kind: answers, head: "## Assistant\n", body: m.text}
	case m.role == protocol.RoleUser && m.spoken():
		return passage{kind: requests, head: "## User\n", body: m.text}
	case m.role == protocol.RoleUser:
		return passage{kind: work, head: "## Surroundings\n", body: m.text}
	}
	return passage{kind: work, head: "## " + headLine(m.role, scrapLimit) + "\n", body: m.text}
}

// thoughts returns the texts of reasoning: its summary, or else its content.
func thoughts(r *protocol.Reasoning) string {
	parts := r.Summary
	if len(parts) == 0 {
		parts = r.Content
	}
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.Text
	}
	return strings.Join(texts, "\n")
}
