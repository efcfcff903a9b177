package digest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"appserver/platform/pattern"
	"appserver/protocol"
)

const (
	// stateLimit is the length of the part of the assistant's last message that is kept, in bytes.
	stateLimit = 600
	// scrapLimit is the length of the shortest part of an entry that is worth its line, in bytes.
	scrapLimit = 40
)

// Extract returns a summary of items, as [Source.Extract] does.
func Extract(former string, items []protocol.ResponseItem, limit int) string {
	return (&Source{Items: items, Former: former}).Extract(limit)
}

// Extract returns a summary in Markdown, at most limit bytes, made without a model. The former summary
// comes first. It keeps at least half of the limit if it needs it, and loses its middle. The requests of
// the user follow, then the user's rules, decisions, failed commands, changed files, other commands, open
// questions and the last state of the assistant.
//
// If they do not all fit, the user's rules have half of the room. The other sections share the rest by
// their weights, and the room that one does not need goes to the others in the order: decisions, failed
// commands, files, other commands, questions. Sections first shorten their entries, and then lose the
// oldest ones. The result is empty only if the input or the limit is.
func (s *Source) Extract(limit int) string {
	former := strings.TrimSpace(valid(s.Former))
	if limit <= 0 || len(s.Items) == 0 {
		return omitMiddleAgain(former, max(0, limit))
	}
	o := s.outline()
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
var markOf = pattern.New(`\n?\[… (\d+) bytes left out …\]\n?`)

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
	head, tail := wholeLines(text, cutBefore(text, (room+1)/2), cutAfter(text, len(text)-room/2))
	for _, mark := range markOf().FindAllStringIndex(text, -1) {
		if mark[0] < head && head < mark[1] {
			head = mark[0]
		}
		if mark[0] < tail && tail < mark[1] {
			tail = mark[1]
		}
	}
	missing := tail - head
	for _, mark := range markOf().FindAllStringSubmatch(text[head:tail], -1) {
		if n, err := strconv.Atoi(mark[1]); err == nil && n < math.MaxInt-missing {
			missing += n - min(n, len(mark[0]))
		}
	}
	return text[:head] + leftOut(missing) + text[tail:]
}

// wholeLines moves the places of a cut to ends of lines, unless that costs more than an eighth of the kept text.
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
	// short has shorter forms of the entries, or fewer, or is nil.
	short []string
	// dated is set if the section describes the state at its time. The others leave out what the former summary has.
	dated bool
	// weight is the section's share of the room that the rules leave.
	weight int
}

// The sections of an outline, in order.
const (
	requestsSection = iota
	rulesSection
	decisionsSection
	failedSection
	filesSection
	commandsSection
	questionsSection
	stateSection
)

// precedence has the sections in the order in which they get room that others do not need. The rules come last.
var precedence = []int{
	decisionsSection, failedSection, filesSection, commandsSection, questionsSection, stateSection, requestsSection,
}

func (s *Source) outline() *outline {
	g := s.gathered()
	facts := g.facts()
	if s.WithoutRules {
		facts.UserConstraints = nil
	}
	var requests []string
	messages, calls, state := 0, 0, ""
	for _, item := range s.Items {
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
	failed, others := g.byOutcome()
	lead := fmt.Sprintf("%s and %s were left out.\n", counted(messages, "message"), counted(calls, "tool call"))
	return &outline{lead, []section{
		requestsSection:  {title: "Requests:", entries: newest(requests), dated: true, weight: 1},
		rulesSection:     {title: "Rules of the user:", entries: facts.UserConstraints},
		decisionsSection: {title: "Decisions:", entries: facts.Decisions, weight: 4},
		failedSection: {title: "Commands that failed:", entries: entriesOf(failed), short: shortFailures(failed),
			weight: 4},
		filesSection: {title: "Files changed:", entries: facts.FilesChanged, short: byFolder(facts.FilesChanged),
			weight: 4},
		commandsSection:  {title: "Other commands:", entries: entriesOf(others), short: shortCommands(others), weight: 1},
		questionsSection: {title: "Open questions:", entries: facts.OpenQuestions, weight: 1},
		stateSection:     {title: "State:", entries: stateOf(state), dated: true, weight: 1},
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
	isKnown := func(entry string) bool { return known["- "+entry] }
	for i, s := range o.sections {
		if !s.dated {
			o.sections[i].entries = without(s.entries, isKnown)
			if s.short != nil {
				o.sections[i].short = without(s.short, isKnown)
			}
		}
	}
}

func (o *outline) size() int {
	total := len(o.lead)
	for _, s := range o.sections {
		total += s.size(s.entries)
	}
	return total
}

// size returns the length of the section with some entries.
func (s section) size(entries []string) int {
	if len(entries) == 0 {
		return 0
	}
	total := len("\n" + s.title + "\n")
	for _, entry := range entries {
		total += len("- " + entry + "\n")
	}
	return total
}

// render returns all sections, in at most room bytes. The rules have half of the room if they need it, and what the
// others leave.
func (o *outline) render(room int) string {
	rules := &o.sections[rulesSection]
	shares := o.shares(room - min(rules.size(rules.entries), room/2))
	texts := make([]string, len(o.sections))
	for i, s := range o.sections {
		if i != rulesSection {
			texts[i] = s.render(shares[i])
			room -= len(texts[i])
		}
	}
	texts[rulesSection] = rules.render(room)
	return strings.Join(texts, "")
}

// shares returns the room of each section except the rules: for its short form by the weights, then
// in the order of precedence, and then for its whole form.
func (o *outline) shares(room int) []int {
	shares, weights := make([]int, len(o.sections)), 0
	for _, s := range o.sections {
		if len(s.entries) > 0 {
			weights += s.weight
		}
	}
	room = max(room, 0)
	left := room
	for i, s := range o.sections {
		if len(s.entries) > 0 && s.weight > 0 {
			shares[i] = min(s.minSize(), room*s.weight/weights)
			left -= shares[i]
		}
	}
	for _, i := range precedence {
		more := min(left, o.sections[i].minSize()-shares[i])
		shares[i] += more
		left -= more
	}
	for _, i := range precedence {
		if more := o.sections[i].size(o.sections[i].entries) - shares[i]; more <= left {
			shares[i] += more
			left -= more
		}
	}
	return shares
}

// minSize returns the length of the section in its short form.
func (s section) minSize() int {
	size := s.size(s.entries)
	if s.short == nil {
		return size
	}
	return min(size, s.size(s.short))
}

// render returns the section in at most room bytes: its newest entries, shortened if they do not all fit, and a mark
// with the number of missing ones. It returns "" if not even one fits.
func (s section) render(room int) string {
	entries := s.entries
	size := s.size(entries)
	if size > room && s.short != nil {
		entries = s.short
		size = s.size(entries)
	}
	if size == 0 || size <= room {
		return s.text(entries, "")
	}
	missing := 0
	for ; missing < len(entries)-1; missing++ {
		size -= len("- " + entries[missing] + "\n")
		if size+len(earlier(missing+1)) <= room {
			return s.text(entries[missing+1:], earlier(missing+1))
		}
	}
	left := room - len(s.text([]string{""}, earlier(missing)))
	if left < scrapLimit {
		return ""
	}
	return s.text([]string{firstBytes(entries[missing], left)}, earlier(missing))
}

func earlier(missing int) string {
	if missing == 0 {
		return ""
	}
	return fmt.Sprintf("- [… %d earlier left out …]\n", missing)
}

// text returns the section with these entries.
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
