package model

import (
	"cmp"
	"encoding/json"
	"strings"

	"appserver/protocol"
)

// maxFunctionName is the longest name of a function that the APIs take.
const maxFunctionName = 64

// FunctionName replaces what the APIs take in no name. A model can write any name into a call, and
// a history with it would be refused for ever.
func FunctionName(name string) string {
	valid := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	return cmp.Or(valid[:min(len(valid), maxFunctionName)], "unknown")
}

// ArgumentsObject returns the text of a JSON object for the arguments that a model wrote. Several
// providers answer 400 to a history with anything else in it.
func ArgumentsObject(arguments string) string {
	trimmed := strings.TrimSpace(arguments)
	switch {
	case trimmed == "":
		return "{}"
	case trimmed[0] == '{' && json.Valid([]byte(trimmed)):
		return arguments
	}
	return InputObject(arguments)
}

// InputObject returns the input of a custom tool as the arguments of a function: {"input": ...}.
func InputObject(input string) string {
	b, err := protocol.Marshal(map[string]string{"input": input})
	if err != nil {
		return "{}"
	}
	return string(b)
}
