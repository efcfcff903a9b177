package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"appserver/protocol"
)

// decoder fills structs from nodes. A field gets the value of the key in its tag:
//
//	key:"name"        the key
//	oneof:"a b c"     the words that a string may be
//	min:"0" max:"9"   bounds of an integer; a time.Duration is in milliseconds
//	path:""           a path: ~/ and relative paths become absolute
//
// A key that is not set does not change its field.
type decoder struct {
	resolve  func(path string, at position) string
	problems []error
	warnings []warning
	// strict makes unknown keys problems.
	strict bool
}

// warning is a text about a key, with the position to sort by.
type warning struct {
	at   position
	text string
}

func (d *decoder) problem(n *node, path []string, format string, args ...any) {
	d.problems = append(d.problems, &Error{n.position.String(), dotted(path), fmt.Sprintf(format, args...)})
}

func (d *decoder) expected(n *node, path []string, what string) {
	d.problem(n, path, "expected %s, got %s", what, n.kind())
}

func (d *decoder) warn(n *node, path []string, text string) {
	d.warnings = append(d.warnings, warning{n.position, fmt.Sprintf("%s: %s: %s", n.position, dotted(path), text)})
}

// unknown reports a key without an effect.
func (d *decoder) unknown(n *node, path []string) {
	if d.strict {
		d.problem(n, path, "unknown key, which --strict-config does not permit: correct it, or remove it")
		return
	}
	d.warn(n, path, "unknown key, it has no effect")
}

// sortedWarnings returns the warnings in the order of their lines, those about files of the project
// apart.
func (d *decoder) sortedWarnings() (texts, ofProject []string) {
	slices.SortStableFunc(d.warnings, func(a, b warning) int {
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.text, b.text))
	})
	for _, w := range d.warnings {
		if w.at.layer != nil && w.at.layer.name.Type == protocol.LayerProject {
			ofProject = append(ofProject, w.text)
		} else {
			texts = append(texts, w.text)
		}
	}
	return texts, ofProject
}

// fields fills the struct to. It warns about keys without a field.
func (d *decoder) fields(to reflect.Value, n *node, path []string) {
	if n.table == nil {
		d.expected(n, path, "a table")
		return
	}
	known := map[string]bool{}
	for i := range to.NumField() {
		tag := to.Type().Field(i).Tag
		key, tagged := tag.Lookup("key")
		known[key] = tagged
		if child := n.table[key]; child != nil && tagged {
			d.value(to.Field(i), child, below(path, key), tag)
		}
	}
	for _, key := range sortedKeys(n.table) {
		if !known[key] && !isIgnored(below(path, key)) && !isRole(n.table[key], below(path, key)) {
			d.unknown(n.table[key], below(path, key))
		}
	}
}

func (d *decoder) value(to reflect.Value, n *node, path []string, tag reflect.StructTag) {
	switch own := to.Addr().Interface().(type) {
	case json.Unmarshaler:
		d.unmarshal(own, n, path)
		return
	case *Providers:
		d.providers(*own, n, path)
		return
	case *McpServers:
		d.servers(*own, n, path)
		return
	case *McpTools:
		d.serverTools(*own, n, path)
		return
	}
	switch to.Kind() {
	case reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.value(to.Elem(), n, path, tag)
	case reflect.Struct:
		d.fields(to, n, path)
	case reflect.String:
		d.text(to, n, path, tag)
	case reflect.Bool:
		if b, ok := n.value.(bool); ok {
			to.SetBool(b)
		} else {
			d.expected(n, path, "true or false")
		}
	case reflect.Int, reflect.Int64:
		d.integer(to, n, path, tag)
	case reflect.Slice:
		d.list(to, n, path, tag)
	case reflect.Map:
		d.mapping(to, n, path, tag)
	default:
		panic("config: no decoder for " + to.Type().String())
	}
}

// unmarshal decodes a type of the protocol as from the wire.
func (d *decoder) unmarshal(to json.Unmarshaler, n *node, path []string) {
	text, err := protocol.Marshal(n.plain())
	if err == nil {
		err = to.UnmarshalJSON(text)
	}
	if err != nil {
		d.problem(n, path, "%v", err)
	}
}

