package contextedit

import (
	"fmt"
	"strconv"
	"strings"

	"appserver/cmd/appserver/internal/termtext"
	"appserver/protocol"
)

// question is a change of the whole context with its price, before it is made.
type question struct {
	title, keys string
	lines       []string
	// do makes the change on Enter. other are further keys.
	do    func()
	other map[Key]func()
	// leave is called when the question is left without the change, or is nil.
	leave func()
}

// questionPriced has the price of a change.
type questionPriced struct {
	ask func(*protocol.ContextPreviewResponse) question
	// preview is the price, err the reason if there is none.
	preview protocol.ContextPreviewResponse
	err     error
}

// ask shows a question.
func (m *Model) ask(q question) {
	m.screen, m.question, m.pager, m.status = onConfirm, q, pager{}, ""
	m.fillPager()
}

func (m *Model) questionLines() (lines []string) {
	for _, line := range m.question.lines {
		lines = append(lines, termtext.Wrap(line, m.size.Columns)...)
	}
	return lines
}

// pressInConfirm applies a key of a question.
func (m *Model) pressInConfirm(key Key) {
	if by, ok := m.distance(key); ok {
		m.pager.scroll(by, m.rowsOfPager())
		return
	}
	q := m.question
	switch {
	case key == "Enter" && q.do != nil:
		m.screen = onList
		q.do()
	case key == "Esc" || key == "q":
		m.screen = onList
		if q.leave != nil {
			q.leave()
		}
	case q.other[key] != nil:
		q.other[key]()
	}
}

// priceThenAsk reads the price of edits and asks. The price of a trim is that of the deletion of the same items.
func (m *Model) priceThenAsk(edits []protocol.ContextOperation, ask func(*protocol.ContextPreviewResponse) question) {
	m.screen, m.status = onList, "Calculating the price …"
	m.enqueue(func() Command {
		return func(t Thread) Message {
			p, err := t.Preview(edits)
			return questionPriced{ask, p, err}
		}
	})
}

func (m *Model) takeQuestion(r questionPriced) {
	if r.err != nil {
		m.status = m.describe(r.err)
		return
	}
	m.ask(r.ask(&r.preview))
}

// priceText returns the price of a change and its warnings, as lines of a question.
func priceText(p *protocol.ContextPreviewResponse) []string {
	lines := append(priceOf(p), fmt.Sprintf("The next request has %s.",
		termtext.Counted(int(p.After.PromptTokens), "token")))
	for _, w := range p.Warnings {
		lines = append(lines, "Warning: "+termtext.Plain(w))
	}
	return lines
}

// askToTrim opens the field for the number of turns that stay.
func (m *Model) askToTrim() {
	if m.HasPlan() {
		m.status = "Apply or discard the plan first."
		return
	}
	m.screen, m.field = onTrim, "2"
}

// priceTrim reads the price of a trim.
func (m *Model) priceTrim() {
	keep, err := strconv.ParseUint(strings.TrimSpace(m.field), 10, 32)
	if err != nil {
		m.status = "Give a number of turns: 0 removes all turns."
		return
	}
	removed, turns, last := m.beforeLastTurns(int(keep))
	if turns == 0 {
		m.screen, m.status = onList, fmt.Sprintf("The context has no turn before the last %d.", keep)
		return
	}
	edit := &protocol.PruneByIndices{ContextTargets: protocol.ContextTargets{IDs: removed}}
	m.priceThenAsk([]protocol.ContextOperation{{ContextOperationVariant: edit}},
		func(p *protocol.ContextPreviewResponse) question {
			lines := []string{fmt.Sprintf("Trim the context to the last %s?", termtext.Counted(int(keep), "turn")), "",
				fmt.Sprintf("%s with %s leave the context. Pinned items stay. The conversation stays readable.",
					termtext.Counted(turns, "turn"), termtext.Counted(len(removed), "item"))}
			return question{title: "Trim", keys: "Enter trims  Esc returns", lines: append(lines, priceText(p)...),
				do: func() { m.trim(uint32(keep), last) }}
		})
}

