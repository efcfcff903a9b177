package toolschema

import (
	"math"
	"slices"
	"strings"
)

// aliases are names of types in other languages and their names in JSON Schema.
var aliases = map[string]string{
	"string": typeString, "str": typeString, "text": typeString,
	"number": typeNumber, "float": typeNumber, "double": typeNumber, "decimal": typeNumber,
	"integer": typeInteger, "int": typeInteger, "int32": typeInteger, "int64": typeInteger, "long": typeInteger,
	"boolean": typeBoolean, "bool": typeBoolean,
	"object": typeObject, "dict": typeObject, "map": typeObject, "record": typeObject,
	"array": typeArray, "list": typeArray, "tuple": typeArray, "set": typeArray,
	"null": typeNull, "none": typeNull,
}

// preference has the types in the order in which one of several is taken. An earlier type can express more.
var preference = []string{typeObject, typeArray, typeString, typeNumber, typeInteger, typeBoolean, typeNull}

// preferred returns the type to take of several.
func preferred(kinds []string) string {
	for _, kind := range preference {
		if slices.Contains(kinds, kind) {
			return kind
		}
	}
	return ""
}

// typesOf returns the known types that a schema names.
func typesOf(members map[string]any) (types []string) {
	given := members["type"]
	list, isList := given.([]any)
	if !isList {
		list = []any{given}
	}
	for _, name := range list[:min(len(list), 2*len(aliases))] {
		text, _ := name.(string)
		kind := aliases[strings.ToLower(text)]
		if kind != "" && !slices.Contains(types, kind) {
			types = append(types, kind)
		}
	}
	return types
}

// structure has members of a schema that only one type has, in the order in which they decide on it.
var structure = []struct {
	kind    string
	members []string
}{
	{typeObject, []string{"properties", "required", "additionalProperties", "patternProperties", "propertyNames",
		"minProperties", "maxProperties"}},
	{typeArray, []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"}},
	{typeString, []string{"format", "pattern", "minLength", "maxLength"}},
	{typeNumber, []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
}

// statedKind returns the type that a schema states or implies, or "".
func statedKind(members map[string]any) string {
	if kind := preferred(typesOf(members)); kind != "" {
		return kind
	}
	if values := valuesOf(members); len(values) > 0 {
		return kindOfValues(values)
	}
	for _, s := range structure {
		for _, name := range s.members {
			if value, has := members[name]; has && value != nil {
				return s.kind
			}
		}
	}
	return ""
}

// kindOf returns the type of a schema. One without a hint is a string.
func kindOf(members map[string]any) string {
	kind := statedKind(members)
	values := valuesOf(members)
	switch {
	case kind == "":
		return typeString
	case len(values) > 0 && kindOfValues(values) == typeString && kind != typeObject && kind != typeArray:
		return typeString
	}
	return kind
}

// valuesOf returns the only values that a schema permits, or nil.
func valuesOf(members map[string]any) []any {
	if value, has := members["const"]; has {
		return []any{value}
	}
	values, _ := members["enum"].([]any)
	return values
}

// kindOfValues returns the type of values. If they have several, it is a text.
func kindOfValues(values []any) string {
	kind := typeNull
	for _, value := range values {
		switch one := kindOfValue(value); {
		case one == kind, one == typeNull:
		case kind == typeNull, kind == typeInteger && one == typeNumber:
			kind = one
		case kind == typeNumber && one == typeInteger:
		default:
			return typeString
		}
	}
	return kind
}

func kindOfValue(value any) string {
	switch v := value.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case float64:
		if v != math.Trunc(v) {
			return typeNumber
		}
		return typeInteger
	case map[string]any:
		return typeObject
	case []any:
		return typeArray
	}
	return typeString
}
