package core

import (
	"fmt"
	"slices"
	"strings"

	"appserver/core/digest"
	"appserver/core/history"
	"appserver/protocol"
)

// compactPrompt tells the model how to summarise, where nothing else is configured.
const compactPrompt = `You write the summary that stands in the place of an earlier part of a conversation between a user and a coding agent. The agent goes on with your summary alone: what is not in it is lost.

Write, in the language of the user, as plain text with short headings:
- what the user wants, and every rule, limit or preference that the user set, in the user's own words;
- what was decided, and why;
- which files were read or changed, and what is in them that matters;
- which commands were run, and what came of them;
- what was tried and did not work;
- what is still open, and what comes next.

Take over everything from a summary that is already there and still holds. Name files, commands, identifiers and numbers exactly. Do not answer the conversation, and do not go on with its work.`

// askSummary asks the model for a summary.
func (s *step) askSummary() {
	t := s.active
	id := s.newEffect()
	t.sample = &sampling{effect: id, summary: true}
	t.samples = append(t.samples, id)
	s.effect(Sample{ID: id, TurnID: t.id, Prompt: s.summaryPrompt(t.compaction, t.world.Provider.ContextWindow)})
}

// summaryPrompt asks for the summary of a compaction, within the model's window.
func (t *Thread) summaryPrompt(c *compaction, window *int64) *Prompt {
	p := t.request()
	p.Instructions, p.Tools, p.WebSearch, p.OutputSchema, p.Summarises = compactPrompt, nil, nil, nil, true
	if c.rules.Prompt != "" {
		p.Instructions = c.rules.Prompt
	}
	room := int64(defaultTranscript)
	if window != nil {
		room = max(*window*8/10-t.context.Scaled(t.context.Count(p.Instructions)), leastTranscript)
	}
	text := t.transcript(&c.stretch, room)
	p.Items = []protocol.ResponseItem{{ResponseItemVariant: history.UserMessage(text)}}
	return p
}

const (
	// defaultTranscript bounds a transcript where the window is not known, in tokens;
	// leastTranscript is what it always may have.
	defaultTranscript = 100_000
	leastTranscript   = 500
	// earlierLimit bounds what a former summary covers and is still in the context, in bytes.
	earlierLimit = 16 << 10
)

// transcript is a stretch as text, of a number of tokens at most.
func (t *Thread) transcript(stretch *stretch, room int64) string {
	head := ""
	if len(stretch.earlier) > 0 {
		head = "# Requests that the summary below covers\n\n" + digest.Transcript(stretch.earlier, earlierLimit) + "\n\n"
	}
	if stretch.former != "" {
		head += "# Summary of what was before\n\n" + stretch.former + "\n\n"
	}
	limit := int(room) * 8 // more than texts have for so many tokens, mostly
	for {
		text := head + "# Conversation\n\n" + digest.Transcript(stretch.shown, max(limit-len(head), 0))
		tokens := t.context.Scaled(t.context.Count(text))
		if tokens <= room || limit < 2 {
			return text
		}
		limit = min(len(text), limit) * int(room) / int(tokens) * 95 / 100
		head = beginOfText(head, limit/2)
	}
}

func beginOfText(text string, limit int) string {
	begin, _ := beginOf(text, max(limit, 0))
	return begin
}

// summaryDone takes the model's summary, or does without.
func (s *step) summaryDone(m *sampling, in SampleDone) {
	t := s.active
	t.sample = nil
	if in.Answer.Usage != nil {
		s.addUsage(in.Answer.Usage, 0)
		s.notifyUsage(t.id)
	}
	s.out.Sync = true
	text, flaw := t.compaction.taken(m.answer.String(), in.Answer.Cut)
	switch {
	case s.context.Revision() != t.compaction.revision:
		s.compactAnew()
	case flaw != "":
		s.withoutModel(flaw)
	default:
		s.active.retries, s.active.silent = 0, 0
		s.commitCompaction(t.compaction.withRules(text), protocol.CompactSummary)
	}
}

