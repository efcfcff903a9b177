package main

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Node is a JSON Schema of draft 07, as far as the protocol needs it. The zero
// Node takes any value.
type Node struct {
	Version     string           `json:"$schema,omitempty"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Ref         string           `json:"$ref,omitempty"`
	Type        Kinds            `json:"type,omitempty"`
	Format      string           `json:"format,omitempty"`
	Minimum     *int             `json:"minimum,omitempty"`
	Enum        []string         `json:"enum,omitempty"`
	Default     any              `json:"default,omitempty"`
	Items       *Node            `json:"items,omitempty"`
	Values      *Node            `json:"additionalProperties,omitempty"`
	Properties  Properties       `json:"properties,omitempty"`
	Required    []string         `json:"required,omitempty"`
	AllOf       []*Node          `json:"allOf,omitempty"`
	AnyOf       []*Node          `json:"anyOf,omitempty"`
	OneOf       []*Node          `json:"oneOf,omitempty"`
	Not         *Node            `json:"not,omitempty"`
	Definitions map[string]*Node `json:"definitions,omitempty"`
}

// Kinds are the JSON types of a value. One kind is encoded as a string, several as a list.
type Kinds []string

// MarshalJSON writes the word or the list.
func (k Kinds) MarshalJSON() ([]byte, error) {
	if len(k) == 1 {
		return json.Marshal(k[0])
	}
	return json.Marshal([]string(k))
}

// Property is a member of an object.
type Property struct {
	Name  string
	Value *Node
}

// Properties are the members of an object, in the order of the Go struct.
type Properties []Property

// MarshalJSON writes an object with the members in order.
func (p Properties) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, property := range p {
		if i > 0 {
			out.WriteByte(',')
		}
		value, err := encode(map[string]*Node{property.Name: property.Value})
		if err != nil {
			return nil, err
		}
		out.Write(value[1 : len(value)-1])
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(out.Bytes()), err
}

// children returns the nodes directly inside n, without its definitions.
func (n *Node) children() []*Node {
	all := slices.Concat(n.AllOf, n.AnyOf, n.OneOf, []*Node{n.Items, n.Values, n.Not})
	for _, p := range n.Properties {
		all = append(all, p.Value)
	}
	return slices.DeleteFunc(all, func(c *Node) bool { return c == nil })
}

func (n *Node) property(name string) *Node {
	for _, p := range n.Properties {
		if p.Name == name {
			return p.Value
		}
	}
	return nil
}

const refPrefix = "#/definitions/"

func ref(name string) *Node { return &Node{Ref: refPrefix + name} }

// anything returns a node that accepts every value.
func anything() *Node { return &Node{} }

func (n *Node) isAnything() bool {
	return n.Ref == "" && n.Type == nil && len(n.children()) == 0
}

func kind(name string) *Node { return &Node{Type: Kinds{name}} }

func words[W ~string](w ...W) *Node {
	n := &Node{Type: Kinds{"string"}}
	for _, word := range w {
		n.Enum = append(n.Enum, string(word))
	}
	return n
}

func list(items *Node) *Node { return &Node{Type: Kinds{"array"}, Items: items} }

func either(nodes ...*Node) *Node { return &Node{AnyOf: nodes} }

// object returns an object with the given members, all required.
func object(members ...Property) *Node {
	n := &Node{Type: Kinds{"object"}, Properties: members}
	for _, m := range members {
		n.Required = append(n.Required, m.Name)
	}
	return n
}

// nullable returns n, or null.
func nullable(n *Node) *Node {
	switch {
	case n.isAnything() || n.takesNull():
		return n
	case len(n.Type) > 0 && n.Enum == nil:
		c := *n
		c.Type = append(slices.Clone(n.Type), "null")
		return &c
	}
	return either(n, kind("null"))
}

func (n *Node) takesNull() bool {
	return slices.Contains(n.Type, "null") || slices.ContainsFunc(n.AnyOf, (*Node).takesNull)
}

// described returns n with a description. Draft 07 does not look at what stands
// beside a $ref, hence the detour.
func described(n *Node, text string) *Node {
	if text == "" {
		return n
	}
	if n.Ref != "" {
		n = &Node{AllOf: []*Node{n}}
	}
	c := *n
	c.Description = text
	return &c
}

// withDefault returns n with the default value of the server.
func withDefault(n *Node, value any) *Node {
	c := *n
	c.Default = value
	return &c
}
