// Package toolschema converts the schema of a tool's arguments to a form that all supported APIs accept.
// Servers and clients send any JSON. A provider that refuses the schema of one tool refuses the request.
// The package is pure: equal schemas give equal bytes.
//
// # The form
//
// [Normalize] returns an object schema. Each schema in it has one type, and no other members than these:
//
//	type                   string, number, integer, boolean, object or array
//	description            a text
//	enum                   texts that are not empty, of a string
//	properties             of an object, always
//	required               names of properties
//	additionalProperties   of an object: a boolean or a schema
//	items                  of an array, always: a schema
//
// The names of properties have at most 64 letters, digits, dots, dashes and underscores. A property of the
// arguments has a description. [Schema.Restore] gives renamed properties their original names in a call.
//
// # What becomes of other members
//
// References within the schema are replaced by their targets. A recursive one becomes an object, an array or
// a value of its type without details. The parts of allOf are merged. The alternatives of anyOf, oneOf and
// lists of types become one schema that permits as many of them as possible; null is left out. Their text,
// and the text of limits, defaults, formats and other values, is added to the description for the model. All
// else is left out. A schema that permits everything becomes a string.
//
// # Size
//
// The result has at most 16,000 bytes. A larger one loses depth, descriptions and properties, in this order, until
// it fits. The work is bounded as well, whatever references a schema has.
//
// # Decisions
//
// One form for all APIs, rather than one for each: tools then stay the same if the model changes, and a
// gateway does not show to which API it leads. The rules of each API:
//
//   - OpenAI rejects arrays without items, objects without properties, and any other type than object at the
//     top.
//   - Anthropic rejects anyOf, oneOf and allOf at the top, members that JSON Schema 2020-12 does not permit,
//     and other names of properties.
//   - Gemini rejects schemas without a type, lists of types, enum of other types than string, empty texts in
//     it, required names without a property, $ref, const, and numeric limits that exclude their bound.
//   - llama.cpp makes a grammar of the schema. It fails for unknown types, for many patterns, and for large
//     limits of length. It permits only the named properties unless additionalProperties is set.
//   - The template of Command R+ looks up each type in a table, so a type is one text. It needs the description of
//     each argument.
package toolschema
