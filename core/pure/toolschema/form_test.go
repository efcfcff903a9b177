package toolschema_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolschema"
)

// node has every member that the normal form permits.
type node struct {
	Type        string           `json:"type"`
	Description string           `json:"description,omitempty"`
	Enum        []string         `json:"enum,omitempty"`
	Properties  map[string]*node `json:"properties,omitzero"`
	Required    []string         `json:"required,omitempty"`
	Additional  json.RawMessage  `json:"additionalProperties,omitempty"`
	Items       *node            `json:"items,omitempty"`
}

var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// requireNormal requires what all APIs accept: see the documentation of the package.
func requireNormal(t *testing.T, raw json.RawMessage) {
	t.Helper()
	require.LessOrEqual(t, len(raw), 16_000)
	var n node
	decodeStrictly(t, raw, &n)
	require.Equal(t, "object", n.Type)
	requireNode(t, &n)
	for _, p := range n.Properties {
		require.NotEmpty(t, p.Description)
	}
	require.Equal(t, string(raw), string(toolschema.Normalize(raw).JSON), "it is idempotent")
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	require.NoError(t, compiler.AddResource("schema.json", document))
	_, err = compiler.Compile("schema.json")
	require.NoError(t, err)
}

func decodeStrictly(t *testing.T, raw json.RawMessage, to *node) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(to), "%s", raw)
}

func requireNode(t *testing.T, n *node) {
	t.Helper()
	require.Contains(t, []string{"string", "number", "integer", "boolean", "object", "array"}, n.Type)
	require.Equal(t, n.Type == "array", n.Items != nil)
	require.Equal(t, n.Type == "object", n.Properties != nil)
	require.True(t, n.Type == "string" || n.Enum == nil)
	require.True(t, n.Type == "object" || n.Additional == nil && n.Required == nil)
	require.NotContains(t, n.Enum, "")
	if n.Items != nil {
		requireNode(t, n.Items)
	}
	for name, property := range n.Properties {
		require.Regexp(t, propertyName, name)
		requireNode(t, property)
	}
	for _, name := range n.Required {
		require.Contains(t, n.Properties, name)
	}
	if len(n.Additional) > 0 && n.Additional[0] == '{' {
		var additional node
		decodeStrictly(t, n.Additional, &additional)
		requireNode(t, &additional)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"type":["object","null"],"properties":{"a":{"type":"array"}}}`,
		`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"b":{"$ref":"#/$defs/a"}}}}}`,
		`{"properties":{"a":{"anyOf":[{"type":"string","enum":["x"]},{"items":[{"const":1},true]}],"default":"y"}},"required":["a"]}`,
		`{"allOf":[{"properties":{"a":{"title":"t"}}},{"properties":{"a":{"minimum":1}},"patternProperties":{"x":{}}}]}`,
		`{"properties":{"a":{"type":"object","additionalProperties":{"anyOf":[{"type":"null"}]}}," $x":{"required":true}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		given := bytes.Clone(schema)
		s := toolschema.Normalize(schema)
		requireNormal(t, s.JSON)
		require.Equal(t, string(s.JSON), string(toolschema.Normalize(schema).JSON), "it is deterministic")
		require.Equal(t, given, schema)
	})
}

func sorted(makers map[string]func() any) []string { return slices.Sorted(maps.Keys(makers)) }