// compactAnew plans a compaction again, because the context was changed while the model
// wrote the summary of the former one.
func (s *step) compactAnew() {
	t, strategy := s.active, s.active.compaction.strategy
	s.tellSize()
	s.leaveCompaction()
	switch {
	case !t.compacts:
		s.sample()
	case t.compactions < mostCompactions:
		t.compactions++
		s.compactAsked(strategy)
	default:
		s.warn([]string{"The context was changed again and again while its summary was written: nothing is compacted."})
		s.conclude(protocol.TurnCompleted, nil)
	}
}

// taken is the summary to make of a model's answer; flaw says why there is none.
func (c *compaction) taken(answer, cut string) (text, flaw string) {
	text = strings.TrimSpace(answer)
	switch {
	case cut != "":
		return "", "its summary is not whole: " + cut
	case text == "":
		return "", "its summary is empty"
	}
	return c.bounded(carryOver(c.stretch.former, text)), ""
}

// rulesHead begins what a summary was to mention and did not.
const rulesHead = "\n\nThe user also asked:\n"

// withRules adds to a summary what the user asked to keep to and it does not mention,
// within a quarter of the limit of a summary. It goes from summary to summary.
func (c *compaction) withRules(text string) string {
	rules := append(rulesIn(c.stretch.former), digest.Of(c.stretch.items).UserConstraints...)
	rules = digest.Facts{UserConstraints: rules}.Missing(text).UserConstraints
	if len(rules) == 0 {
		return text
	}
	return text + rulesHead + firstAndNewest(rules, c.summaryLimit()/4)
}

// firstAndNewest lists the first of some entries, and as many of the newest as there is
// room for.
func firstAndNewest(entries []string, room int) string {
	list := "- " + entries[0]
	from := len(entries)
	for room -= len(list); from > 1; from-- {
		if room -= len("\n- ") + len(entries[from-1]); room < 0 {
			break
		}
	}
	for _, entry := range entries[from:] {
		list += "\n- " + entry
	}
	return list
}

// rulesIn are those that were added to a summary.
func rulesIn(summary string) (rules []string) {
	for _, section := range strings.Split(summary, rulesHead)[1:] {
		for line := range strings.Lines(section) {
			rule, found := strings.CutPrefix(line, "- ")
			if !found {
				break
			}
			rules = append(rules, strings.TrimRight(rule, "\n"))
		}
	}
	return rules
}

// carryOver keeps a former summary that a new one would all but drop: a summary of a
// summary is not to end as nothing.
func carryOver(former, text string) string {
	if len(text)*4 >= len(former) || strings.Contains(text, former) {
		return text
	}
	return former + "\n\nSince then:\n\n" + text
}

// bounded cuts the middle out of a summary that is longer than its budget allows.
func (c *compaction) bounded(text string) string {
	limit := 2 * c.summaryLimit()
	if len(text) <= limit {
		return text
	}
	begin, _ := beginOf(text, limit/2)
	rest := text[len(text)-limit/2:]
	return begin + "\n\n[… the summary was too long …]\n\n" + strings.ToValidUTF8(rest, "")
}

// withoutModel makes the summary without the model, and says why.
func (s *step) withoutModel(why string) {
	s.active.retries, s.active.silent = 0, 0
	s.warn([]string{noSummary(why)})
	s.commitCompaction(s.active.compaction.extract(), protocol.CompactLocal)
}

func noSummary(why string) string {
	return fmt.Sprintf("The model could not summarise the conversation (%s): an extract that was made without it stands in its place.", why)
}

// summaryText is the text of a summary without what introduces it.
func summaryText(item protocol.ResponseItem) string {
	return strings.TrimPrefix(history.TextOf(item), history.SummaryHead)
}

func sorted(places []int) []int {
	slices.Sort(places)
	return places
}
