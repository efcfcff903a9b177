package compaction

import (
	"fmt"
	"strings"

	"appserver/core/pure/digest"
	"appserver/core/pure/history"
	"appserver/protocol"
)

// Span has the items that a compaction replaces.
type Span struct {
	// Former is the summary of an earlier compaction within the span, or "". FormerRules are the rules of the
	// user that it was found to keep, also in other words.
	Former      string
	FormerRules []string
	// Removed are rules that a client removed from the text of a draft. They are not added again.
	Removed []string
	// Places and Items are the items to replace, in order.
	Places []int
	Items  []protocol.ResponseItem
	// Dir is the working directory of the thread.
	Dir string
	// ids are the ids of Items.
	ids []string
	// text is nil until the text of the span is analysed.
	text *digest.Source
	// Conversation has the items and those among them that stay, such as requests of the user: a model reads
	// it to summarise the span. Earlier has the items before the former summary.
	Conversation, Earlier []protocol.ResponseItem
}

// Span returns the items that a plan replaces.
func (c *Context) Span(p Plan) (s Span) {
	s.Dir = c.Dir
	stays := map[int]bool{}
	for _, i := range append(c.Retained(p.From), p.Words...) {
		stays[i] = true
	}
	for _, i := range c.Before(p.From) {
		item := c.Item(i)
		switch {
		case item.Hidden(), item.IsUnsentCompaction():
		case item.Ordinal() == c.SentCompaction() && item.IsPart(): // the items that it replaces are readable
			s.Places = append(s.Places, i)
		case stays[i]:
			if item.Kept() && !item.IsNotice() {
				s.Conversation = append(s.Conversation, item.Sent())
			}
		case !item.Kept():
			s.Places = append(s.Places, i)
			if outcome, found := c.outcome(item); found {
				s.Items, s.ids = append(s.Items, outcome), append(s.ids, item.ID())
				s.Conversation = append(s.Conversation, outcome)
			}
		case item.IsSummary():
			s.Former = strings.TrimSpace(s.Former + "\n\n" + SummaryText(item.Sent()))
			s.FormerRules = append(s.FormerRules, c.RulesOf(item)...)
			s.Places = append(s.Places, i)
			s.Earlier, s.Conversation = append(s.Earlier, s.Conversation...), nil
		default:
			s.Places, s.Items = append(s.Places, i), append(s.Items, item.Sent())
			s.ids = append(s.ids, item.ID())
			s.Conversation = append(s.Conversation, item.Sent())
		}
	}
	return s
}

// outcome returns the output of a call with its outcome only, if an edit that saves tokens excluded the output: a
// failure remains a fact.
func (c *Context) outcome(item *history.Item) (protocol.ResponseItem, bool) {
	if !item.IsOutput() || item.Pair() == history.None || !item.Noted() || item.Deleted() {
		return protocol.ResponseItem{}, false
	}
	text, _ := digest.OutputOf(item.Sent())
	short := digest.OnlyOutcome(text)
	return c.Item(item.Pair()).Answer(short), short != ""
}

// SummaryText returns the text of a summary without its introduction.
func SummaryText(item protocol.ResponseItem) string {
	return strings.TrimPrefix(history.TextOf(item), history.SummaryHead)
}

// bytesPerToken is a low estimate for text in several languages.
const bytesPerToken = 3

// summaryLimit bounds a summary, in bytes.
func (r *Rules) summaryLimit() int {
	tokens, _ := r.Budgets(r.Target)
	return int(tokens) * bytesPerToken
}

// Extract returns a summary that no model makes: the facts of the span. The audit adds the rules of the user.
func (r *Rules) Extract(s *Span) string {
	known, _ := s.rules()
	chosen, _ := choose(known, r.rulesLimit())
	return s.source().Extract(r.summaryLimit() - len(rulesSection(chosen)))
}

// source returns the span for an analysis of its text. The items and the former summary must not change afterwards.
func (s *Span) source() *digest.Source {
	if s.text == nil {
		former, _ := splitRules(s.Former)
		s.text = &digest.Source{Items: s.Items, Former: former, Dir: s.Dir, WithoutRules: true}
	}
	return s.text
}

// Requests returns a summary that no model makes: the requests of the user that do not stay.
func (r *Rules) Requests(s *Span) string {
	limit := r.summaryLimit()
	text := digest.Earlier(s.userMessages(), limit/2)
	if former, _ := splitRules(s.Former); former != "" {
		text = strings.TrimSpace(former[:min(len(former), limit/2)] + "\n\n" + text)
	}
	if text = strings.TrimSpace(strings.ToValidUTF8(text, "")); text == "" {
		return fmt.Sprintf("The earlier requests of the user are above. %d answers, calls and results were left out.",
			len(s.Items))
	}
	return text
}

func (s *Span) userMessages() (texts []string) {
	for _, item := range s.Items {
		if m, ok := item.ResponseItemVariant.(*protocol.Message); ok && m.Role == protocol.RoleUser {
			texts = append(texts, history.TextOf(item))
		}
	}
	return texts
}
