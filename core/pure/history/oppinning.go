package history

import "appserver/protocol"

// pinning protects items from prunes, trims and compactions. Pins stay after a restore.
type pinning struct{}

func (pinning) plan(r *protocol.Pin, items selector) (p Plan, err *protocol.Error) {
	p.Op = protocol.EditUnpin
	if r.Pinned {
		p.Op = protocol.EditPin
	}
	p.Places, p.Ignored, err = items.targets(r.ContextTargets)
	p.Places = items.filter(p.Places, func(v visibility) bool { return v.pinned != r.Pinned })
	return p, err
}

func (pinning) byID(r *protocol.Pin, items selector) *protocol.Pin {
	named := *r
	named.ContextTargets = items.idTargets(r.ContextTargets)
	return &named
}

func (pinning) effects() []effect {
	pin := func(v *visibility, e *protocol.StoredContextEdit) { v.pinned = e.Op == protocol.EditPin }
	return []effect{{op: protocol.EditPin, apply: pin}, {op: protocol.EditUnpin, apply: pin}}
}

func (pinning) restore(*visibility) {}
