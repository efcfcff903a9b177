package history

import (
	"cmp"
	"slices"

	"appserver/protocol"
)

// visibility is the effect of edits on an item. A new item has the zero value.
type visibility struct {
	// hidden is set while a compaction, a trim or a revert has taken the item out, and for the
	// summary of one that is undone.
	hidden   bool
	deleted  bool
	excluded bool
	pinned   bool
	// omitted is the number of tokens that the placeholder of an output names.
	omitted int32
	// note is the text of the placeholder after that number, or "".
	note string
	// text replaces the item's own text, unless it is nil.
	text *string
}

// Change is the effect of an edit on one item.
type Change struct {
	place         int32
	before, after visibility
}

// apply applies the operation of an edit to its i-th item.
func (v *visibility) apply(e *protocol.StoredContextEdit, i int) {
	if i < len(e.Tokens) {
		v.omitted = int32(min(max(e.Tokens[i], 0), maxTokens))
	}
	if i < len(e.Notes) {
		v.note = e.Notes[i]
	}
	switch e.Op {
	case protocol.EditExclude, protocol.EditPrune, protocol.EditMask:
		v.excluded = true
	case protocol.EditInclude:
		v.excluded, v.omitted, v.note = false, 0, ""
		v.hidden, v.deleted = v.hidden && !e.Returns, v.deleted && !e.Returns
	case protocol.EditDelete:
		v.deleted = true
	case protocol.EditPin, protocol.EditUnpin:
		v.pinned = e.Op == protocol.EditPin
	case protocol.EditReplace:
		v.text = e.Text
	}
}

// applyChanges gives items the visibility after changes.
func (h *History) applyChanges(changes []Change) {
	h.countAgain(changes, func() {
		for _, c := range changes {
			h.setVisibility(c.place, c.after)
		}
	})
}

// revertChanges gives items the visibility before changes.
func (h *History) revertChanges(changes []Change) {
	h.countAgain(changes, func() {
		for _, c := range slices.Backward(changes) {
			h.setVisibility(c.place, c.before)
		}
	})
}

func (h *History) setVisibility(place int32, v visibility) {
	if h.at(place).visibility.hidden != v.hidden {
		h.shown.changed = append(h.shown.changed, place)
	}
	h.formsDue = h.formsDue || h.at(place).native
	h.at(place).setVisibility(v)
}

func (c *Item) setVisibility(v visibility) {
	if c.visibility.text != v.text {
		c.about = nil
	}
	c.visibility = v
	if v.hidden && c.Source != nil {
		c.item = protocol.ResponseItem{}
	}
}

// hide returns the change that hides an item.
func (h *History) hide(place int32) Change {
	before := h.at(place).visibility
	after := before
	after.hidden = true
	return Change{place, before, after}
}

// simulate applies changes, runs do, and reverts them.
func (h *History) simulate(changes []Change, do func()) {
	h.updateShown()
	before := h.shown
	h.applyChanges(changes)
	h.ChooseForms()
	if h.separatesPairs(changes) {
		defer h.savePairs()()
		h.pairAgain()
	}
	do()
	h.revertChanges(changes)
	if len(h.encrypted) == 0 { // otherwise the reminder may have moved
		h.shown = before
	}
	h.ChooseForms()
}

// changesHidden reports whether changes hide items or bring them back.
func changesHidden(changes []Change) bool {
	for _, c := range changes {
		if c.before.hidden != c.after.hidden {
			return true
		}
	}
	return false
}

// separatesPairs reports whether changes may alter which calls and outputs belong together. They do
// not if both halves of each pair are hidden or brought back together.
func (h *History) separatesPairs(changes []Change) bool {
	hidden := map[int32]bool{}
	for _, c := range changes {
		if h.at(c.place).role != unpaired && c.before.hidden != c.after.hidden {
			hidden[c.place] = h.at(c.place).visibility.hidden
		}
	}
	for place, is := range hidden {
		pair := h.at(place).pair
		if pair == None {
			return true
		}
		if other, changes := hidden[pair]; !changes || other != is {
			return true
		}
	}
	return false
}

