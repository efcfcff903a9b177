package toolspec

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

const (
	// maxConformDepth bounds the nesting of the values that are converted.
	maxConformDepth = 16
	// maxExact bounds the integers of which a floating-point number is exact.
	maxExact = 1 << 53
)

// Conform returns arguments whose values have the types that a schema demands, if they can be converted exactly: an
// integer as 1000.0 or "1000", a boolean, a list or an object as a text. All other values stay as they are, for the
// tool to judge. The arguments must be valid JSON.
func Conform(schema, arguments json.RawMessage) json.RawMessage {
	value := gjson.ParseBytes(arguments)
	if converted := conformed(gjson.ParseBytes(schema), value, maxConformDepth); converted != value.Raw {
		return json.RawMessage(converted)
	}
	return arguments
}

// conformed returns a value as JSON, converted if needed.
func conformed(schema, value gjson.Result, depth int) string {
	if depth == 0 || !schema.IsObject() {
		return value.Raw
	}
	if raw, ok := convert(value, schemaTypes(schema)); ok {
		value = gjson.Parse(raw)
	}
	switch {
	case value.IsObject():
		return conformedObject(schema, value, depth)
	case value.IsArray() && schema.Get("items").IsObject():
		items := schema.Get("items")
		return joined(value, func(_, element gjson.Result) string { return conformed(items, element, depth-1) })
	}
	return value.Raw
}

func conformedObject(schema, value gjson.Result, depth int) string {
	properties := map[string]gjson.Result{}
	schema.Get("properties").ForEach(func(name, property gjson.Result) bool {
		properties[name.Str] = property
		return true
	})
	return joined(value, func(name, member gjson.Result) string {
		return conformed(properties[name.Str], member, depth-1)
	})
}

// joined writes a list or an object with converted parts. It returns the value unchanged if no part has changed.
func joined(value gjson.Result, convert func(name, part gjson.Result) string) string {
	var parts []string
	changed := false
	value.ForEach(func(name, part gjson.Result) bool {
		converted := convert(name, part)
		changed = changed || converted != part.Raw
		if value.IsObject() {
			converted = name.Raw + ":" + converted
		}
		parts = append(parts, converted)
		return true
	})
	switch {
	case !changed:
		return value.Raw
	case value.IsObject():
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// schemaTypes returns the types that a schema permits, or nil if it does not restrict them by a simple type.
func schemaTypes(schema gjson.Result) (types []string) {
	for _, t := range schema.Get("type").Array() {
		types = append(types, t.Str)
	}
	return types
}

// convert returns a value in one of the types, if it has none of them and the conversion is exact.
func convert(value gjson.Result, types []string) (raw string, ok bool) {
	is := func(name string) bool { return slices.Contains(types, name) }
	text := value.Raw
	if value.Type == gjson.String {
		if is("string") {
			return "", false
		}
		text = strings.TrimSpace(value.Str)
	}
	switch {
	case is("integer") && !is("number") && value.Type != gjson.True && value.Type != gjson.False:
		n, exact := exactInteger(text)
		return strconv.FormatInt(n, 10), exact && -maxExact < n && n < maxExact
	case value.Type != gjson.String:
		return "", false
	case is("number") && json.Valid([]byte(text)) && gjson.Parse(text).Type == gjson.Number:
		return text, true
	case is("boolean"):
		_, exact := exactBoolean(text)
		return strings.ToLower(text), exact
	case is("object") && strings.HasPrefix(text, "{"), is("array") && strings.HasPrefix(text, "["):
		return text, protocol.Valid([]byte(text))
	}
	return "", false
}
