package toolschema

import (
	"encoding/json"

	"appserver/protocol"
)

// maxBytes bounds a normalized schema.
const maxBytes = 16_000

// limits bound a normalized schema and the work to make it.
type limits struct {
	// depth is the greatest depth of a schema with details. The arguments have depth 0.
	depth int
	// description bounds the bytes of a text. properties, enum and variants bound the entries of an object, of an enum,
	// and of alternatives.
	description, properties, enum, variants int
}

// levels are tried in order until the result fits.
var levels = []limits{
	{depth: 12, description: 4000, properties: 1000, enum: 250, variants: 100},
	{depth: 6, description: 400, properties: 500, enum: 100, variants: 50},
	{depth: 3, description: 120, properties: 200, enum: 50, variants: 20},
	{depth: 1, description: 60, properties: 60, enum: 0, variants: 5},
}

// Normalize returns the schema of any JSON value. It is one without arguments if the value is no schema of an object.
func Normalize(schema json.RawMessage) Schema {
	var root any
	if !protocol.Valid(schema) || protocol.Unmarshal(schema, &root) != nil {
		root = nil
	}
	for _, l := range levels {
		r := &reader{root: root, limits: l}
		if out := r.arguments(); !r.overflown {
			if raw := encode(out); len(raw) <= maxBytes {
				return Schema{JSON: raw, Original: schema, renamed: r.renamed}
			}
		}
	}
	return Schema{JSON: encode(openObject())}
}

// node is a schema in the normal form.
type node struct {
	Type        string           `json:"type"`
	Description string           `json:"description,omitempty"`
	Enum        []string         `json:"enum,omitempty"`
	Properties  map[string]*node `json:"properties,omitzero"`
	Required    []string         `json:"required,omitempty"`
	// Additional is nil, a bool or a *node.
	Additional any   `json:"additionalProperties,omitempty"`
	Items      *node `json:"items,omitempty"`
}

func encode(n *node) json.RawMessage {
	raw, _ := protocol.Marshal(n) // a node can always be encoded
	return raw
}

// The types of the normal form, and null, which no result has.
const (
	typeString  = "string"
	typeNumber  = "number"
	typeInteger = "integer"
	typeBoolean = "boolean"
	typeObject  = "object"
	typeArray   = "array"
	typeNull    = "null"
)

// openObject returns an object with any properties.
func openObject() *node {
	return &node{Type: typeObject, Properties: map[string]*node{}, Additional: true}
}

// bare returns a schema of a type without details.
func bare(kind string) *node {
	switch kind {
	case typeObject:
		return openObject()
	case typeArray:
		return &node{Type: typeArray, Items: bare(typeString)}
	}
	return &node{Type: kind}
}
