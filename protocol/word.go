package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// decodeEnum reads one of the allowed words.
func decodeEnum(b []byte, allowed []string) (string, error) {
	in := gjson.ParseBytes(b)
	if in.Type != gjson.String {
		return "", wrongType(in, "a string, one of `"+strings.Join(allowed, "`, `")+"`")
	}
	if !slices.Contains(allowed, in.Str) {
		return "", &UnknownVariantError{in.Str, allowed}
	}
	return in.Str, nil
}

// decodeWord reads a word, or an object whose only member is a word with its
// details: "never", {"granular": {...}}. Without details detail does not exist.
func decodeWord(b []byte) (word string, detail gjson.Result, err error) {
	in := gjson.ParseBytes(b)
	if in.Type == gjson.String {
		return textOf(in), detail, nil
	}
	if !in.IsObject() {
		return "", detail, wrongType(in, "a string or an object")
	}
	members := 0
	in.ForEach(func(name, value gjson.Result) bool {
		word, detail = textOf(name), value
		members++
		return true
	})
	if members != 1 {
		return "", detail, fmt.Errorf("expected an object with one member, got %d", members)
	}
	return word, detail, nil
}

// decodeWordOf does the same as decodeWord, for a closed set of words of which one comes with
// details and the others without.
func decodeWordOf(b []byte, allowed []string, detailed string) (word string, detail gjson.Result, err error) {
	word, detail, err = decodeWord(b)
	switch {
	case err != nil:
		return "", detail, err
	case !slices.Contains(allowed, word):
		return "", detail, &UnknownVariantError{word, allowed}
	case word == detailed && !detail.Exists():
		plain := slices.DeleteFunc(slices.Clone(allowed), func(w string) bool { return w == detailed })
		return "", detail, &UnknownVariantError{word, plain}
	case word != detailed && detail.Exists():
		return "", detail, at(word, wrongType(detail, "the word alone"))
	}
	return word, detail, nil
}

// decodeSpelled reads one of the allowed camelCase words, which may be spelled in
// snake_case or PascalCase.
func decodeSpelled(b []byte, allowed []string) (string, error) {
	in := gjson.ParseBytes(b)
	if in.Type != gjson.String {
		return "", wrongType(in, "a string, one of `"+strings.Join(allowed, "`, `")+"`")
	}
	word, known := respell(in.Str, allowed)
	if !known {
		return "", &UnknownVariantError{in.Str, allowed}
	}
	return word, nil
}

// respell returns the camelCase word for one in snake_case or PascalCase.
func respell(word string, allowed []string) (spelled string, known bool) {
	spelled = CamelCase(word)
	if spelled != "" {
		spelled = strings.ToLower(spelled[:1]) + spelled[1:]
	}
	return spelled, slices.Contains(allowed, spelled)
}

// SnakeCase returns a camelCase word in the spelling of rollouts.
func SnakeCase(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// CamelCase returns a snake_case word in the spelling of the wire.
func CamelCase(s string) string {
	parts := strings.Split(s, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}
