package core

import (
	"fmt"
	"strings"

	"appserver/protocol"
)

// GetContextItems asks for the list of context items.
type GetContextItems struct {
	To     protocol.Caller
	Cursor *string
	Limit  *uint32
}

// GetContextUsage asks what the context costs, ListContextEdits for its journal.
type (
	GetContextUsage  struct{ To protocol.Caller }
	ListContextEdits struct{ To protocol.Caller }
)

// PreviewContext asks what operations would do, one after the other.
type PreviewContext struct {
	To         protocol.Caller
	Operations []protocol.ContextOperation
}

func (in GetContextItems) apply(s *step) {
	items, total, next, err := s.page(in.Cursor, in.Limit)
	if err != nil {
		s.refuse(in.To, err)
		return
	}
	s.reply(in.To, protocol.ContextGetItemsResponse{Revision: s.revision, Total: total, Items: items, Usage: s.contextUsage(), NextCursor: next})
}

func (in GetContextUsage) apply(s *step) {
	s.reply(in.To, protocol.ContextGetUsageResponse{Revision: s.revision, Usage: s.contextUsage()})
}

func (in ListContextEdits) apply(s *step) {
	edits := make([]protocol.ContextEdit, len(s.journal))
	for i, e := range s.journal {
		edits[i] = e.ContextEdit
	}
	s.reply(in.To, protocol.ContextListEditsResponse{Revision: s.revision, Edits: edits})
}

func (in PreviewContext) apply(s *step) { s.previewContext(in) }

// previewContext makes the edits, looks, and takes them back.
func (s *step) previewContext(in PreviewContext) {
	before := s.contextUsage()
	was := s.shares()
	v := rehearsal{Thread: s.Thread, warnings: []string{}}
	err := v.run(in.Operations)
	after := s.contextUsage()
	warnings := append(v.warnings, s.lossWarnings(was)...)
	s.takeBack(v.changes)
	s.chooseForms()
	if err != nil {
		s.refuse(in.To, err)
		return
	}
	s.reply(in.To, protocol.ContextPreviewResponse{Before: before, After: after, Warnings: warnings})
}

// mostPreviewed bounds a preview, so that no request holds up the thread.
const mostPreviewed = 1000

// rehearsal makes edits that are taken back.
type rehearsal struct {
	*Thread
	changes  []change
	warnings []string
}

func (v *rehearsal) run(operations []protocol.ContextOperation) *protocol.Error {
	if len(operations) > mostPreviewed {
		return protocol.InvalidParams("edits", "at most %d edits can be previewed at once, and these are %d", mostPreviewed, len(operations))
	}
	for i, o := range operations {
		p, err := v.plan(o.ContextOperationVariant)
		if err != nil {
			return ofEdit(i, err)
		}
		v.warn(i, p)
		line := v.line(p)
		changes := v.changesOf(&line)
		v.put(changes)
		v.chooseForms()
		v.changes = append(v.changes, changes...)
	}
	return nil
}

// ofEdit is the refusal of one of several edits.
func ofEdit(i int, err *protocol.Error) *protocol.Error {
	if err.Data.Field != "" {
		return protocol.InvalidParams(fmt.Sprintf("edits.%d.%s", i, err.Data.Field), "edit %d: %s", i, strings.TrimPrefix(err.Message, "Invalid request: "))
	}
	err.Message = fmt.Sprintf("edit %d: %s", i, err.Message)
	return err
}

func (v *rehearsal) warn(i int, p plan) {
	if p.ignored > 0 {
		v.warnings = append(v.warnings, fmt.Sprintf("edit %d: %d of its targets are not in the list", i, p.ignored))
	}
	if len(p.places) == 0 {
		v.warnings = append(v.warnings, fmt.Sprintf("edit %d changes nothing", i))
	}
}

// share is what the next request holds of an item: itself, with another text or not, or
// a placeholder.
type share struct {
	itself, placeholder bool
	text                *string
	says                int32
}

// shares are those of all items.
func (t *Thread) shares() []share {
	all := make([]share, len(t.items))
	for i := range t.items {
		switch f := &t.items[i].fate; {
		case t.inPrompt(i):
			all[i] = share{itself: true, text: f.text}
		case t.placeholderSent(i):
			all[i] = share{placeholder: true, says: f.says}
		}
	}
	return all
}

// lossWarnings tell what the model would miss that it may need, in the state after the
// changes, against what was.
func (t *Thread) lossWarnings(was []share) (warnings []string) {
	gone := map[protocol.ContextCategory]int{}
	first := none
	pinned := 0
	shares := t.shares()
	for place := range t.inOrder() {
		is := shares[place]
		if is != was[place] && first == none {
			first = place
		}
		if !was[place].itself || is.itself {
			continue
		}
		gone[t.describe(place).category]++
		if t.items[place].fate.pinned {
			pinned++
		}
	}
	for _, loss := range losses {
		if n := gone[loss.category]; n > 0 {
			warnings = append(warnings, fmt.Sprintf(loss.text, n))
		}
	}
	if pinned > 0 {
		warnings = append(warnings, fmt.Sprintf("%d pinned items would be left out", pinned))
	}
	if tokens := t.tokensFrom(first); tokens > 0 {
		warnings = append(warnings, fmt.Sprintf("the next request differs from %s on: about %d tokens behind it cannot come from the provider's cache",
			t.items[first].id(), tokens))
	}
	return warnings
}

// losses are the categories that a model seldom does well without.
var losses = []struct {
	category protocol.ContextCategory
	text     string
}{
	{protocol.CategoryUserInstructions, "the model would not see the user's instructions (%d items)"},
	{protocol.CategoryEnvironmentContext, "the model would not be told its surroundings (%d items)"},
	{protocol.CategoryUserMessage, "%d messages of the user would be left out"},
	{protocol.CategorySummary, "the summary of what was compacted would be left out (%d items)"},
}

// tokensFrom is what the prompt's items from a place on cost; 0 from none.
func (t *Thread) tokensFrom(place int) int64 {
	n, behind := int64(0), false
	for i := range t.inOrder() {
		if behind = behind || i == place; behind && t.inPrompt(i) {
			n += t.describe(i).price(t.scale())
		}
	}
	return n
}

// PromptTokens are what the next model request costs.
func (t *Thread) PromptTokens() int64 { return t.contextUsage().PromptTokens }

// ContextRevision counts the edits of the context.
func (t *Thread) ContextRevision() int64 { return t.revision }
