package history

import (
	"iter"
	"slices"

	"appserver/protocol"
)

// Removed is an item that left the prompt.
type Removed struct {
	Place int
	// Item has the text that it had in the prompt.
	Item protocol.ResponseItem
}

// RemovedBy returns the items of the conversation that left the prompt with changes or with their
// undo, the newest first. Summaries and notices are not among them.
func (h *History) RemovedBy(changes []Change) iter.Seq[Removed] {
	return func(yield func(Removed) bool) { h.yieldRemoved(changes, yield) }
}

func (h *History) yieldRemoved(changes []Change, yield func(Removed) bool) {
	seen := map[int32]bool{}
	for _, c := range slices.Backward(changes) {
		item, was := h.at(c.place), c.before
		if item.visibility == c.before {
			was = c.after // the edit was undone
		}
		if seen[c.place] || item.Kept() || item.IsUnsentCompaction() || was.hidden || was.deleted || was.excluded ||
			item.summary || item.IsNotice() {
			continue
		}
		seen[c.place] = true
		r := Removed{int(c.place), item.Decode()}
		if was.Text != nil {
			r.Item = WithText(r.Item, *was.Text)
		}
		if !yield(r) {
			return
		}
	}
}