// beforeLastTurns returns the items that a trim removes, the number of their turns, and the id of the last turn. Pinned
// items stay, and so does what informs the model of the folder, the instructions and the mode.
func (m *Model) beforeLastTurns(keep int) (ids []string, turns int, last string) {
	turns = len(m.list.turns) - keep
	for i := range m.list.items {
		item := &m.list.items[i]
		if item.TurnID != nil {
			last = *item.TurnID
		}
		kept := item.Pinned
		switch item.Category {
		case protocol.CategoryEnvironmentContext, protocol.CategoryUserInstructions, protocol.CategoryDeveloperMessage:
			kept = true
		}
		if item.TurnID != nil && m.list.turns[*item.TurnID].number <= turns && !kept {
			ids = append(ids, item.ID)
		}
	}
	return ids, max(0, turns), last
}

func (m *Model) trim(keep uint32, last string) {
	m.status = "Trimming the context …"
	m.enqueueEdit(func() Command {
		return func(t Thread) Message {
			err := t.Trim(keep, last)
			return edited{done: "Trimmed to the last " + termtext.Counted(int(keep), "turn") + ".", after: reload(t), err: err}
		}
	})
}

// drafted is the draft of a compaction.
type drafted struct {
	draft protocol.ThreadCompactProposeResponse
	err   error
}

// draftCompaction asks for a draft. The server decides what it replaces, and by which strategy.
func (m *Model) draftCompaction() {
	if m.HasPlan() {
		m.status = "Apply or discard the plan first."
		return
	}
	m.status = "Drafting a compaction …"
	m.enqueue(func() Command {
		return func(t Thread) Message {
			d, err := t.Draft()
			return drafted{d, err}
		}
	})
}

func (m *Model) takeDraft(r drafted) {
	if r.err != nil {
		m.status = m.describe(r.err)
		return
	}
	m.draft = &r.draft
	m.askToCompact(r.draft.Summary)
}

// askToCompact shows the draft, with the summary as the user edited it.
func (m *Model) askToCompact(summary string) {
	d := m.draft
	lines := []string{fmt.Sprintf("The compaction replaces %s of %s by a summary (%s).",
		termtext.Counted(len(d.Replaces.ItemIDs), "item"), termtext.Counted(len(d.Replaces.TurnIDs), "turn"), d.Strategy),
		fmt.Sprintf("The next request has %s instead of %s.", termtext.Counted(int(d.TokensAfter), "token"),
			termtext.Grouped(d.TokensBefore))}
	if d.Warning != nil {
		lines = append(lines, "Warning: "+termtext.Plain(*d.Warning))
	}
	if lost := len(d.LossDetails) + d.LossesOmitted; lost > 0 {
		lines = append(lines, "", termtext.Counted(lost, "fact")+" that the summary does not mention:")
		for _, loss := range d.LossDetails {
			lines = append(lines, "  - "+termtext.Plain(loss.Text))
		}
	}
	lines = append(lines, "", "Summary:")
	for line := range strings.Lines(summary) {
		lines = append(lines, termtext.Plain(strings.TrimRight(line, "\r\n")))
	}
	q := question{title: "Compact", keys: "Enter compacts  Esc returns", lines: lines,
		do: func() { m.commit(summary) }, leave: m.cancelDraft}
	if m.hasEditor && d.Strategy != protocol.CompactMask {
		q.keys = "Enter compacts  e edits the summary  Esc returns"
		q.other = map[Key]func(){"e": func() { m.editing = &editing{summary, m.askToCompact} }}
	}
	m.ask(q)
}

func (m *Model) commit(summary string) {
	d := m.draft
	m.draft, m.status = nil, "Compacting the context …"
	m.enqueueEdit(func() Command {
		return func(t Thread) Message {
			var text *string
			if summary != d.Summary {
				text = &summary
			}
			err := t.Commit(d.DraftID, text)
			return edited{done: "Compacted the context.", after: reload(t), err: err}
		}
	})
}

func (m *Model) cancelDraft() {
	m.draft = nil
	m.enqueue(func() Command {
		return func(t Thread) Message {
			_ = t.Cancel() // the draft is dropped in any case when the thread is unloaded
			return reload(t)
		}
	})
}
