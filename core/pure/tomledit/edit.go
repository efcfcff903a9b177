// Package tomledit changes values of TOML documents in place: what is not meant stays as
// it was written, with its comments, order and line endings.
package tomledit

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Edit sets the value at a path; a nil value removes it. If Merge is set, the members of a table are
// set one by one, and its other members stay.
type Edit struct {
	Path  []string
	Value any
	Merge bool
}

// Apply applies the edits in order. Values are JSON values, with int64 for whole numbers. The result
// is parsed again. If it does not have the requested values, Apply returns an error and no document.
func Apply(text []byte, edits ...Edit) ([]byte, error) {
	want := map[string]any{}
	if err := toml.Unmarshal(text, &want); err != nil {
		return nil, err
	}
	var err error
	for _, e := range edits {
		if text, err = e.apply(text); err == nil {
			err = place(want, e.Path, e.Value, e.Merge)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(e.Path, "."), err)
		}
	}
	got := map[string]any{}
	if err := toml.Unmarshal(text, &got); err != nil {
		return nil, fmt.Errorf("the document cannot be changed in place: %w", err)
	}
	if !reflect.DeepEqual(full(got), full(want)) {
		return nil, errors.New("the document cannot be changed in place: change it by hand")
	}
	return text, nil
}

var (
	errNoPath   = errors.New("the path is empty")
	errNoTable  = errors.New("what is above it is no table")
	errInTables = errors.New("it is in a list of tables, which are changed as a whole")
)

func (e Edit) apply(text []byte) ([]byte, error) {
	d := parse(text)
	table, isTable := e.Value.(map[string]any)
	switch {
	case len(e.Path) == 0:
		return nil, errNoPath
	case d.inTables(e.Path):
		return nil, errInTables
	case isTable && e.Merge && d.has(e.Path):
		return merged(text, e.Path, table)
	}
	if at := d.above(e.Path); at != nil {
		return d.inside(at, e.Path[len(at.path):], e.Value)
	}
	if at := d.at(e.Path); at != nil && e.Value != nil && !isTable {
		return d.splice(at.value, at.end, encode(e.Value)), nil
	}
	text = d.remove(e.Path)
	switch {
	case e.Value == nil:
		return text, nil
	case isTable:
		return appendTable(text, e.Path, table), nil
	}
	return parse(text).insert(e.Path, e.Value), nil
}

func merged(text []byte, path []string, table map[string]any) (_ []byte, err error) {
	for _, key := range sorted(table) {
		e := Edit{append(slices.Clip(path), key), table[key], true}
		if text, err = e.apply(text); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// inside changes a value within another one that is on one line.
func (d *document) inside(at *entry, path []string, value any) ([]byte, error) {
	var line map[string]any
	if err := toml.Unmarshal(append([]byte("v = "), d.text[at.value:at.end]...), &line); err != nil {
		return nil, err
	}
	if err := place(line, append([]string{"v"}, path...), value, false); err != nil {
		return nil, err
	}
	return d.splice(at.value, at.end, encode(line["v"])), nil
}

// place sets what a decoded document has at a path.
func place(root map[string]any, path []string, value any, merge bool) error {
	for _, key := range path[:len(path)-1] {
		next, ok := root[key].(map[string]any)
		switch {
		case root[key] == nil && value == nil:
			return nil
		case root[key] == nil:
			next = map[string]any{}
			root[key] = next
		case !ok:
			return errNoTable
		}
		root = next
	}
	last := path[len(path)-1]
	members, isTable := value.(map[string]any)
	_, wasTable := root[last].(map[string]any)
	switch {
	case value == nil:
		delete(root, last)
	case merge && isTable && wasTable:
		for key, v := range members {
			if err := place(root, append(slices.Clip(path[len(path)-1:]), key), v, true); err != nil {
				return err
			}
		}
	default:
		root[last] = value
	}
	return nil
}

// full removes empty tables, which no line needs to name, and nulls.
func full(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, member := range v {
			if m := full(member); m != nil {
				out[key] = m
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = full(v[i])
		}
		return list
	}
	return v
}

// encode returns a value on one line. Strings that need no escapes have double quotes, as most people
// write them.
func encode(v any) string {
	if s, ok := v.(string); ok &&
		strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r >= 0x7f }) < 0 {
		return `"` + s + `"`
	}
	var b bytes.Buffer
	e := toml.NewEncoder(&b)
	e.SetTablesInline(true)
	if e.Encode(map[string]any{"v": v}) != nil {
		return `""` // the check of the result refuses it
	}
	return strings.TrimSpace(strings.TrimPrefix(b.String(), "v = "))
}
