package core

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"appserver/core/transcript"
	"appserver/protocol"
)

// SearchOccurrences asks for a page of the places where a text stands in the messages.
type SearchOccurrences struct {
	To     protocol.Caller
	Term   string
	Cursor *string
	Limit  *uint32
}

func (in SearchOccurrences) apply(s *step) { s.searchOccurrences(in) }

const (
	occurrencesPage, occurrencesMost = 50, 250

	// A snippet has so many characters before and behind what was found.
	snippetBefore, snippetBehind = 49, 96
)

// occurrenceCursor names a message, and how many of its occurrences are on the pages before.
type occurrenceCursor struct {
	Thread string `json:"t"`
	Term   string `json:"s"`
	// Position is the ordinal of the item's line.
	Position int64  `json:"p"`
	ID       string `json:"i"`
	Skip     int    `json:"n"`
}

func (s *step) searchOccurrences(in SearchOccurrences) {
	first, skip, ok := s.beginOccurrences(in)
	if !ok {
		s.reject(in.To, errCursor("cursor", *in.Cursor))
		return
	}
	page := protocol.ThreadSearchOccurrencesResponse{Data: []protocol.ThreadSearchOccurrence{}}
	term, limit := folded(in.Term), pageSize(in.Limit, occurrencesPage, occurrencesMost)
	for i := first; i < len(s.transcript.Events()); i++ {
		found := s.occurrencesIn(i, term)
		for n := skip; n < len(found); n++ {
			if len(page.Data) == limit {
				page.NextCursor = s.occurrenceCursor(i, n, in.Term)
				s.reply(in.To, page)
				return
			}
			page.Data = append(page.Data, s.occurrence(i, found[n]))
		}
		skip = 0
	}
	s.reply(in.To, page)
}

// beginOccurrences is the message that a page begins with, and how many of its occurrences
// are not on it.
func (t *Thread) beginOccurrences(in SearchOccurrences) (first, skip int, ok bool) {
	if in.Cursor == nil {
		return 0, 0, true
	}
	c, ok := readCursor[occurrenceCursor](*in.Cursor)
	if !ok || c.Thread != t.id || c.Term != in.Term || c.Skip < 0 {
		return 0, 0, false
	}
	first, ok = t.findMoment(c.Position, c.ID)
	return first, c.Skip, ok
}

func (t *Thread) occurrenceCursor(place, skip int, term string) *string {
	m := t.transcript.Events()[place]
	return new(cursorText(occurrenceCursor{t.id, term, m.Position, t.transcript.ItemAt(m).ID(), skip}))
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// messageAt is what was said at a moment, "" where nothing was.
func (t *Thread) messageAt(m transcript.Event) string {
	if m.Item < 0 || !t.transcript.ItemAt(m).IsMessage() {
		return ""
	}
	switch v := t.transcript.ItemAt(m).ThreadItem().ThreadItemVariant.(type) {
	case *protocol.UserMessageItem:
		return transcript.InputText(v.Content)
	case *protocol.AgentMessageItem:
		return v.Text
	}
	return ""
}

func (t *Thread) occurrencesIn(place int, term string) []span {
	text := t.messageAt(t.transcript.Events()[place])
	if !strings.Contains(folded(text), term) {
		return nil
	}
	return occurrences(text, term)
}

// occurrences are the places of a folded term in a text. None has a part of another.
func occurrences(text, term string) (found []span) {
	var fold strings.Builder
	var origin []int // of each byte of the folded text, and of its end
	for at, r := range text {
		fold.WriteString(folded(string(r)))
		for len(origin) < fold.Len() {
			origin = append(origin, at)
		}
	}
	origin = append(origin, len(text))
	for from := 0; ; {
		at := strings.Index(fold.String()[from:], term)
		if at < 0 {
			return found
		}
		begin, end := from+at, from+at+len(term)
		found = append(found, span{origin[begin], endOf(text, origin, end)})
		from = end
	}
}

// endOf is where a character of the text ends that the folded text is in before end.
func endOf(text string, origin []int, end int) int {
	last := origin[end-1]
	_, size := utf8.DecodeRuneInString(text[last:])
	return last + size
}

// folded is a text as it is compared.
func folded(text string) string {
	return strings.ReplaceAll(strings.ToLower(text), "ß", "ss")
}

func (t *Thread) occurrence(place int, at span) protocol.ThreadSearchOccurrence {
	m := t.transcript.Events()[place]
	r := t.transcript.Turn(int(m.Turn))
	text := t.messageAt(m)
	before, behind := lastRunes(text[:at.from], snippetBefore), firstRunes(text[at.to:], snippetBehind)
	if len(before) < at.from {
		before = "... " + before
	}
	snippet := before + text[at.from:at.to] + behind
	if len(behind) < len(text)-at.to {
		snippet += " ..."
	}
	start := utf16Length(before)
	return protocol.ThreadSearchOccurrence{
		TurnID: r.ID, ItemID: r.Item(int(m.Item)).ID(), Snippet: snippet,
		SnippetMatchRange: protocol.ThreadSearchTextRange{Start: start, End: start + utf16Length(text[at.from:at.to])},
		TurnCursor:        *pageCursor{Thread: t.id, Kind: "turns", ID: r.ID, Begins: true}.text(),
	}
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
