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
	// work are calls, thoughts, surroundings and what is not known.
	work
	answers
	requests
)

// shortest is how far passages of a kind are shortened before those of the next kind are, in bytes.
var shortest = map[kind]int{outputs: 200, work: 200, answers: 400, requests: 600}

// longest bounds the shown part of a passage, in bytes, even if there is room for more: the begin and
// the end of an output are enough.
var longest = map[kind]int{outputs: 8 << 10, work: 16 << 10, answers: 64 << 10, requests: 64 << 10}

// tiniest is how far the user's words are shortened once they are all that is left.
const tiniest = 100

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
	gone bool
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
	s := script{passages: passagesOf(items)}
	s.fit(limit)
	var text strings.Builder
	text.WriteString(s.mark())
	for i := range s.passages {
		if !s.passages[i].gone {
			text.WriteString(s.passages[i].text())
		}
	}
	return firstBytes(strings.TrimSuffix(text.String(), "\n\n"), max(0, limit))
}

// script is the passages of a transcript.
type script struct {
	passages []passage
	missing  int
	total    int
}

func (s *script) mark() string {
	if s.missing == 0 {
		return ""
	}
	return fmt.Sprintf("[… %d older items left out …]\n\n", s.missing)
}

// fit shortens passages, and leaves some out, until all are at most limit bytes.
func (s *script) fit(limit int) {
	for i := range s.passages {
		s.total += s.passages[i].size()
	}
	for k := outputs; k <= requests; k++ {
		s.shorten(k, limit, shortest[k])
	}
	s.shorten(outputs, limit, 0)
	s.drop(limit, func(k kind) bool { return k != requests })
	s.shorten(requests, limit-len(s.mark()), tiniest)
	s.drop(limit, func(kind) bool { return true })
	for k := outputs; k <= requests; k++ {
		s.shorten(k, limit-len(s.mark()), 0)
	}
}

// shorten cuts the longest passages of a kind, not below least: outputs in proportion to their places, others to
// one length.
func (s *script) shorten(k kind, limit, least int) {
	if s.total <= limit {
		return
	}
	var list []*passage
	for i := range s.passages {
		if p := &s.passages[i]; p.kind == k && !p.gone {
			list = append(list, p)
		}
	}
	room := func(i, most int) int {
		if k == outputs {
			most = int(int64(most) * int64(i+1) / int64(len(list)))
		}
		return min(list[i].room, max(least, most))
	}
	// most is the greatest room of the last passage with which all fit, or 0
	most := sort.Search(longest[k]*len(list), func(most int) bool {
		total := s.total
		for i, p := range list {
			cut := *p
			cut.room = room(i, most+1)
			total += cut.size() - p.size()
		}
		return total > limit
	})
	for i, p := range list {
		s.total -= p.size()
		p.room = room(i, most)
		s.total += p.size()
	}
}

// drop leaves out the oldest passages of some kinds, but for the last one that is left.
func (s *script) drop(limit int, some func(kind) bool) {
	for i := range s.passages {
		if s.total+len(s.mark()) <= limit || s.missing == len(s.passages)-1 {
			return
		}
		if p := &s.passages[i]; some(p.kind) && !p.gone {
			p.gone = true
			s.missing++
			s.total -= p.size()
		}
	}
}

// passagesOf are the items that have any text.
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
			p.room = min(len(p.body), longest[p.kind])
			list = append(list, p)
		}
	}
	return list
}

// outputHeading names the call if it is not directly before the output.
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
