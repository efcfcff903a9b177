package contextedit

import (
	"maps"
	"slices"

	"appserver/protocol"
)

// wish is the state that the plan gives an item.
type wish struct {
	included, pinned, deleted bool
	note                      string
	// text replaces that of the item if replaces is set.
	replaces bool
	text     string
}

// stateOf returns the state that an item has now.
func stateOf(item *protocol.ContextItem) wish {
	return wish{included: item.Included, pinned: item.Pinned, note: item.Note}
}

// plan has the items that shall change, by their ids.
type plan struct {
	wishes map[string]wish
	// version increases with every change.
	version int
}

// of returns the state that an item has after the plan, and whether the plan changes it.
func (p *plan) of(item *protocol.ContextItem) (wish, bool) {
	if w, ok := p.wishes[item.ID]; ok {
		return w, true
	}
	return stateOf(item), false
}

// set plans a state for an item. The plan forgets the item if it has that state already.
func (p *plan) set(item *protocol.ContextItem, w wish) {
	p.version++
	if w == stateOf(item) {
		delete(p.wishes, item.ID)
		return
	}
	p.wishes[item.ID] = w
}

// replace sets all wishes.
func (p *plan) replace(wishes map[string]wish) {
	p.version++
	p.wishes = wishes
}

// forgetTexts removes the planned texts, which were applied.
func (p *plan) forgetTexts() {
	for id, w := range p.wishes {
		w.replaces, w.text = false, ""
		p.wishes[id] = w
	}
}

// rebase forgets the wishes that the list fulfils, and returns how many it drops because their items left
// the list.
func (p *plan) rebase(items []protocol.ContextItem) (dropped int) {
	p.version++
	left := maps.Clone(p.wishes)
	for i := range items {
		if w, ok := left[items[i].ID]; ok {
			p.set(&items[i], w)
			delete(left, items[i].ID)
		}
	}
	for id, w := range left {
		delete(p.wishes, id)
		if !w.deleted {
			dropped++
		}
	}
	return dropped
}

// planned are the items of a plan by their edits, in the order of the list.
type planned struct {
	exclude, include, pin, unpin, remove []string
	notes                                []plannedNote
	texts                                []protocol.Replace
}

// plannedNote is a note, or "" for none, and the items that get it.
type plannedNote struct {
	text string
	ids  []string
}

// add adds an item to those that get its note.
func (s *planned) add(note, id string) {
	i := slices.IndexFunc(s.notes, func(n plannedNote) bool { return n.text == note })
	if i < 0 {
		i, s.notes = len(s.notes), append(s.notes, plannedNote{text: note})
	}
	s.notes[i].ids = append(s.notes[i].ids, id)
}

func (p *plan) sorted(items []protocol.ContextItem) (s planned) {
	for i := range items {
		item := &items[i]
		w, ok := p.wishes[item.ID]
		switch {
		case !ok:
			continue
		case w.deleted:
			s.remove = append(s.remove, item.ID)
			continue
		case w.included && !item.Included:
			s.include = append(s.include, item.ID)
		case !w.included && item.Included:
			s.exclude = append(s.exclude, item.ID)
		}
		switch {
		case w.pinned && !item.Pinned:
			s.pin = append(s.pin, item.ID)
		case !w.pinned && item.Pinned:
			s.unpin = append(s.unpin, item.ID)
		}
		if w.note != item.Note {
			s.add(w.note, item.ID)
		}
		if w.replaces {
			s.texts = append(s.texts, protocol.Replace{ID: &item.ID, Text: w.text})
		}
	}
	return s
}

// edits returns the edits of the plan.
func (p *plan) edits(items []protocol.ContextItem) (list []protocol.ContextOperation) {
	s := p.sorted(items)
	add := func(ids []string, edit func(protocol.ContextTargets) protocol.ContextOperationVariant) {
		if len(ids) > 0 {
			list = append(list, protocol.ContextOperation{ContextOperationVariant: edit(protocol.ContextTargets{IDs: ids})})
		}
	}
	setInclusion := func(included bool) func(protocol.ContextTargets) protocol.ContextOperationVariant {
		return func(t protocol.ContextTargets) protocol.ContextOperationVariant {
			return &protocol.SetInclusion{ContextTargets: t, Included: included}
		}
	}
	setPinned := func(pinned bool) func(protocol.ContextTargets) protocol.ContextOperationVariant {
		return func(t protocol.ContextTargets) protocol.ContextOperationVariant {
			return &protocol.Pin{ContextTargets: t, Pinned: pinned}
		}
	}
	add(s.exclude, setInclusion(false))
	add(s.include, setInclusion(true))
	add(s.pin, setPinned(true))
	add(s.unpin, setPinned(false))
	for _, note := range s.notes {
		add(note.ids, func(t protocol.ContextTargets) protocol.ContextOperationVariant {
			o := &protocol.SetNote{ContextTargets: t}
			if note.text != "" {
				o.Note = &note.text
			}
			return o
		})
	}
	for i := range s.texts {
		list = append(list, protocol.ContextOperation{ContextOperationVariant: &s.texts[i]})
	}
	add(s.remove, func(t protocol.ContextTargets) protocol.ContextOperationVariant {
		return &protocol.PruneByIndices{ContextTargets: t}
	})
	return list
}
