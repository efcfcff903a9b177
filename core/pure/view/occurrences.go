package view

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"appserver/core/pure/page"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// OccurrencesQuery selects a page of the occurrences of a term in the messages of the user and the
// agent. Letter case is ignored, and ß is ss.
type OccurrencesQuery struct {
	Term   string
	Cursor *string
	Limit  *uint32
}

const (
	occurrencesPage, maxOccurrencesPage = 50, 250

	// The number of characters of a snippet before and after the occurrence.
	snippetBefore, snippetAfter = 49, 96
)

// occurrenceCursor names a message and the number of its occurrences on previous pages.
type occurrenceCursor struct {
	Thread string `json:"t"`
	Term   string `json:"s"`
	// Position is the ordinal of the item's line.
	Position int64  `json:"p"`
	ID       string `json:"i"`
	Skip     int    `json:"n"`
}

// OccurrencesPage returns a page of occurrences, in the order of the messages.
func (t *Thread) OccurrencesPage(
	q OccurrencesQuery,
) (answer protocol.ThreadSearchOccurrencesResponse, err *protocol.Error) {
	first, skip, ok := t.beginOccurrences(q)
	if !ok {
		return answer, errCursor("cursor", *q.Cursor)
	}
	answer.Data = []protocol.ThreadSearchOccurrence{}
	term, size := fold(q.Term), page.Size(q.Limit, occurrencesPage, maxOccurrencesPage)
	quick := newLiteral(term)
	for i := first; i < t.Transcript.EventCount(); i++ {
		text := t.message(t.Transcript.Event(i), &quick)
		found := findAll(text, term)
		for n := skip; n < len(found); n++ {
			if len(answer.Data) == size {
				answer.NextCursor = t.occurrenceCursor(t.Transcript.Event(i), n, q.Term)
				return answer, nil
			}
			answer.Data = append(answer.Data, t.occurrence(t.Transcript.Event(i), text, found[n]))
		}
		skip = 0
	}
	return answer, nil
}

// beginOccurrences returns the index of the first message of a page, and the number of its
// occurrences on previous pages.
func (t *Thread) beginOccurrences(q OccurrencesQuery) (first, skip int, ok bool) {
	if q.Cursor == nil {
		return 0, 0, true
	}
	c, ok := decodeCursor[occurrenceCursor](*q.Cursor)
	if !ok || c.Thread != t.ID || c.Term != q.Term || c.Skip < 0 {
		return 0, 0, false
	}
	first, ok = t.eventOf(c.Position, c.ID)
	return first, c.Skip, ok
}

func (t *Thread) occurrenceCursor(e transcript.Event, skip int, term string) *string {
	return new(encodeCursor(occurrenceCursor{t.ID, term, e.Position, t.Transcript.ItemAt(e).ID(), skip}))
}

// message returns the text of a message that may have a term, or "" for other events.
func (t *Thread) message(e transcript.Event, term *literal) string {
	if e.Item < 0 {
		return ""
	}
	item := t.Transcript.ItemAt(e)
	if !item.IsMessage() {
		return ""
	}
	if raw := item.Peek(); raw != nil && !term.mayBeInJSON(raw) {
		return ""
	}
	switch v := item.ThreadItem().ThreadItemVariant.(type) {
	case *protocol.UserMessageItem:
		return transcript.InputText(v.Content)
	case *protocol.AgentMessageItem:
		return v.Text
	}
	return ""
}

func (t *Thread) occurrence(e transcript.Event, text string, at span) protocol.ThreadSearchOccurrence {
	before, after := lastRunes(text[:at.from], snippetBefore), firstRunes(text[at.to:], snippetAfter)
	if len(before) < at.from {
		before = "... " + before
	}
	match := text[at.from:at.to]
	snippet := before + match + after
	if len(after) < len(text)-at.to {
		snippet += " ..."
	}
	start := utf16Length(before)
	return protocol.ThreadSearchOccurrence{
		TurnID: t.Transcript.TurnID(int(e.Turn)), ItemID: t.Transcript.ItemAt(e).ID(), Snippet: snippet,
		SnippetMatchRange: protocol.ThreadSearchTextRange{Start: start, End: start + utf16Length(match)},
		TurnCursor:        *t.turnCursor(int(e.Turn), true),
	}
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// findAll returns the occurrences of a folded term in a text. They do not overlap.
func findAll(text, term string) (found []span) {
	if !strings.Contains(fold(text), term) {
		return nil // most messages; the origins below cost more
	}
	var folded strings.Builder
	var origin []int // the index in text of each byte of the folded text, and of its end
	for at, r := range text {
		folded.WriteString(fold(string(r)))
		for len(origin) < folded.Len() {
			origin = append(origin, at)
		}
	}
	origin = append(origin, len(text))
	for from := 0; ; {
		at := strings.Index(folded.String()[from:], term)
		if at < 0 {
			return found
		}
		begin, end := from+at, from+at+len(term)
		found = append(found, span{origin[begin], endOf(text, origin, end)})
		from = end
	}
}

// endOf returns the end of the character of text whose folded form has the byte before end.
func endOf(text string, origin []int, end int) int {
	last := origin[end-1]
	_, size := utf8.DecodeRuneInString(text[last:])
	return last + size
}

// fold returns a text in the form that is compared.
func fold(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "ß", "ss")
}

func utf16Length(text string) (n uint32) {
	for _, r := range text {
		n += uint32(max(utf16.RuneLen(r), 1)) //nolint:gosec // 1 or 2
	}
	return n
}

func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

func lastRunes(text string, n int) string {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return text[at:]
}
