package toolschema_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolschema"
)

// TestNormalize has the shapes that servers send and providers reject.
func TestNormalize(t *testing.T) {
	for name, tt := range map[string]struct{ give, want string }{
		"no schema":             {`null`, `{}`},
		"a boolean":             {`true`, `{}`},
		"a list":                {`[1]`, `{}`},
		"a text":                {`"object"`, `{}`},
		"no JSON":               {`{`, `{}`},
		"no members":            {`{}`, `{}`},
		"another type":          {`{"type":"array","items":{"type":"string"}}`, `{}`},
		"properties null":       {`{"type":"object","properties":null}`, `{}`},
		"properties list":       {`{"type":"object","properties":[{"name":"a"}]}`, `{}`},
		"properties text":       {`{"type":"object","properties":"none"}`, `{}`},
		"no type at the top":    {`{"properties":{"a":{"type":"string"}}}`, `{"a":{"type":"string"}}`},
		"type in capitals":      {`{"type":"OBJECT","properties":{"a":{"type":"STRING"}}}`, `{"a":{"type":"string"}}`},
		"array without items":   {property(`{"type":"array"}`), `{"a":{"type":"array","items":{"type":"string"}}}`},
		"items true":            {property(`{"type":"array","items":true}`), `{"a":{"type":"array","items":{"type":"string"}}}`},
		"items null":            {property(`{"type":"array","items":null}`), `{"a":{"type":"array","items":{"type":"string"}}}`},
		"unknown type":          {property(`{"type":"uuid"}`), `{"a":{"type":"string"}}`},
		"type of other lang.":   {property(`{"type":"int"}`), `{"a":{"type":"integer"}}`},
		"type null":             {property(`{"type":"null"}`), `{"a":{"type":"string"}}`},
		"type is a number":      {property(`{"type":7,"minimum":1}`), `{"a":{"type":"number","description":"(minimum: 1)"}}`},
		"no type":               {property(`{"description":"x"}`), `{"a":{"type":"string","description":"x"}}`},
		"property true":         {property(`true`), `{"a":{"type":"string"}}`},
		"property null":         {property(`null`), `{"a":{"type":"string"}}`},
		"property is a text":    {property(`"string"`), `{"a":{"type":"string"}}`},
		"description no text":   {property(`{"type":"string","description":{"en":"x"}}`), `{"a":{"type":"string"}}`},
		"title":                 {property(`{"type":"string","title":"The A"}`), `{"a":{"type":"string","description":"The A"}}`},
		"nullable":              {property(`{"type":["string","null"]}`), `{"a":{"type":"string"}}`},
		"list of types":         {property(`{"type":["number","integer"]}`), `{"a":{"type":"number"}}`},
		"empty list of types":   {property(`{"type":[],"items":{"type":"number"}}`), `{"a":{"type":"array","items":{"type":"number"}}}`},
		"optional of pydantic":  {property(`{"anyOf":[{"type":"integer"},{"type":"null"}],"default":null,"title":"A"}`), `{"a":{"type":"integer","description":"A"}}`},
		"text or texts":         {property(`{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}`), `{"a":{"type":"array","description":"Alternatives: {\"type\":\"string\"} or {\"type\":\"array\",\"items\":{\"type\":\"string\"}}.","items":{"type":"string"}}}`},
		"constants":             {property(`{"oneOf":[{"const":"x"},{"const":"y"}]}`), `{"a":{"type":"string","enum":["x","y"]}}`},
		"equal alternatives":    {property(`{"anyOf":[{"type":"string"},{"type":"string"}]}`), `{"a":{"type":"string"}}`},
		"alternatives no list":  {property(`{"anyOf":{"type":"integer"},"type":"integer"}`), `{"a":{"type":"integer"}}`},
		"empty alternatives":    {property(`{"anyOf":[]}`), `{"a":{"type":"string"}}`},
		"only null":             {property(`{"anyOf":[{"type":"null"}]}`), `{"a":{"type":"string"}}`},
		"enum of numbers":       {property(`{"enum":[1,2]}`), `{"a":{"type":"integer","description":"(one of: 1, 2)"}}`},
		"enum with null":        {property(`{"enum":["x",null,"","x"]}`), `{"a":{"type":"string","enum":["x"]}}`},
		"mixed enum":            {property(`{"enum":["x",1]}`), `{"a":{"type":"string","description":"(one of: x, 1)"}}`},
		"enum against its type": {property(`{"type":"integer","enum":["x"]}`), `{"a":{"type":"string","enum":["x"]}}`},
		"enum no list":          {property(`{"type":"string","enum":"x"}`), `{"a":{"type":"string"}}`},
		"const":                 {property(`{"const":true}`), `{"a":{"type":"boolean","description":"(one of: true)"}}`},
		"draft 4 bound":         {property(`{"type":"number","minimum":0,"exclusiveMinimum":true}`), `{"a":{"type":"number","description":"(more than: 0)"}}`},
		"draft 6 bound":         {property(`{"type":"number","exclusiveMinimum":0}`), `{"a":{"type":"number","description":"(more than: 0)"}}`},
		"format and default":    {property(`{"type":"string","format":"date","default":"now"}`), `{"a":{"type":"string","description":"(default: now; format: date)"}}`},
		"tuple":                 {property(`{"type":"array","items":[{"type":"number"},{"type":"number"}]}`), `{"a":{"type":"array","items":{"type":"number"}}}`},
		"prefix items":          {property(`{"prefixItems":[{"type":"string"}],"items":false}`), `{"a":{"type":"array","items":{"type":"string"}}}`},
		"empty tuple":           {property(`{"type":"array","items":[]}`), `{"a":{"type":"array","items":{"type":"string"}}}`},
		"free object":           {property(`{"type":"object"}`), `{"a":{"type":"object","properties":{},"additionalProperties":true}}`},
		"closed object":         {property(`{"type":"object","additionalProperties":false}`), `{"a":{"type":"object","properties":{},"additionalProperties":false}}`},
		"map":                   {property(`{"additionalProperties":{"minimum":1}}`), `{"a":{"type":"object","properties":{},"additionalProperties":{"type":"number","description":"(minimum: 1)"}}}`},
		"map of anything":       {property(`{"type":"object","additionalProperties":{}}`), `{"a":{"type":"object","properties":{},"additionalProperties":true}}`},
		"unresolved reference":  {property(`{"$ref":"#/$defs/none"}`), `{"a":{"type":"string"}}`},
		"remote reference":      {property(`{"$ref":"https://example.com/x.json","type":"integer"}`), `{"a":{"type":"integer"}}`},
		"reference no text":     {property(`{"$ref":5}`), `{"a":{"type":"string"}}`},
		"not and if":            {property(`{"type":"string","not":{"const":""},"if":{},"then":{"pattern":"x"}}`), `{"a":{"type":"string"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			want := fmt.Sprintf(`{"type":"object","properties":%s}`, tt.want)
			require.JSONEq(t, want, describedByName(t, tt.give), "of %s", tt.give)
		})
	}
}

// TestNormalizeTop has the forms of a whole schema.
func TestNormalizeTop(t *testing.T) {
	const a, b = `"a":{"type":"string","description":"a"}`, `"b":{"type":"integer","description":"b"}`
	for name, tt := range map[string]struct{ give, want string }{
		"required null":      {`{"type":"object","properties":{"a":{}},"required":null}`, `{"type":"object","properties":{` + a + `}}`},
		"required true":      {`{"properties":{"a":{"type":"string","required":true}}}`, `{"type":"object","properties":{` + a + `},"required":["a"]}`},
		"required unknown":   {`{"properties":{"a":{}},"required":["a","a","z",1,null]}`, `{"type":"object","properties":{` + a + `},"required":["a"]}`},
		"additional":         {`{"type":"object","properties":{"a":{}},"additionalProperties":false,"$schema":"x","$id":"y"}`, `{"type":"object","properties":{` + a + `},"additionalProperties":false}`},
		"any arguments":      {`{"type":"object","additionalProperties":true}`, `{"type":"object","properties":{},"additionalProperties":true}`},
		"reference":          {`{"$ref":"#/definitions/x","definitions":{"x":{"type":"object","properties":{"a":{}}}}}`, `{"type":"object","properties":{` + a + `}}`},
		"escaped reference":  {`{"$ref":"#/%24defs/a~1b","$defs":{"a/b":{"properties":{"a":{}}}}}`, `{"type":"object","properties":{` + a + `}}`},
		"reference in list":  {`{"allOf":[{"properties":{"a":{}}}],"properties":{"b":{"$ref":"#/allOf/0/properties/a","type":"integer"}}}`, `{"type":"object","properties":{` + a + `,` + b + `}}`},
		"itself":             {`{"$ref":"#"}`, `{"type":"object","properties":{}}`},
		"all of":             {`{"allOf":[{"properties":{"a":{}},"required":["a"]},{"$ref":"#/$defs/b"}],"$defs":{"b":{"properties":{"b":{"type":"integer"}},"required":["b"]}}}`, `{"type":"object","properties":{` + a + `,` + b + `},"required":["a","b"]}`},
		"one of objects":     {`{"oneOf":[{"type":"object","properties":{"a":{}},"required":["a"]},{"type":"object","properties":{"a":{},"b":{"type":"integer"}},"required":["a","b"]}]}`, ""},
		"at least one":       {`{"type":"object","properties":{"a":{},"b":{"type":"integer"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`, ""},
		"any of and no type": {`{"properties":{"a":{}},"anyOf":[{"properties":{"b":{"type":"integer"}}}]}`, `{"type":"object","properties":{` + a + `,` + b + `}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := toolschema.Normalize(json.RawMessage(tt.give))
			requireNormal(t, got.JSON)
			if tt.want != "" {
				require.JSONEq(t, tt.want, string(got.JSON))
				return
			}
			var n node
			require.NoError(t, json.Unmarshal(got.JSON, &n))
			require.Len(t, n.Properties, 2)
			require.NotContains(t, n.Required, "b")
			require.Contains(t, n.Description, "Alternatives: ", "the model reads the alternatives")
		})
	}
}

// TestNormalizeRecursion: a tree has its details once, and its depth is bounded.
func TestNormalizeRecursion(t *testing.T) {
	got := toolschema.Normalize(json.RawMessage(`{"type":"object","properties":{"tree":{"$ref":"#/$defs/tree"}},"$defs":{` +
		`"tree":{"type":"object","properties":{"value":{"type":"integer"},"children":{"type":"array","items":{"$ref":"#/$defs/tree"}}}}}}`))
	requireNormal(t, got.JSON)
	require.Contains(t, string(got.JSON), `"value":{"type":"integer"}`)
	require.Less(t, len(got.JSON), 1000)
	for _, loop := range []string{
		`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`,
		`{"allOf":[{"$ref":"#"}],"properties":{"a":{"allOf":[{"$ref":"#/properties/a"},{"$ref":"#/properties/a"}]}}}`,
		`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"$ref":"#"}]}}}`,
	} {
		requireNormal(t, toolschema.Normalize(json.RawMessage(loop)).JSON)
	}
}

// TestNormalizeBounds: a schema of any size becomes a small one in little work.
func TestNormalizeBounds(t *testing.T) {
	var wide, doubling []string
	for i := range 20_000 {
		wide = append(wide, fmt.Sprintf(`"p%d":{"type":"string","description":%q}`, i, strings.Repeat("x", 50)))
	}
	for i := range 60 {
		doubling = append(doubling, fmt.Sprintf(`"d%d":{"properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%[2]d"}}}`, i, i+1))
	}
	long := strings.Repeat("long ", 10_000)
	for name, schema := range map[string]string{
		"wide":     `{"properties":{` + strings.Join(wide, ",") + `},"required":["p19999"]}`,
		"doubling": `{"$ref":"#/$defs/d0","$defs":{` + strings.Join(doubling, ",") + `}}`,
		"deep":     strings.Repeat(`{"properties":{"a":`, 400) + "{}" + strings.Repeat(`}}`, 400),
		"nested":   `{"properties":{"a":` + strings.Repeat(`{"anyOf":[{},`, 400) + "{}" + strings.Repeat(`]}`, 400) + `}}`,
		"text":     property(`{"type":"string","description":"` + long + `","enum":["` + long + `"]}`),
		"name":     `{"properties":{"` + long + `":{}}}`,
		"enum":     property(`{"enum":["` + strings.Join(strings.Fields(long+"a b c d e"), `","`) + `"]}`),
		"variants": property(`{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"integer"},`, 15_000), ",") + `]}`),
	} {
		t.Run(name, func(t *testing.T) {
			got := toolschema.Normalize(json.RawMessage(schema))
			requireNormal(t, got.JSON)
			require.Contains(t, string(got.JSON), `"properties":{"`, "the arguments keep their names")
			if name == "wide" {
				require.Contains(t, string(got.JSON), `"required":["p19999"]`, "required arguments come first")
			}
		})
	}
}

// TestRestore: a call has the names that the server gave its properties.
func TestRestore(t *testing.T) {
	s := toolschema.Normalize(json.RawMessage(`{"properties":{"$filter":{"type":"string","description":"OData."},"a b":` +
		`{"type":"array","items":{"properties":{"@id":{"type":"integer"}}}},"ok":{}},"required":["$filter"]}`))
	requireNormal(t, s.JSON)
	var n node
	require.NoError(t, json.Unmarshal(s.JSON, &n))
	require.Len(t, n.Properties, 3)
	filter := n.Required[0]
	require.Regexp(t, `^filter_[0-9a-f]{8}$`, filter)
	require.Equal(t, "Name: $filter. OData.", n.Properties[filter].Description, "the model reads the original name")
	require.JSONEq(t, `{"$filter":"x","ok":"y"}`, string(s.Restore(json.RawMessage(`{"`+filter+`":"x","ok":"y"}`))))
	require.Equal(t, `{ "ok":1}`, string((&toolschema.Schema{}).Restore(json.RawMessage(`{ "ok":1}`))))
	require.Equal(t, `{`, string(s.Restore(json.RawMessage(`{`))))
}

func property(schema string) string {
	return `{"type":"object","properties":{"a":` + schema + `}}`
}

// describedByName normalizes a schema and removes descriptions that repeat the name of their argument.
func describedByName(t *testing.T, schema string) string {
	t.Helper()
	raw := toolschema.Normalize(json.RawMessage(schema)).JSON
	requireNormal(t, raw)
	var n node
	require.NoError(t, json.Unmarshal(raw, &n))
	for name, property := range n.Properties {
		require.NotEmpty(t, property.Description)
		if property.Description == name {
			property.Description = ""
		}
	}
	out, err := json.Marshal(n)
	require.NoError(t, err)
	return string(out)
}
