package mcp

import "encoding/json"

// formSchema is what a form of a server asks for, in the members that the protocol knows:
// clients read it strictly, while servers send whatever their libraries make of a type.
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
	schema, _ := json.Marshal(form) // what was read as JSON can be written
	return schema
}

// pick has the members of those names that are not null.
func pick(from map[string]any, names ...string) map[string]any {
	picked := map[string]any{}
	for _, name := range names {
		if value := from[name]; value != nil {
			picked[name] = value
		}
	}
	return picked
}
