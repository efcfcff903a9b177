package history

import (
	"fmt"
	"iter"
	"strings"

	"appserver/protocol"
)

// maxEdits bounds the edits of a request, so that no request blocks the thread.
const maxEdits = 1000

// Preview returns the usage before and after operations, warnings, and what changes in the next request.
// It changes nothing. usage returns the usage of the context at the time of the call. The net price is
// not set.
func (h *History) Preview(
	operations []protocol.ContextOperation, turns Turns, usage func() protocol.ContextUsage,
) (protocol.ContextPreviewResponse, *protocol.Error) {
	answer := protocol.ContextPreviewResponse{Before: usage()}
	before := h.sentForms()
	v := trial{History: h, turns: turns}
	err := v.run(operations)
	answer.After = usage()
	h.describeChanges(&answer, h.Shown(), before, v.warnings)
	v.revertAll()
	return answer, err
}

// PreviewFrom returns the changes of the next request from an earlier state of the history to this copy of it, with
// warnings. The usages and the net price are not set.
func (h *History) PreviewFrom(earlier *History) (answer protocol.ContextPreviewResponse) {
	h.describeChanges(&answer, h.InOrder(), earlier.sentForms(), nil)
	return answer
}

// describeChanges sets what changes in the next request, and the warnings. places has all items that were sent before,
// and those that are sent now.
func (h *History) describeChanges(answer *protocol.ContextPreviewResponse, places iter.Seq[int],
	before map[int]sentForm, warnings []protocol.ContextWarning,
) {
	answer.Changes, answer.Cache = h.sentChanges(places, before)
	answer.WarningDetails = append([]protocol.ContextWarning{}, warnings...)
	answer.WarningDetails = append(answer.WarningDetails, h.lossWarnings(places, before, answer.Cache)...)
	answer.Warnings = []string{}
	for _, w := range answer.WarningDetails {
		answer.Warnings = append(answer.Warnings, w.Text)
	}
}

// PlanAll plans operations that are made one after the other, as one edit with the operation apply. The
// line has no edits if nothing changes. byID are the operations, with ids for the indices of items:
// they mean the same items later.
func (h *History) PlanAll(operations []protocol.ContextOperation, turns Turns) (
	e protocol.StoredContextEdit, byID []protocol.ContextOperation, err *protocol.Error,
) {
	v := trial{History: h, turns: turns}
	err = v.run(operations)
	v.revertAll()
	return v.joined(), v.byID, err
}

// PlanFitting does the same as PlanAll, for operations that were planned earlier. It leaves out
// those that are refused by now, and returns the errors.
func (h *History) PlanFitting(operations []protocol.ContextOperation, turns Turns) (
	protocol.StoredContextEdit, []*protocol.Error,
) {
	v := trial{History: h, turns: turns}
	var refused []*protocol.Error
	for i, o := range operations {
		if err := v.try(i, o.ContextOperationVariant); err != nil {
			refused = append(refused, err)
		}
	}
	v.revertAll()
	return v.joined(), refused
}

// trial applies operations that are reverted later.
type trial struct {
	*History
	turns Turns
	// unpair restores the pairs before the first operation that changed them, or is nil.
	unpair   func()
	edits    []protocol.StoredContextEdit
	byID     []protocol.ContextOperation
	changes  []Change
	warnings []protocol.ContextWarning
}

// revertAll reverts all operations.
func (v *trial) revertAll() {
	v.revertChanges(v.changes)
	v.ChooseForms()
	if v.unpair != nil {
		v.unpair()
	}
}

func (v *trial) run(operations []protocol.ContextOperation) *protocol.Error {
	if len(operations) > maxEdits {
		return protocol.InvalidParams("edits", "a request can have at most %d edits, and this one has %d",
			maxEdits, len(operations))
	}
	for i, o := range operations {
		if err := v.try(i, o.ContextOperationVariant); err != nil {
			return err
		}
	}
	return nil
}

// try applies the operation with an index, unless it is refused.
func (v *trial) try(i int, o protocol.ContextOperationVariant) *protocol.Error {
	p, err := v.Plan(o, v.turns)
	if err != nil {
		return errorOfEdit(i, err)
	}
	v.warn(i, p)
	v.byID = append(v.byID, protocol.ContextOperation{ContextOperationVariant: byID(o, selection{History: v.History})})
	if len(p.Places) > 0 {
		v.apply(v.Encode(p))
	}
	return nil
}

// joined returns the operations as one edit. It has no edits if nothing changes.
func (v *trial) joined() protocol.StoredContextEdit {
	e := protocol.StoredContextEdit{Op: protocol.EditApply}
	if len(JoinChanges(v.changes)) > 0 {
		e.Edits = v.edits
	}
	return e
}

func (v *trial) apply(e protocol.StoredContextEdit) {
	changes := v.ChangesOf(&e)
	v.applyChanges(changes)
	v.ChooseForms()
	if v.separatesPairs(changes) {
		if v.unpair == nil {
			v.unpair = v.savePairs()
		}
		v.pairAgain()
	}
	v.edits, v.changes = append(v.edits, e), append(v.changes, changes...)
}

