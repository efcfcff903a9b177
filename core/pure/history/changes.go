package history

import (
	"slices"

	"appserver/protocol"
)

// applyChanges sets the visibility of items after changes.
func (h *History) applyChanges(changes []Change) {
	h.keepUsage(changes, func() {
		for _, c := range changes {
			h.setVisibility(c.place, c.after)
		}
	})
}

// revertChanges sets the visibility of items before changes.
func (h *History) revertChanges(changes []Change) {
	h.keepUsage(changes, func() {
		for _, c := range slices.Backward(changes) {
			h.setVisibility(c.place, c.before)
		}
	})
}

func (h *History) setVisibility(place int32, v visibility) {
	if h.at(place).visibility.hidden != v.hidden {
		h.shown.changed = append(h.shown.changed, place)
	}
	c := h.at(place)
	h.formsDue = h.formsDue || c.native
	if c.role == call && c.pair != None && c.visibility.Text != v.Text {
		h.at(c.pair).about = nil // the description of the output names the call
	}
	c.setVisibility(v)
}

func (c *Item) setVisibility(v visibility) {
	if c.visibility.Text != v.Text {
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

// maxRecounted bounds the changes after which the usage is not counted from the start.
const maxRecounted = 64

// keepUsage runs set, which applies changes, and keeps the usage up to date.
func (h *History) keepUsage(changes []Change, set func()) {
	if h.usage == nil || h.usage.usageKey != h.usageKey() || len(changes) > maxRecounted || changesHidden(changes) {
		h.usage = nil
		set()
		return
	}
	places := h.affected(changes)
	for _, place := range places {
		h.usage.add(h, place, -1)
	}
	set()
	for _, place := range places {
		h.usage.add(h, place, 1)
	}
}
