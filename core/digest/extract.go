package digest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"appserver/protocol"
)

const (
	// stateLimit is how much of the assistant's last message is kept, in bytes.
	stateLimit = 600
	// scrapLimit is the least of an entry that is worth its line, in bytes.
	scrapLimit = 40
)

// Extract returns a summary of items in Markdown, at most limit bytes, made without a model. The
// former summary comes first. It keeps at least half of the limit if it needs it, and loses its
// middle. The requests of the user follow, then the user's constraints, decisions, files, commands,
// open questions and the last state of the assistant.
//
// If they do not all fit, the sections share the room evenly and lose their oldest entries first. The
// user's constraints have priority. The result is empty only if the input or the limit is.
func Extract(former string, items []protocol.ResponseItem, limit int) string {
	former = strings.TrimSpace(valid(former))
	if limit <= 0 || len(items) == 0 {
		return omitMiddleAgain(former, max(0, limit))
	}
	o := outlineOf(items)
	text := omitMiddleAgain(former, max(limit/2, limit-o.size()-len(gap)))
	if text != "" {
		if len(text)+len(gap) > limit {
			return text
		}
		o.skipKnown(text)
		text += gap
	}
	if room := limit - len(text); room >= len(o.lead) || text == "" {
		text += firstBytes(o.lead, room)
	}
	return strings.TrimRight(text+o.render(limit-len(text)), "\n")
}

// gap is between the former summary and what is new.
const gap = "\n\n"

// markOf finds the mark of leftOut.
var markOf = regexp.MustCompile(`\n?\[… (\d+) bytes left out …\]\n?`)

// omitMiddleAgain shortens a text that may have been shortened before. One mark has the number of all
// missing bytes. Marks and short lines are not cut.
func omitMiddleAgain(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	room := limit - len(leftOut(math.MaxInt))
	if room < 0 {
		return firstBytes(text, limit)
	}
	head, tail := wholeLines(text, before(text, (room+1)/2), after(text, len(text)-room/2))
	for _, mark := range markOf.FindAllStringIndex(text, -1) {
		if mark[0] < head && head < mark[1] {
			head = mark[0]
		}
		if mark[0] < tail && tail < mark[1] {
			tail = mark[1]
		}
	}
	missing := tail - head
	for _, mark := range markOf.FindAllStringSubmatch(text[head:tail], -1) {
		if n, err := strconv.Atoi(mark[1]); err == nil && n < math.MaxInt-missing {
			missing += n - min(n, len(mark[0]))
		}
	}
	return text[:head] + leftOut(missing) + text[tail:]
}

// wholeLines moves the places of a cut to where lines end, as far as that costs an
// eighth of what is kept.
func wholeLines(text string, head, tail int) (int, int) {
	if line := strings.LastIndexByte(text[:head], '\n'); line > head-head/8 {
		head = line
	}
	if line := strings.IndexByte(text[tail:], '\n'); line >= 0 && line < (len(text)-tail)/8 {
		tail += line + 1
	}
	return head, tail
}

// outline has the parts of an extract after the former summary.
type outline struct {
	lead     string
	sections []section
}

// section is a heading and its entries.
type section struct {
	title   string
	entries []string
	place   place
}

// place is how a section is treated.
type place int

const (
	// lasting sections leave out what the former summary has.
	lasting place = iota
	// constraints are lasting, and the last to go.
	constraints
	// dated sections describe the state at their time, and may repeat earlier ones.
	dated
)

func outlineOf(items []protocol.ResponseItem) *outline {
	facts := Of(items)
	var requests []string
	messages, calls, state := 0, 0, ""
	for _, item := range items {
		if _, ok := readCall(item); ok {
			calls++
		}
		m, _ := readMessage(item)
		if !m.spoken() {
			continue
		}
		messages++
		if m.role == protocol.RoleAssistant {
			state = m.text
			continue
		}
		requests = append(requests, headLine(m.text, entryLimit))
	}
	return &outline{fmt.Sprintf("%s and %s were left out.\n", counted(messages, "message"), counted(calls, "tool call")),
		[]section{
			{"Requests:", newest(requests), dated}, {"The user asked to keep to:", facts.UserConstraints, constraints},
			{"Decisions:", facts.Decisions, lasting}, {"Files changed:", facts.FilesChanged, lasting},
			{"Commands run:", facts.CommandsRun, lasting}, {"Open questions:", facts.OpenQuestions, lasting},
			{"State:", stateOf(state), dated},
		}}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func stateOf(text string) []string {
	if line := headLine(text, stateLimit); line != "" {
		return []string{line}
	}
	return nil
}

// skipKnown leaves out what the former summary has as a line.
func (o *outline) skipKnown(former string) {
	known := map[string]bool{}
	for line := range strings.Lines(former) {
		known[strings.TrimSuffix(line, "\n")] = true
	}
	for i, s := range o.sections {
		if s.place != dated {
			o.sections[i].entries = without(s.entries, func(entry string) bool { return known["- "+entry] })
		}
	}
}

func (o *outline) size() int {
	total := len(o.lead)
	for _, s := range o.sections {
		total += s.size()
	}
	return total
}

func (s section) size() int {
	if len(s.entries) == 0 {
		return 0
	}
	total := len("\n" + s.title + "\n")
	for _, entry := range s.entries {
		total += len("- " + entry + "\n")
	}
	return total
}

// render is all sections, at most room bytes. The constraints have half of it if they
// need it, and what the others leave.
func (o *outline) render(room int) string {
	var sizes []int
	bound := 0
	for _, s := range o.sections {
		if s.place == constraints {
			bound = s.size()
		} else {
			sizes = append(sizes, s.size())
		}
	}
	highest := ceiling(sizes, room-min(bound, room/2))
	texts := make([]string, len(o.sections))
	for i, s := range o.sections {
		if s.place != constraints {
			texts[i] = s.render(highest)
			room -= len(texts[i])
		}
	}
	for i, s := range o.sections {
		if s.place == constraints {
			texts[i] = s.render(room)
		}
	}
	return strings.Join(texts, "")
}

// render is the section in at most room bytes: its newest entries, and how many are
// missing; nothing where not even one fits.
func (s section) render(room int) string {
	size := s.size()
	if size == 0 || size <= room {
		return s.text(s.entries, "")
	}
	missing := 0
	for ; missing < len(s.entries)-1; missing++ {
		size -= len("- " + s.entries[missing] + "\n")
		if size+len(earlier(missing+1)) <= room {
			return s.text(s.entries[missing+1:], earlier(missing+1))
		}
	}
	left := room - len(s.text(nil, earlier(missing))+"- \n")
	if left < scrapLimit {
		return ""
	}
	return s.text([]string{firstBytes(s.entries[missing], left)}, earlier(missing))
}

func earlier(missing int) string {
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("- [… %d earlier left out …]\n", missing)
}

// text is the section with these entries.
func (s section) text(entries []string, mark string) string {
	if len(s.entries) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + s.title + "\n" + mark)
	for _, entry := range entries {
		b.WriteString("- " + entry + "\n")
	}
	return b.String()
}
