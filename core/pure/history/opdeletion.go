package history

import "appserver/protocol"

// deletion takes items out of the list. The deletion of a call also deletes its present output.
type deletion struct{}

func (deletion) plan(r *protocol.PruneByIndices, items selector) (p Plan, err *protocol.Error) {
	p.Op = protocol.EditDelete
	p.Places, p.Ignored, err = items.targets(r.ContextTargets)
	return p, err
}

func (deletion) byID(r *protocol.PruneByIndices, items selector) *protocol.PruneByIndices {
	return &protocol.PruneByIndices{ContextTargets: items.idTargets(r.ContextTargets)}
}

func (deletion) effects() []effect {
	remove := func(v *visibility, _ *protocol.StoredContextEdit) { v.deleted = true }
	return []effect{{op: protocol.EditDelete, apply: remove, takesOut: true, companions: selector.withOutputs}}
}

func (deletion) restore(v *visibility) {
	if v.deleted {
		v.deleted, v.omitted, v.PlaceholderNote = false, 0, ""
	}
}
