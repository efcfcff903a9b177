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
	marks
}

// Change is the effect of an edit on one item.
type Change struct {
	place         int32
	before, after visibility
}

// apply applies an edit with an effect to its i-th item.
func (v *visibility) apply(effect effect, e *protocol.StoredContextEdit, i int) {
	if i < len(e.Tokens) {
		v.omitted = int32(min(max(e.Tokens[i], 0), maxTokens))
	}
	if i < len(e.Notes) {
		v.PlaceholderNote = e.Notes[i]
	}
	effect.apply(v, e)
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

// state returns the visibility as clients see it, without the pin.
func (v *visibility) state() protocol.ContextItemState {
	switch {
	case v.hidden:
		return protocol.ItemHidden
	case v.deleted:
		return protocol.ItemDeleted
	case v.excluded:
		return protocol.ItemExcluded
	case v.Text != nil:
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

// CountShown returns the number of items that are not hidden after changes.
func CountShown(changes []Change) (n int) {
	for _, c := range changes {
		if !c.after.hidden {
			n++
		}
	}
	return n
}
