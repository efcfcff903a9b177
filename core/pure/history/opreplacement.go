package history

import "appserver/protocol"

// replacement gives an output or a reasoning another text.
type replacement struct{}

func (replacement) plan(r *protocol.Replace, items selector) (p Plan, err *protocol.Error) {
	p.Op, p.Text = protocol.EditReplace, &r.Text
	place, err := items.replaceable(r)
	if err == nil {
		p.Places = items.filter([]int{place}, func(v visibility) bool { return v.Text == nil || *v.Text != r.Text })
	}
	return p, err
}

func (replacement) byID(r *protocol.Replace, items selector) *protocol.Replace {
	if r.Index == nil {
		return r
	}
	id := items.idTargets(protocol.ContextTargets{Indices: []int64{*r.Index}}).IDs[0]
	return &protocol.Replace{ID: &id, Text: r.Text}
}

func (replacement) effects() []effect {
	replace := func(v *visibility, e *protocol.StoredContextEdit) { v.Text = e.Text }
	return []effect{{op: protocol.EditReplace, apply: replace}}
}

func (replacement) restore(v *visibility) { v.Text = nil }
