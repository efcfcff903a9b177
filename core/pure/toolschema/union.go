package toolschema

import (
	"maps"
	"slices"
	"strings"
)

// maxAlternatives bounds the text of alternatives in a description, in bytes.
const maxAlternatives = 1000

// readAlternatives reads the alternatives of a schema as one. It returns nil if there are none.
func (r *reader) readAlternatives(members map[string]any, depth int) *node {
	var parts []any
	for _, name := range []string{"anyOf", "oneOf"} {
		list, _ := members[name].([]any)
		parts = append(parts, list...)
	}
	own := statedKind(members)
	if len(parts) > 0 && r.charge(len(parts), 0) {
		n := r.union(r.readAll(parts, depth+1))
		if n == nil || own == "" {
			return n
		}
		base := r.readKind(members, own, depth)
		return r.both(base, n)
	}
	types := typesOf(members)
	if len(types) < 2 {
		return nil
	}
	var nodes []*node
	for _, kind := range types {
		nodes = append(nodes, r.readKind(members, kind, depth))
	}
	return r.union(nodes)
}

// both returns a schema whose values match two schemas. If they differ in their type, it is the first one.
func (r *reader) both(base, n *node) *node {
	if base.Type != n.Type {
		return base
	}
	base.Description = n.Description
	if base.Enum == nil {
		base.Enum = n.Enum
	}
	for name, property := range n.Properties {
		if base.Properties[name] == nil {
			base.Properties[name] = property
		}
	}
	base.Required = slices.Concat(base.Required, n.Required)
	return base
}

// union returns a schema that permits as many values of the schemas as one of the normal form can, or nil without
// schemas.
func (r *reader) union(nodes []*node) *node {
	given := len(nodes)
	nodes = slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n.Type == typeNull })
	if len(nodes) == 0 {
		if given > 0 {
			return bare(typeNull)
		}
		return nil
	}
	text, differ := r.alternatives(nodes)
	if !differ || r.overflown {
		return nodes[0]
	}
	var kinds []string
	for _, n := range nodes {
		kinds = append(kinds, n.Type)
	}
	kind := preferred(kinds)
	var out *node
	for _, n := range nodes {
		switch {
		case n.Type != kind:
		case out == nil:
			out = &node{Type: kind, Enum: n.Enum, Properties: maps.Clone(n.Properties), Required: n.Required,
				Additional: n.Additional, Items: n.Items}
		default:
			r.widen(out, n)
		}
	}
	out.Description = text
	return out
}

// widen makes a schema permit what another one of its type permits.
func (r *reader) widen(out, n *node) {
	if out.Enum = joinEnums(out.Enum, n.Enum); len(out.Enum) > r.enum {
		out.Enum = nil
	}
	for name, property := range n.Properties {
		if other := out.Properties[name]; other != nil {
			property = r.union([]*node{other, property})
		}
		if property != nil {
			out.Properties[name] = property
		}
	}
	required := setOf(n.Required)
	out.Required = slices.DeleteFunc(slices.Clone(out.Required), func(name string) bool { return !required[name] })
	out.Additional = r.widerAdditional(out.Additional, n.Additional)
	if out.Items != nil && n.Items != nil {
		out.Items = r.union([]*node{out.Items, n.Items})
	}
}

// joinEnums returns the values of both, or nil if one permits any.
func joinEnums(a, b []string) []string {
	if a == nil || b == nil {
		return nil
	}
	out, known := slices.Clone(a), setOf(a)
	for _, value := range b {
		if !known[value] {
			out = append(out, value)
		}
	}
	return out
}

func (r *reader) widerAdditional(a, b any) any {
	first, isSchema := a.(*node)
	second, alsoSchema := b.(*node)
	switch {
	case isSchema && alsoSchema:
		return r.union([]*node{first, second})
	case a == true || b == true:
		return true
	case a == false && b == false:
		return false
	}
	return nil
}

// alternatives returns the text of schemas for a description, or "" if it is too long or their union says the
// same. It reports whether they differ.
func (r *reader) alternatives(nodes []*node) (text string, differ bool) {
	var texts []string
	enums, numbers := true, true
	for _, n := range nodes {
		raw := string(encode(n))
		if !r.charge(1, len(raw)) {
			return "", true
		}
		enums = enums && n.Enum != nil && n.Description == ""
		numbers = numbers && (n.Type == typeNumber || n.Type == typeInteger) && n.Description == ""
		if !slices.Contains(texts, raw) {
			texts = append(texts, raw)
		}
	}
	text = "Alternatives: " + strings.Join(texts, " or ") + "."
	if enums || numbers || len(text) > min(maxAlternatives, r.description/2) {
		text = ""
	}
	return text, len(texts) > 1
}
