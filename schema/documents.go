package schema

import (
	"maps"
	"slices"
	"strings"
)

// The files of messages repeat definitions of the bundle, which has a fifth of their size. So the program
// embeds the bundle only, and makes the files from its text: schema/gen writes one member a line, and indents
// by two spaces for each level.
const (
	definitionStart = "\n    \"" // a line of the bundle that begins with a definition's name
	definitionEnd   = "\n    }"
	refStart        = "\"$ref\": \"#/definitions/"
	documentStart   = "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n  \"title\": \""
)

// jsonFiles returns the JSON Schema files by name.
func jsonFiles(bundle string) map[string]string {
	definitions := splitBundle(bundle)
	files := map[string]string{"appserver.schemas.json": bundle}
	for name := range strings.Lines(messages) {
		name = strings.TrimSuffix(name, "\n")
		files[name+".json"] = document(name, definitions)
	}
	return files
}

// splitBundle returns the lines between the braces of each definition, by name.
func splitBundle(bundle string) map[string]string {
	definitions := map[string]string{}
	for _, part := range strings.Split(bundle, definitionStart)[1:] {
		name, body, _ := strings.Cut(part, "\": {")
		definitions[name], _, _ = strings.Cut(body, definitionEnd)
	}
	return definitions
}

// document returns the file of a message: the members of its definition, and the definitions that it
// refers to, directly or not.
func document(name string, definitions map[string]string) string {
	var text strings.Builder
	text.WriteString(documentStart + name + "\"")
	if body := definitions[name]; body != "" {
		text.WriteString("," + strings.ReplaceAll(body, "\n    ", "\n"))
	}
	needed := map[string]bool{}
	addReferences(needed, definitions[name], definitions)
	separator := ",\n  \"definitions\": {"
	for _, needed := range slices.Sorted(maps.Keys(needed)) {
		text.WriteString(separator + definitionStart + needed + "\": {" + definitions[needed] + definitionEnd)
		separator = ","
	}
	if len(needed) > 0 {
		text.WriteString("\n  }")
	}
	text.WriteString("\n}\n")
	return text.String()
}

func addReferences(to map[string]bool, body string, definitions map[string]string) {
	for _, part := range strings.Split(body, refStart)[1:] {
		name, _, _ := strings.Cut(part, "\"")
		if !to[name] {
			to[name] = true
			addReferences(to, definitions[name], definitions)
		}
	}
}
