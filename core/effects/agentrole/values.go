package agentrole

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"appserver/platform/excerpt"
)

// values takes values from a table. It keeps the first error.
type values struct {
	table map[string]any
	taken []string
	err   error
}

// text returns a text, or "".
func (v *values) text(key string) string {
	v.taken = append(v.taken, key)
	value, isSet := v.table[key]
	text, isText := value.(string)
	if isSet && !isText {
		v.fail(key, "a text")
	}
	return text
}

// texts returns a list of texts, or nil if the key is not set.
func (v *values) texts(key string) []string {
	v.taken = append(v.taken, key)
	value, isSet := v.table[key]
	if !isSet {
		return nil
	}
	list, isList := value.([]any)
	out := []string{}
	for _, item := range list {
		text, isText := item.(string)
		isList = isList && isText
		out = append(out, text)
	}
	if !isList {
		v.fail(key, "a list of texts")
	}
	return out
}

func (v *values) fail(key, expected string) {
	if v.err == nil {
		v.err = fmt.Errorf("%s: expected %s", key, expected)
	}
}

// rest returns the keys that were not taken, sorted.
func (v *values) rest() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(v.table)),
		func(key string) bool { return slices.Contains(v.taken, key) })
}

// end returns the error of the values, or one about a key that was not taken.
func (v *values) end() error {
	if rest := v.rest(); v.err == nil && len(rest) > 0 {
		return fmt.Errorf("unknown key %s: correct it, or remove it", excerpt.Head(rest[0], maxName))
	}
	return v.err
}

// checkRest warns about keys of a role file that have no effect, and rejects those that restrict.
func (v *values) checkRest(f *finder, path string) error {
	rest := v.rest()
	for _, key := range rest {
		if slices.Contains(restricting, key) || key == "web_search" && v.table[key] == "disabled" {
			return fmt.Errorf("agents do not obey the restriction %s: remove it, or use sandbox_mode and tools", key)
		}
	}
	if len(rest) > 0 {
		f.warn(path, "these keys have no effect in an agent role: %s", excerpt.Head(strings.Join(rest, ", "), maxWord))
	}
	return nil
}
