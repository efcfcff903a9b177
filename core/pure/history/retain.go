package history

import "slices"

// Retained returns the places before a place of the items that stay if all before it goes: pinned
// items with the other halves of their pairs, and the last notice of each subject.
func (h *History) Retained(place int) (places []int) {
	last := map[notice]int{}
	for i := range h.Shown() {
		if c := h.Item(i); c.Listed() && c.InForm() && c.notice != noNotice {
			last[c.notice] = i
		}
	}
	for _, i := range h.Before(place) {
		c := h.Item(i)
		at, known := last[c.notice]
		switch {
		case c.visibility.pinned, c.pair != None && h.at(c.pair).visibility.pinned, c.InForm() && known && at == i:
			places = append(places, i)
		}
	}
	return places
}

// TrimmedTurns returns the turns before the latest trim point. The caller must not change them.
func (h *History) TrimmedTurns() map[string]bool {
	if h.trimmedTurns != nil {
		return h.trimmedTurns
	}
	turns := map[string]bool{}
	for _, p := range h.TrimPoints() {
		for _, id := range p.PrunedTurnIDs {
			turns[id] = true
		}
	}
	h.trimmedTurns = turns
	return turns
}

// ActiveTurns returns the ids of the turns after the latest trim point that have an item in the
// context, oldest first.
func (h *History) ActiveTurns() (ids []string) {
	trimmed, seen := h.TrimmedTurns(), map[string]bool{}
	for i := range h.Shown() {
		c := h.Item(i)
		if c.turnID == "" || !c.Listed() || !c.InForm() || c.notice != noNotice || seen[c.turnID] ||
			trimmed[c.turnID] {
			continue
		}
		seen[c.turnID] = true
		ids = append(ids, c.turnID)
	}
	return ids
}

// FirstOfTurn returns the place of the first item of a turn that is not hidden, or None.
func (h *History) FirstOfTurn(turn string) int {
	for i := range h.Shown() {
		if c := h.Item(i); c.InForm() && c.turnID == turn {
			return i
		}
	}
	return None
}

// LastTurns returns the place where the last n of the active turns begin. There must be more than n.
// It returns None if n is 0.
func (h *History) LastTurns(n int) int {
	if n == 0 {
		return None
	}
	turns := h.ActiveTurns()
	return h.FirstOfTurn(turns[len(turns)-n])
}

// BeginsTurn reports whether the item at a place is the first of its turn in the context.
func (h *History) BeginsTurn(place int) bool {
	turn := h.Item(place).turnID
	for i := range h.Shown() {
		if i == place {
			break
		}
		c := h.Item(i)
		if c.turnID == turn && c.InForm() && c.notice == noNotice {
			return false
		}
	}
	return true
}

// AfterSummaries returns the place of the first item of the conversation after the summaries of trim
// points, or None, and the places before it without the summaries.
func (h *History) AfterSummaries() (place int, before []int) {
	place = None
	var since []int
	for i := range h.Shown() {
		switch c := h.Item(i); {
		case c.ofPoint:
			before, since, place = append(before, since...), nil, None
		default:
			since = append(since, i)
			if place == None && c.InForm() && c.notice == noNotice {
				place = i
			}
		}
	}
	if at := slices.Index(since, place); at >= 0 {
		since = since[:at]
	}
	return place, append(before, since...)
}

// UnsentForms returns the places of the items of encrypted compactions that are not sent.
func (h *History) UnsentForms() (places []int) {
	for _, i := range h.sortedShown() {
		if h.Item(i).replacedBy == originals {
			places = append(places, i)
		}
	}
	return places
}
