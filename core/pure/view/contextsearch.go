package view

import (
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"appserver/core/pure/history"
	"appserver/core/pure/page"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

const (
	contextMatchPage, maxContextMatchPage = 100, 1000
	// maxQuery is the length of a query in characters, maxMatches the number of matches that are counted
	// in an item.
	maxQuery, maxMatches = 1000, 1000
	// The length of the text before and after a match, and of the match, in characters.
	matchBefore, matchAfter, matchLength = 40, 120, 200
)

// SearchContext returns a page of the items whose text has a match: those of the list, and removed ones if the
// query includes them.
func SearchContext(
	h *history.History, p *protocol.ContextSearchParams,
) (answer protocol.ContextSearchResponse, err *protocol.Error) {
	pattern, err := searchPattern(p)
	if err != nil {
		return answer, err
	}
	s := contextSearch{History: h, pattern: pattern}
	if !p.Regex {
		s.literal = newLiteral(p.Query)
	}
	if p.IncludeRemoved {
		s.removed = h.RemovalReasons()
	}
	found := s.find(p.Categories)
	answer = s.summary(found)
	found, err = s.after(found, p.Cursor)
	if err != nil {
		return answer, err
	}
	found, more := page.First(found, page.Size(p.Limit, contextMatchPage, maxContextMatchPage))
	for _, m := range found {
		answer.Data = append(answer.Data, s.view(m))
	}
	if more {
		answer.NextCursor = &answer.Data[len(answer.Data)-1].ID
	}
	return answer, nil
}

// searchPattern returns the regular expression of a search.
func searchPattern(p *protocol.ContextSearchParams) (*regexp.Regexp, *protocol.Error) {
	if n := utf8.RuneCountInString(p.Query); n == 0 || n > maxQuery {
		return nil, protocol.InvalidParams("query",
			"the query has %d characters, but must have 1 to %d", n, maxQuery)
	}
	expression := p.Query
	if !p.Regex {
		expression = regexp.QuoteMeta(expression)
	}
	pattern, err := regexp.Compile(expression) // first, because an error quotes the expression
	if err == nil && !p.MatchCase {
		pattern, err = regexp.Compile("(?i)" + expression)
	}
	if err != nil {
		return nil, protocol.InvalidParams("query", "%v (the syntax is that of Go's package regexp)", err)
	}
	return pattern, nil
}

type contextSearch struct {
	*history.History
	pattern *regexp.Regexp
	// literal excludes items without decoding them. It excludes none if the query is a regular expression.
	literal literal
	// removed has the items to search that are not in the list, by place, or is nil.
	removed []protocol.ContextReasonCode
}

// contextMatch is an item whose text has a match. index is its position in the list, or -1.
type contextMatch struct{ place, index int }

// find returns the items of some categories, or of all, whose text has a match.
func (s contextSearch) find(categories []protocol.ContextCategory) (found []contextMatch) {
	for m := range s.searched() {
		if s.hasMatch(s.Item(m.place)) && (len(categories) == 0 || slices.Contains(categories, s.Category(m.place))) {
			found = append(found, m)
		}
	}
	return found
}

// searched returns the items to search, in order.
func (s contextSearch) searched() iter.Seq[contextMatch] {
	return func(yield func(contextMatch) bool) {
		listed := 0
		for place := range s.items(s.removed != nil) {
			index := -1
			if s.Item(place).Listed() {
				index = listed
				listed++
			} else if s.removed == nil || s.removed[place] == "" {
				continue
			}
			if !yield(contextMatch{place, index}) {
				return
			}
		}
	}
}

// items returns the places of the items that are not hidden, or of all, in order.
func (s contextSearch) items(all bool) iter.Seq[int] {
	if all {
		return s.InOrder()
	}
	return s.Shown()
}

// summary returns a response that has no matches yet.
func (s contextSearch) summary(found []contextMatch) protocol.ContextSearchResponse {
	answer := protocol.ContextSearchResponse{
		Revision: s.Revision(), Data: []protocol.ContextMatch{}, IDs: []string{},
	}
	for _, m := range found {
		answer.IDs = append(answer.IDs, s.Item(m.place).ID())
		if s.InPrompt(m.place) {
			answer.InPrompt++
			answer.Tokens += s.Cost(m.place)
		}
	}
	return answer
}

// after returns the matches that follow the item of a cursor. That item need not be listed any more.
func (s contextSearch) after(found []contextMatch, cursor *string) ([]contextMatch, *protocol.Error) {
	if cursor == nil {
		return found, nil
	}
	last, ok := s.Find(*cursor)
	if !ok {
		return nil, errCursor("cursor", *cursor)
	}
	before := map[int]bool{}
	for place := range s.items(s.removed != nil || s.Item(last).Hidden()) {
		before[place] = true
		if place == last {
			break
		}
	}
	return slices.DeleteFunc(found, func(m contextMatch) bool { return before[m.place] }), nil
}

// hasMatch reports whether the text of an item has a match that is not empty.
func (s contextSearch) hasMatch(item *history.Item) bool {
	if raw := item.Peek(); raw != nil && !s.literal.mayBeInJSON(raw) {
		return false
	}
	text := item.Text()
	if !s.literal.mayBeIn([]byte(text)) {
		return false
	}
	at := s.pattern.FindStringIndex(text)
	return at != nil && (at[0] < at[1] || len(s.matches(text)) > 0)
}

// matches returns the matches in a text that are not empty, at most maxMatches.
func (s contextSearch) matches(text string) [][]int {
	all := slices.DeleteFunc(s.pattern.FindAllStringIndex(text, -1), func(at []int) bool { return at[0] == at[1] })
	return all[:min(len(all), maxMatches)]
}

func (s contextSearch) view(m contextMatch) protocol.ContextMatch {
	item := s.Item(m.place)
	text := item.Text()
	all := s.matches(text)
	from, to := all[0][0], all[0][1]
	match := protocol.ContextMatch{
		ID: item.ID(), Index: m.index, Category: s.Category(m.place), InPrompt: s.InPrompt(m.place),
		Tokens: s.Cost(m.place), Count: len(all),
		Before: snippet(excerpt.LastRunes(text[:from], matchBefore)),
		Match:  snippet(excerpt.FirstRunes(text[from:to], matchLength)),
		After:  snippet(excerpt.FirstRunes(text[to:], matchAfter)),
	}
	if m.index < 0 {
		match.State = new(s.removed[m.place])
	}
	return match
}

// snippet returns a part of a text as one line. White space at an end becomes one space.
func snippet(text string) string {
	line := excerpt.Line(text)
	if line == "" && text != "" {
		return " "
	}
	if strings.TrimLeft(text, " \t\r\n") != text {
		line = " " + line
	}
	if strings.TrimRight(text, " \t\r\n") != text {
		line += " "
	}
	return line
}
