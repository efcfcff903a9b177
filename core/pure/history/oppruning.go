package history

import "appserver/protocol"

// pruning excludes the items of some categories. A restore takes it back as an exclusion.
type pruning struct{}

func (pruning) plan(r *protocol.Prune, items selector) (p Plan, err *protocol.Error) {
	p.Op = protocol.EditPrune
	p.Places, err = items.prunable(r)
	return p, err
}

func (pruning) byID(r *protocol.Prune, _ selector) *protocol.Prune { return r }

func (pruning) effects() []effect {
	return []effect{{op: protocol.EditPrune, apply: exclude, takesOut: true}}
}

func (pruning) restore(*visibility) {}