// errorOfEdit adds the edit to an error.
func errorOfEdit(i int, err *protocol.Error) *protocol.Error {
	if err.Data.Field != "" {
		return protocol.InvalidParams(fmt.Sprintf("edits.%d.%s", i, err.Data.Field), "edit %d: %s", i,
			strings.TrimPrefix(err.Message, "Invalid request: "))
	}
	err.Message, err.Data.Field = fmt.Sprintf("edit %d: %s", i, err.Message), fmt.Sprintf("edits.%d", i)
	return err
}

func (v *trial) warn(i int, p Plan) {
	if p.Ignored > 0 {
		v.warnings = append(v.warnings, warning(protocol.WarningUnknownTargets,
			"edit %d: %d of its targets are not in the list", i, p.Ignored))
	}
	if len(p.Places) == 0 {
		v.warnings = append(v.warnings, warning(protocol.WarningChangesNothing, "edit %d changes nothing", i))
	}
}

func warning(code protocol.ContextWarningCode, format string, args ...any) protocol.ContextWarning {
	return protocol.ContextWarning{Code: code, Text: fmt.Sprintf(format, args...)}
}

// sentForm is the part of the next request that is made of an item: the item, with another text or
// not, or a placeholder.
type sentForm struct {
	itself, placeholder bool
	text                *string
	omitted             int32
	note                string
}

// state returns the form as clients see it.
func (f sentForm) state() protocol.ContextSent {
	switch {
	case f.itself && f.text != nil:
		return protocol.SentReplaced
	case f.itself:
		return protocol.SentItself
	case f.placeholder:
		return protocol.SentPlaceholder
	}
	return protocol.SentNothing
}

// sentForms returns the forms of the items of which the next request has something, by place.
func (h *History) sentForms() map[int]sentForm {
	all := map[int]sentForm{}
	for i := range h.Shown() {
		switch v := h.Item(i).visibility; {
		case h.InPrompt(i):
			all[i] = sentForm{itself: true, text: v.Text}
		case h.PlaceholderSent(i):
			all[i] = sentForm{placeholder: true, omitted: v.omitted, note: v.PlaceholderNote}
		}
	}
	return all
}

// sentChanges returns the items of which the next request has something else than before, and the tokens
// from the first of them on.
func (h *History) sentChanges(places iter.Seq[int], before map[int]sentForm) (
	changes []protocol.ContextSentChange, cache protocol.ContextCacheEffect,
) {
	changes = []protocol.ContextSentChange{}
	after := h.sentForms()
	for place := range places {
		if after[place] != before[place] {
			changes = append(changes, protocol.ContextSentChange{
				ID: h.Item(place).ID(), Was: before[place].state(), Is: after[place].state()})
		}
		if len(changes) > 0 {
			cache.TokensBehind += h.SentTokens(place)
		}
	}
	if len(changes) > 0 {
		cache.FirstChangedID = new(changes[0].ID)
	}
	return changes, cache
}

// lossWarnings returns warnings about content that the model may need and does not receive any more,
// and about content that cannot come from the provider's cache.
func (h *History) lossWarnings(
	places iter.Seq[int], before map[int]sentForm, cache protocol.ContextCacheEffect,
) (warnings []protocol.ContextWarning) {
	lost := map[protocol.ContextCategory]int{}
	pinned := 0
	after := h.sentForms()
	for place := range places {
		if !before[place].itself || after[place].itself {
			continue
		}
		lost[h.Category(place)]++
		if h.Item(place).visibility.pinned {
			pinned++
		}
	}
	for _, loss := range losses {
		if n := lost[loss.category]; n > 0 {
			warnings = append(warnings, leftOut(loss.code, loss.what, n))
		}
	}
	if pinned > 0 {
		warnings = append(warnings, leftOut(protocol.WarningPinnedLost, "pinned items", pinned))
	}
	if cache.TokensBehind > 0 {
		warnings = append(warnings, warning(protocol.WarningCachedPrefixShort,
			"the next request differs from %s on: about %d tokens behind it cannot come from the provider's cache",
			*cache.FirstChangedID, cache.TokensBehind))
	}
	return warnings
}

func leftOut(code protocol.ContextWarningCode, what string, n int) protocol.ContextWarning {
	if n == 1 {
		return warning(code, "%s would be left out: 1 item", what)
	}
	return warning(code, "%s would be left out: %d items", what, n)
}

// losses are the categories that a model seldom does well without.
var losses = []struct {
	category protocol.ContextCategory
	code     protocol.ContextWarningCode
	what     string
}{
	{protocol.CategoryUserInstructions, protocol.WarningInstructionsLost, "the user's instructions"},
	{protocol.CategoryEnvironmentContext, protocol.WarningEnvironmentLost, "the environment"},
	{protocol.CategoryUserMessage, protocol.WarningUserMessagesLost, "messages of the user"},
	{protocol.CategorySummary, protocol.WarningSummaryLost, "the summary of earlier turns"},
}