func (d *decoder) text(to reflect.Value, n *node, path []string, tag reflect.StructTag) {
	s, ok := n.value.(string)
	if !ok {
		d.expected(n, path, "a string")
		return
	}
	if words := strings.Fields(tag.Get("oneof")); len(words) > 0 && !slices.Contains(words, s) {
		d.problem(n, path, "%v", &protocol.UnknownVariantError{Value: s, Expected: words})
		return
	}
	if _, isPath := tag.Lookup("path"); isPath {
		s = d.resolve(s, n.position)
	}
	to.SetString(s)
}

func (d *decoder) integer(to reflect.Value, n *node, path []string, tag reflect.StructTag) {
	i, ok := n.value.(int64)
	if !ok {
		d.expected(n, path, "an integer")
		return
	}
	if low, err := strconv.ParseInt(tag.Get("min"), 10, 64); err == nil && i < low {
		d.problem(n, path, "expected at least %d, got %d", low, i)
		return
	}
	if high, err := strconv.ParseInt(tag.Get("max"), 10, 64); err == nil && i > high {
		d.problem(n, path, "expected at most %d, got %d", high, i)
		return
	}
	if to.Type() == reflect.TypeFor[time.Duration]() {
		i *= int64(time.Millisecond)
	}
	to.SetInt(i)
}

func (d *decoder) list(to reflect.Value, n *node, path []string, tag reflect.StructTag) {
	list, ok := n.value.([]any)
	if !ok {
		d.expected(n, path, "a list of strings")
		return
	}
	out := reflect.MakeSlice(to.Type(), len(list), len(list))
	for i, v := range list {
		d.value(out.Index(i), &node{value: v, position: n.position}, below(path, strconv.Itoa(i)), tag)
	}
	to.Set(out)
}

// mapping fills a map of strings, or a free table.
func (d *decoder) mapping(to reflect.Value, n *node, path []string, tag reflect.StructTag) {
	if n.table == nil {
		d.expected(n, path, "a table")
		return
	}
	if free, ok := to.Addr().Interface().(*map[string]any); ok {
		*free = n.plain().(map[string]any)
		return
	}
	out := reflect.MakeMapWithSize(to.Type(), len(n.table))
	for _, key := range sortedKeys(n.table) {
		v := reflect.New(to.Type().Elem()).Elem()
		d.value(v, n.table[key], below(path, key), tag)
		out.SetMapIndex(reflect.ValueOf(key), v)
	}
	to.Set(out)
}

// resolver makes paths absolute: ~/ is the user's home folder. A relative path in a file
// starts at the file's folder, any other at the server's working directory.
func resolver(userHome string) func(string, position) string {
	return func(path string, at position) string {
		rest, tilde := strings.CutPrefix(path, "~/")
		switch {
		case path == "" || filepath.IsAbs(path):
			return path
		case tilde && userHome != "":
			return filepath.Join(userHome, rest)
		case at.layer.folder() != "":
			return filepath.Join(at.layer.folder(), path)
		}
		if abs, err := filepath.Abs(path); err == nil {
			return abs
		}
		return path
	}
}

// encode returns the struct v as a table, by the same tags. Values that are not set are null; lists
// are empty.
func encode(v reflect.Value) map[string]any {
	out := map[string]any{}
	for i := range v.NumField() {
		if key, ok := v.Type().Field(i).Tag.Lookup("key"); ok {
			out[key] = encodeValue(v.Field(i))
		}
	}
	return out
}

// encodeTables returns a map of tables.
func encodeTables(v reflect.Value) map[string]any {
	out := map[string]any{}
	for it := v.MapRange(); it.Next(); {
		out[it.Key().String()] = encodeValue(it.Value())
	}
	return out
}

func encodeValue(v reflect.Value) any {
	if _, own := v.Interface().(json.Marshaler); own {
		return v.Interface()
	}
	switch v.Kind() {
	case reflect.Struct:
		return encode(v)
	case reflect.String:
		if v.String() == "" {
			return nil
		}
	case reflect.Slice:
		if v.IsNil() {
			return []string{}
		}
	case reflect.Map, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
	}
	if v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Struct {
		return encodeTables(v)
	}
	if d, ok := v.Interface().(time.Duration); ok {
		return d.Milliseconds()
	}
	return v.Interface()
}
