package contextedit

import (
	"fmt"
	"strings"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// pager is a text that is higher than the screen.
type pager struct {
	lines []string
	top   int
}

func (p *pager) scroll(by, height int) {
	p.top = max(0, min(p.top+by, len(p.lines)-height))
}

// fillPager wraps the text of the screen again.
func (m *Model) fillPager() {
	switch m.screen {
	case onHelp:
		m.pager.lines = strings.Split(helpText, "\n")
	case onDetails:
		m.pager.lines = m.detailLines()
	case onApply:
		m.pager.lines = m.planLines()
	case onSuggestions:
		m.pager.lines = m.suggestionLines()
	case onConfirm:
		m.pager.lines = m.questionLines()
	default:
		return
	}
	m.pager.scroll(0, m.rowsOfPager())
}

func (m *Model) openDetails() {
	item := m.list.current()
	if item == nil {
		return
	}
	id := item.ID
	m.status = "Reading the item …"
	m.enqueue(func() Command {
		return func(t Thread) Message {
			r, err := t.ReadItem(id)
			return itemRead{r, err}
		}
	})
}

func (m *Model) takeItem(r itemRead) {
	m.status = ""
	if r.err != nil {
		m.status = m.describe(r.err)
		return
	}
	if m.screen == onList {
		m.screen, m.details, m.pager = onDetails, r.item, pager{}
		m.original = r.item.Sent == nil
		m.fillPager()
	}
}

// detailLines returns the item in full.
func (m *Model) detailLines() (lines []string) {
	r, width := &m.details, m.size.Columns
	head := r.Item.ID + ", " + r.Item.Category.Words()
	if r.Item.ToolName != nil {
		head += " of " + *r.Item.ToolName
	}
	head += fmt.Sprintf(", %s, %s", termtext.Counted(int(r.Item.Tokens), "token"),
		termtext.Counted(int(r.Item.Bytes), "byte"))
	lines = termtext.Wrap(head, width)
	lines = append(lines, termtext.Wrap(r.Reason.Text, width)...)
	if r.Item.Note != "" {
		lines = append(lines, termtext.Wrap("Note: "+r.Item.Note, width)...)
	}
	shown, parts := "Sent to the model:", r.Original
	switch {
	case m.original || r.Sent == nil:
		shown = "In the rollout:"
	default:
		parts = *r.Sent
	}
	lines = append(lines, "", shown)
	for _, part := range parts {
		lines = append(lines, termtext.Wrap(textOf(part), width)...)
	}
	return lines
}

func textOf(part protocol.ContextPart) string {
	switch {
	case part.URL != nil:
		return "[image] " + *part.URL
	case part.Text == nil:
		return ""
	case part.Type == "data":
		return "[data] " + *part.Text
	}
	return *part.Text
}

// planLines returns the plan with its price, for the confirmation.
func (m *Model) planLines() []string {
	s := m.plan.sorted(m.list.items)
	lines := []string{"Apply this plan?", ""}
	for _, part := range []struct {
		verb string
		ids  []string
	}{{"exclude", s.exclude}, {"include", s.include}, {"pin", s.pin}, {"unpin", s.unpin}, {"delete", s.remove}} {
		if len(part.ids) > 0 {
			lines = append(lines, fmt.Sprintf("  %-8s %s", part.verb, termtext.Counted(len(part.ids), "item")))
		}
	}
	for _, note := range s.notes {
		verb := "note"
		if note.text == "" {
			verb = "unnote"
		}
		lines = append(lines, fmt.Sprintf("  %-8s %s", verb, termtext.Counted(len(note.ids), "item")))
	}
	if len(s.texts) > 0 {
		lines = append(lines, fmt.Sprintf("  %-8s %s", "replace", termtext.Counted(len(s.texts), "item")))
	}
	lines = append(lines, "")
	if !m.isPriced() {
		return append(lines, "Calculating the price …")
	}
	if m.preview.err != nil {
		return append(lines, termtext.Wrap(m.describe(m.preview.err), m.size.Columns)...)
	}
	lines = append(lines, m.priceLines()...)
	lines = append(lines, fmt.Sprintf("The next request has %s.",
		termtext.Counted(int(m.preview.preview.After.PromptTokens), "token")))
	for _, w := range m.preview.preview.Warnings {
		lines = append(lines, termtext.Wrap("Warning: "+w, m.size.Columns)...)
	}
	return append(lines, "", "The plan becomes one edit. u undoes it.")
}

// priceLines returns the price of the plan in two lines.
func (m *Model) priceLines() []string { return priceOf(&m.preview.preview) }

// priceOf returns the price of edits in two lines.
func priceOf(p *protocol.ContextPreviewResponse) []string {
	net := p.NetPrice
	first := fmt.Sprintf("%s fewer", termtext.Counted(int(net.TokensSaved), "token"))
	if net.TokensSaved < 0 {
		first = fmt.Sprintf("%s more", termtext.Counted(int(-net.TokensSaved), "token"))
	}
	if share := termtext.Percent(net.TokensSaved, p.Before.PromptTokens); share != "" && net.TokensSaved > 0 {
		first += " (" + share + ")"
	}
	if n := len(p.Warnings); n > 0 {
		first += ", " + termtext.Counted(n, "warning")
	}
	second := fmt.Sprintf("%s leave the cache", termtext.Counted(int(net.TokensLeavingCache), "token"))
	switch n := net.RequestsToPayBack; {
	case n == nil:
		second += ", never pays back"
	case *n > 0:
		second += fmt.Sprintf(", pays back after %s", termtext.Counted(int(*n), "request"))
	}
	return []string{first, second}
}

const helpText = `The list
  Up Down k j, PgUp PgDn     move; Shift and an arrow extends a range
  Home End, g G              first and last item
  K J                        previous and next turn
  Space                      exclude, or include again
  d, Delete                  delete; undo brings the item back
  p                          pin, or unpin
  t                          a note, which the model never gets; empty: none
  R                          replace the text of an output or of reasoning
  v                          begin or end a range for Space, d, p and t
  Enter                      the whole text of the item
  s                          sort: by turn, by price, newest first
Categories
  1 to 9                     show a category, or hide it again
  c                          only the category of the item; again: all
  0                          all categories
Find, in whole texts
  /                          find; Tab in the field: a regular expression
  n, N                       next and previous match
  x                          exclude all matches that are shown
  Esc                        end the range and the search
The plan
  a                          apply all planned changes as one edit; asks first
  Backspace                  discard the plan; again: bring it back
The whole context, each with its price first
  S                          suggestions: what the next requests can do without
  T                          trim to the last turns
  C                          compact, with a draft to review
  u                          undo the last edit of the thread
  U, Ctrl+R                  redo it
  r                          read the list again
  q, Ctrl+C                  quit; asks if there is a plan
Marks
  >  the cursor              |  in the range            /  a match
  [x] sent                   [ ] excluded               [D] to be deleted
  [-] not sent, for another reason: Enter states it
  *  changed by the plan     ~  a consequence of the plan
  P  pinned                  R  replaced by another text
  N  with a note             B  with both`
