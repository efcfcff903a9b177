package history

import "appserver/protocol"

// inclusion excludes items, or includes them again.
type inclusion struct{}

func (inclusion) plan(r *protocol.SetInclusion, items selector) (p Plan, err *protocol.Error) {
	if r.Included {
		p.Op = protocol.EditInclude
		p.Places, p.Ignored, err = items.includable(r.ContextTargets)
		return p, err
	}
	p.Op = protocol.EditExclude
	p.Places, p.Ignored, err = items.targets(r.ContextTargets)
	p.Places = items.filter(p.Places, func(v visibility) bool { return !v.excluded })
	return p, err
}

func (inclusion) byID(r *protocol.SetInclusion, items selector) *protocol.SetInclusion {
	named := *r
	named.ContextTargets = items.idTargets(r.ContextTargets)
	return &named
}

// effects includes the exclusions of the server: a mask replaces old outputs by placeholders.
func (inclusion) effects() []effect {
	return []effect{
		{op: protocol.EditExclude, apply: exclude, takesOut: true},
		{op: protocol.EditMask, apply: exclude, takesOut: true, ofServer: true},
		{op: protocol.EditInclude, apply: include, companions: selector.withHalves, returns: true},
	}
}

func exclude(v *visibility, _ *protocol.StoredContextEdit) { v.excluded = true }

func include(v *visibility, e *protocol.StoredContextEdit) {
	v.excluded, v.omitted, v.PlaceholderNote = false, 0, ""
	v.hidden, v.deleted = v.hidden && !e.Returns, v.deleted && !e.Returns
}

func (inclusion) restore(v *visibility) {
	if v.excluded {
		v.excluded, v.omitted, v.PlaceholderNote = false, 0, ""
	}
}
