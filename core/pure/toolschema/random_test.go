package toolschema_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/toolschema"
	"appserver/test/sample"
)

// TestNormalizeRandom: schemas whose members have any sense and nonsense become normal ones.
func TestNormalizeRandom(t *testing.T) {
	sample.Check(t, func(rt *rapid.T) {
		raw, err := json.Marshal(randomSchema(rt, 5))
		require.NoError(t, err)
		requireNormal(t, toolschema.Normalize(raw).JSON)
	})
}

func randomSchema(rt *rapid.T, depth int) any {
	if depth == 0 || rapid.IntRange(0, 9).Draw(rt, "leaf") == 0 {
		leaves := []any{nil, true, false, 1.5, 2, "string", "", "#/$defs/a", []any{}, map[string]any{}}
		return rapid.SampledFrom(leaves).Draw(rt, "value")
	}
	child := func() any { return randomSchema(rt, depth-1) }
	list := func() any {
		return []any{child(), child(), rapid.SampledFrom([]any{nil, "a", "b", 1}).Draw(rt, "entry")}
	}
	properties := func() any {
		some := rapid.SampledFrom([]string{"a", "b", "$c", "d e", "type", "properties"})
		names := rapid.SliceOfNDistinct(some, 0, 3, rapid.ID[string])
		out := map[string]any{}
		for _, name := range names.Draw(rt, "names") {
			out[name] = child()
		}
		return out
	}
	makers := map[string]func() any{
		"type": func() any {
			return rapid.SampledFrom([]any{"string", "object", "array", "integer", "number", "boolean", "null", "any", nil, 3,
				[]any{"string", "null"}, []any{"array", "object"}, []any{}}).Draw(rt, "type")
		},
		"properties": properties, "$defs": properties, "definitions": properties, "patternProperties": properties,
		"items": child, "additionalProperties": child, "not": child, "default": child, "title": child, "description": child,
		"anyOf": list, "oneOf": list, "allOf": list, "enum": list, "required": list, "prefixItems": list,
		"$ref": func() any {
			return rapid.SampledFrom([]any{"#", "#/$defs/a", "#/$defs/b", "#/properties/a", "#/x", "x.json", 1}).Draw(rt, "ref")
		},
		"minimum": child, "exclusiveMinimum": child, "const": child, "format": child,
	}
	out := map[string]any{}
	all := rapid.SliceOfNDistinct(rapid.SampledFrom(sorted(makers)), 1, 4, rapid.ID[string])
	for _, name := range all.Draw(rt, "members") {
		out[name] = makers[name]()
	}
	return out
}
