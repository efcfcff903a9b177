package conform

import (
	"encoding/json"
	"slices"
	"strings"
)

// node is a JSON Schema as read from a file. The zero node takes any value.
type node struct {
	Ref         string           `json:"$ref"`
	Type        kinds            `json:"type"`
	Enum        []any            `json:"enum"`
	Items       *node            `json:"items"`
	Values      *node            `json:"additionalProperties"`
	Properties  map[string]*node `json:"properties"`
	Required    []string         `json:"required"`
	AllOf       []*node          `json:"allOf"`
	AnyOf       []*node          `json:"anyOf"`
	OneOf       []*node          `json:"oneOf"`
	Not         *node            `json:"not"`
	Definitions map[string]*node `json:"definitions"`
}

// UnmarshalJSON reads true and false, which are schemas too, as the zero node.
func (n *node) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '{' {
		*n = node{}
		return nil
	}
	type plain node
	return json.Unmarshal(b, (*plain)(n))
}

// kinds are the JSON types that a node allows.
type kinds []string

// UnmarshalJSON reads a word or a list of words.
func (k *kinds) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		*k = make(kinds, 1)
		return json.Unmarshal(b, &(*k)[0])
	}
	return json.Unmarshal(b, (*[]string)(k))
}

// form is one kind of value that a node allows: a word, a primitive, a list or an
// object with a tag.
type form struct {
	kind     string
	word     string
	name     string // of the definition it comes from, "" where it has none
	items    *node
	values   *node
	members  map[string]*node
	required map[string]bool
}

const refPrefix = "#/definitions/"

const (
	kindAny    = "any"
	kindWord   = "word"
	kindString = "string"
	kindObject = "object"
	kindArray  = "array"
)

// typeName returns the definition to which n refers, alone or beside null, or "".
func (n *node) typeName() string {
	name := strings.TrimPrefix(n.Ref, refPrefix)
	for _, part := range slices.Concat(n.AllOf, n.AnyOf, n.OneOf) {
		if part == nil || slices.Equal(part.Type, kinds{"null"}) {
			continue
		}
		if name != "" {
			return ""
		}
		name = part.typeName()
	}
	return name
}

// forms returns the permitted forms of n, with references resolved. An unresolved reference permits
// everything. Members beside alternatives belong to each of them.
func (n *node) forms(root *node) []form { return n.formsWithin(root, nil) }

func (n *node) formsWithin(root *node, followed []string) []form {
	if name, ok := strings.CutPrefix(n.Ref, refPrefix); ok {
		target := root.Definitions[name]
		if target == nil || slices.Contains(followed, name) {
			return []form{{kind: kindAny}}
		}
		return named(target.formsWithin(root, append(followed, name)), name)
	}
	var all []form
	for _, part := range slices.Concat(n.AllOf, n.AnyOf, n.OneOf) {
		if part != nil && !part.isOther() {
			all = append(all, part.formsWithin(root, followed)...)
		}
	}
	if all == nil {
		return n.ownForms()
	}
	for i := range all {
		all[i].addMembers(n)
	}
	return all
}

// isOther reports whether n is the form of unknown variants.
func (n *node) isOther() bool {
	for _, member := range n.Properties {
		if member != nil && member.Not != nil {
			return true
		}
	}
	return false
}

func named(forms []form, name string) []form {
	for i := range forms {
		if forms[i].name == "" {
			forms[i].name = name
		}
	}
	return forms
}

func (n *node) ownForms() []form {
	var all []form
	for _, value := range n.Enum {
		if word, ok := value.(string); ok {
			all = append(all, form{kind: kindWord, word: word})
		}
	}
	if all != nil {
		return all
	}
	for _, kind := range n.Type {
		f := form{kind: kind, items: n.Items, values: n.Values}
		f.addMembers(n)
		all = append(all, f)
	}
	if all == nil {
		all = []form{{kind: kindAny}}
	}
	return all
}

func (f *form) addMembers(n *node) {
	if f.kind != kindObject || len(n.Properties) == 0 {
		return
	}
	if f.members == nil {
		f.members, f.required = map[string]*node{}, map[string]bool{}
	}
	for name, value := range n.Properties {
		if value != nil {
			f.members[name] = value
		}
	}
	for _, name := range n.Required {
		f.required[name] = true
	}
}

// key identifies a form within its node: the word, the kind, or the tag of an object.
func (f form) key() string {
	switch f.kind {
	case kindWord:
		return "=" + f.word
	case kindObject:
		return "{" + f.tag() + "}"
	}
	return f.kind
}

// tag returns the value of the tag member, or the name of the only member.
func (f form) tag() string {
	for _, name := range []string{"type", "method"} {
		if tag := f.members[name]; tag != nil && len(tag.Enum) == 1 {
			if word, ok := tag.Enum[0].(string); ok {
				return word
			}
		}
	}
	if len(f.members) == 1 {
		for name := range f.members {
			return name
		}
	}
	return ""
}

// merged joins forms with equal keys: members of any, required by all.
func merged(forms []form) map[string]form {
	all := map[string]form{}
	for _, f := range forms {
		have, ok := all[f.key()]
		if !ok {
			all[f.key()] = f
			continue
		}
		for name, value := range f.members {
			have.members[name] = value
		}
		for name := range have.required {
			if !f.required[name] {
				delete(have.required, name)
			}
		}
	}
	return all
}