// state returns the visibility as clients see it, without the pin.
func (v *visibility) state() protocol.ContextItemState {
	switch {
	case v.hidden:
		return protocol.ItemHidden
	case v.deleted:
		return protocol.ItemDeleted
	case v.excluded:
		return protocol.ItemExcluded
	case v.text != nil:
		return protocol.ItemReplaced
	}
	return protocol.ItemIncluded
}

func pinState(pinned bool) protocol.ContextItemState {
	if pinned {
		return protocol.ItemPinned
	}
	return protocol.ItemUnpinned
}

// Reversed returns the changes of the undo of changes.
func Reversed(changes []Change) []Change {
	reversed := make([]Change, len(changes))
	for i, c := range changes {
		reversed[len(changes)-1-i] = Change{c.place, c.after, c.before}
	}
	return reversed
}

// JoinChanges joins the successive changes of each item, sorted by place. It drops an item that ends
// up as it began.
func JoinChanges(all []Change) (joined []Change) {
	index := map[int32]int{}
	for _, c := range all {
		if i, met := index[c.place]; met {
			joined[i].after = c.after
			continue
		}
		index[c.place] = len(joined)
		joined = append(joined, c)
	}
	joined = slices.DeleteFunc(joined, func(c Change) bool { return c.before == c.after })
	slices.SortFunc(joined, func(a, b Change) int { return cmp.Compare(a.place, b.place) })
	return joined
}

// CountShown returns how many items are not hidden after changes.
func CountShown(changes []Change) (n int) {
	for _, c := range changes {
		if !c.after.hidden {
			n++
		}
	}
	return n
}

// hasReverts reports whether turns were ever taken out by a revert.
func (h *History) hasReverts() bool {
	return slices.ContainsFunc(h.journal, func(e Edit) bool { return e.IsRevert() })
}

// isReverted reports whether a revert took out the line of an item.
func (h *History) isReverted(place int) bool {
	ordinal := h.Item(place).ordinal
	for i := range h.journal {
		if e := &h.journal[i]; e.IsRevert() && ordinal >= e.from && ordinal <= e.ordinal {
			return true
		}
	}
	return false
}

// inForce returns a function that reports whether an edit is in force: no undo and no restore took it back.
func (h *History) inForce() func(e *Edit) bool {
	points := h.TrimPoints()
	return func(e *Edit) bool {
		return !e.Undone && (e.point == nil || IndexOfPoint(points, e.point.ID) >= 0)
	}
}

// hiddenBy returns the reason for a hidden item: a revert of its turn, or the last edit in force that hides it.
func (h *History) hiddenBy(place int32) protocol.ContextReasonCode {
	if h.isReverted(int(place)) { // its changes lack items that were hidden already
		return protocol.ReasonReverted
	}
	inForce := h.inForce()
	hides := func(c Change) bool { return c.place == place && c.after.hidden }
	for i := len(h.journal) - 1; i >= 0; i-- {
		if e := &h.journal[i]; inForce(e) && slices.ContainsFunc(e.Changes(), hides) {
			return e.reasonHidden()
		}
	}
	return protocol.ReasonUndone
}

// reasonHidden returns the reason for the items that the edit hides.
func (e *Edit) reasonHidden() protocol.ContextReasonCode {
	switch e.Op {
	case protocol.EditTrim:
		return protocol.ReasonTrimmed
	case protocol.EditCompact:
		return protocol.ReasonCompacted
	case protocol.EditRevert:
		return protocol.ReasonReverted
	}
	return protocol.ReasonUndone
}

// NotReturnable returns why an include cannot bring back the item at a place, which is not in the list, or "".
func (h *History) NotReturnable(place int) string {
	c, code := h.Item(place), protocol.ReasonDeleted
	switch {
	case c.visibility.hidden:
		code = h.hiddenBy(int32(place))
	case c.outdated:
		code = protocol.ReasonOutdated
	}
	switch {
	case code != protocol.ReasonTrimmed && code != protocol.ReasonCompacted && code != protocol.ReasonDeleted:
		return reasonTexts[code]
	case c.notice == reminder:
		return "It is a reminder of the memory. The server sends another one when it is needed."
	case c.visibility.hidden && c.IsPart() && slices.Contains(h.encrypted, c.ordinal):
		return "It belongs to an encrypted compaction. Undo the edit that took it out."
	}
	return ""
}
