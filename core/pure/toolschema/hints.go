package toolschema

import (
	"strings"

	"appserver/protocol"
)

const (
	// maxHint bounds the text of a value, and maxValues that of a list of values, in bytes.
	maxHint, maxValues = 100, 500
)

// told are members that the normal form lacks, with their words in a description.
var told = []struct{ member, words string }{
	{"default", "default"}, {"format", "format"}, {"pattern", "pattern"},
	{"minimum", "minimum"}, {"maximum", "maximum"},
	{"exclusiveMinimum", "more than"}, {"exclusiveMaximum", "less than"}, {"multipleOf", "multiple of"},
	{"minLength", "minimum length"}, {"maxLength", "maximum length"},
	{"minItems", "minimum items"}, {"maxItems", "maximum items"},
}

// hints returns the text of what the normal form lacks, or "".
func hints(members map[string]any, n *node) string {
	var texts []string
	if values := valuesOf(members); len(values) > 0 && n.Enum == nil {
		if text := textOfValues(values); text != "" {
			texts = append(texts, "one of: "+text)
		}
	}
	for _, t := range told {
		value, words := members[t.member], t.words
		switch { // draft 4
		case t.member == "minimum" && members["exclusiveMinimum"] == true:
			words = "more than"
		case t.member == "maximum" && members["exclusiveMaximum"] == true:
			words = "less than"
		}
		text := textOfValue(value)
		if text == "" || strings.HasPrefix(t.member, "exclusive") && kindOfValue(value) == typeBoolean {
			continue
		}
		texts = append(texts, words+": "+text)
	}
	if len(texts) == 0 {
		return ""
	}
	return "(" + strings.Join(texts, "; ") + ")"
}

// textOfValue returns a text, a number or a boolean as a short text, or "" for other values.
func textOfValue(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) <= maxHint {
			return v
		}
	case bool, float64:
		if raw, err := protocol.Marshal(v); err == nil && len(raw) <= maxHint {
			return string(raw)
		}
	}
	return ""
}

// textOfValues returns values as a short text, or "".
func textOfValues(values []any) string {
	var texts []string
	size := 0
	for _, value := range values {
		text := textOfValue(value)
		if size += len(text); text == "" || size > maxValues {
			return ""
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}
