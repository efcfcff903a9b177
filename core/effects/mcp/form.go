package mcp

import "encoding/json"

// formSchema returns the members of a form's schema that the protocol defines. Clients decode it
// strictly, while servers send what their libraries generate from a type.
func formSchema(given any) json.RawMessage {
	root, _ := given.(map[string]any)
	form := pick(root, "$schema", "required")
	form["type"] = "object"
	fields := map[string]any{}
	named, _ := root["properties"].(map[string]any)
	for name, field := range named {
		if described, ok := field.(map[string]any); ok {
			fields[name] = pick(described, "type", "title", "description", "default", "format", "minLength", "maxLength",
				"minimum", "maximum", "enum", "enumNames", "oneOf", "items", "minItems", "maxItems")
		}
	}
	form["properties"] = fields
	schema, _ := json.Marshal(form) // parsed JSON can always be encoded
	return schema
}

// pick returns the named members that are not null.
func pick(from map[string]any, names ...string) map[string]any {
	picked := map[string]any{}
	for _, name := range names {
		if value := from[name]; value != nil {
			picked[name] = value
		}
	}
	return picked
}
