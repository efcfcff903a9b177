package history

import "appserver/protocol"

// operations returns the table of the operations of clients. A new one is a file with its operationOf, and a row here.
func operations() []operation {
	return []operation{
		row(inclusion{}),
		row(deletion{}),
		row(pruning{}),
		row(pinning{}),
		row(replacement{}),
		row(noting{}),
	}
}

// marks are texts that operations give an item. A field is exported, because snapshots have the exported ones.
type marks struct {
	// PlaceholderNote is the text of the placeholder after the number of tokens, or "".
	PlaceholderNote string
	// Text replaces the item's own text, unless it is nil.
	Text *string
	// Note is the note of a client, or "". The model does not receive it.
	Note string
}

// addTo adds marks to a column. Few items have any.
func (m marks) addTo(column map[int32]marks, at int32) {
	if m != (marks{}) {
		column[at] = m
	}
}

// shown returns the marks that clients see.
func (v *visibility) shown() protocol.ContextItemMarks {
	return protocol.ContextItemMarks{Pinned: v.pinned, Replaced: v.Text != nil, Note: v.Note}
}

// operationOf is an operation of clients. Its requests have the type R.
type operationOf[R protocol.ContextOperationVariant] interface {
	// plan returns the changes that a request makes now.
	plan(request R, items selector) (Plan, *protocol.Error)
	// byID returns a request that names its items by ids instead of indices.
	byID(request R, items selector) R
	// effects returns the effects of lines of the operation on an item.
	effects() []effect
	// restore takes back the part of its effects that context/restore takes back.
	restore(v *visibility)
}

// Plan is an edit before it is made.
type Plan struct {
	// Op is one of protocol's Edit constants.
	Op   string
	Text *string
	// Places has the items that change, sorted. Without places the edit changes nothing.
	Places []int
	// Ignored is the number of targets that are not in the list.
	Ignored int
}

// effect is the change that a line of the log makes to an item.
type effect struct {
	op string
	// apply changes the visibility of an item.
	apply func(v *visibility, e *protocol.StoredContextEdit)
	// takesOut is set if an output gets a placeholder with its price.
	takesOut bool
	// companions adds items that change as well, or is nil.
	companions func(items selector, places []int) []int
	// returns is set if the line can bring items back that are not in the list.
	returns bool
	// ofServer is set if no client makes such edits. An apply does not have them.
	ofServer bool
}

// selector selects items of a history for a plan. It is an interface, so that operations do not depend on the files of
// the history.
type selector interface {
	// targets returns the places of the listed items that a client names, sorted.
	targets(named protocol.ContextTargets) (places []int, ignored int, err *protocol.Error)
	// includable returns the places of the named items that an include changes, sorted.
	includable(named protocol.ContextTargets) (places []int, ignored int, err *protocol.Error)
	// prunable returns the places of the items that a prune excludes.
	prunable(p *protocol.Prune) ([]int, *protocol.Error)
	// replaceable returns the place of the item that a replace names.
	replaceable(r *protocol.Replace) (place int, err *protocol.Error)
	// filter returns the places of items with a visibility that matches.
	filter(places []int, matches func(visibility) bool) []int
	// idTargets returns targets with ids in place of indices.
	idTargets(named protocol.ContextTargets) protocol.ContextTargets
	// withOutputs adds the outputs of the calls among places, withHalves the other halves of pairs that return.
	withOutputs(places []int) []int
	withHalves(places []int) []int
}

// operation is an operationOf for requests of any type. plan and byID return false if the request has another type.
type operation struct {
	plan    func(request protocol.ContextOperationVariant, items selector) (p Plan, err *protocol.Error, ok bool)
	byID    func(request protocol.ContextOperationVariant, items selector) (_ protocol.ContextOperationVariant, ok bool)
	effects []effect
	restore func(v *visibility)
}

func row[R protocol.ContextOperationVariant](o operationOf[R]) operation {
	return operation{
		plan: func(request protocol.ContextOperationVariant, items selector) (p Plan, err *protocol.Error, ok bool) {
			r, ok := request.(R)
			if ok {
				p, err = o.plan(r, items)
			}
			return p, err, ok
		},
		byID: func(request protocol.ContextOperationVariant, items selector) (protocol.ContextOperationVariant, bool) {
			r, ok := request.(R)
			if !ok {
				return request, false
			}
			return o.byID(r, items), true
		},
		effects: o.effects(), restore: o.restore,
	}
}

// planOf returns the plan of a request.
func planOf(request protocol.ContextOperationVariant, items selector) (Plan, *protocol.Error) {
	for _, o := range operations() {
		if p, err, ok := o.plan(request, items); ok {
			return p, err
		}
	}
	return Plan{}, protocol.InvalidParams("type", "%T is no operation on the context of this version", request)
}

// byID returns a request that names its items by ids instead of indices.
func byID(request protocol.ContextOperationVariant, items selector) protocol.ContextOperationVariant {
	for _, o := range operations() {
		if named, ok := o.byID(request, items); ok {
			return named
		}
	}
	return request
}

// effectOf returns the effect of the lines with an op. It returns false for edits that are no operation on items, and
// for those of a later version.
func effectOf(op string) (e effect, known bool) {
	for _, o := range operations() {
		for _, e := range o.effects {
			if e.op == op {
				return e, true
			}
		}
	}
	return effect{}, false
}

// restored returns the visibility after context/restore of an item that stays or returns.
func (v visibility) restored(all []operation) visibility {
	v.hidden = false
	for _, o := range all {
		o.restore(&v)
	}
	return v
}
