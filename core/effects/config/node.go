package config

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"appserver/protocol"
)

// maxDepth bounds the nesting of tables and lists.
const maxDepth = 64

var errTooDeep = fmt.Errorf("nested deeper than %d levels", maxDepth)

// node is the value of a key, with the position that set it. It is a table of keys, or a value:
// bool, int64, uint64, float64, string, or []any, with map[string]any for tables in lists.
type node struct {
	table    map[string]*node
	value    any
	position position
}

// layer is one source of settings. Its root is a table.
type layer struct {
	name protocol.ConfigLayerSource
	root *node
	// ofThread is set for the overrides of a thread.
	ofThread bool
	// disabled is the reason why the layer has no effect, or empty.
	disabled string
}

// position is the file and line, or the override, that set a value.
type position struct {
	layer *layer
	// label is the file, or the override as it was written.
	label string
	// line counts from 1. It is 0 for overrides and if it is not known.
	line int
}

// String returns FILE:LINE, or the label if there is no line.
func (p position) String() string {
	if p.line == 0 {
		return p.label
	}
	return fmt.Sprintf("%s:%d", p.label, p.line)
}

// lines are the lines of the keys of a document.
type lines struct {
	line int
	keys map[string]*lines
}

// at returns the entry of key, and creates it if it is missing. The first line counts.
func (l *lines) at(key string, line int) *lines {
	if l.keys == nil {
		l.keys = map[string]*lines{}
	}
	if l.keys[key] == nil {
		l.keys[key] = &lines{line: line}
	}
	return l.keys[key]
}

// newNode returns the node of a decoded document. A key without a line gets the line of its table.
// Null values are omitted.
func newNode(v any, l *lines, at position, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, &Error{Position: at.String(), Problem: errTooDeep.Error()}
	}
	if l != nil && l.line > 0 {
		at.line = l.line
	}
	table, ok := asTable(v)
	if !ok {
		value, err := normal(v, depth)
		if err != nil {
			return nil, &Error{Position: at.String(), Problem: err.Error()}
		}
		return &node{value: value, position: at}, nil
	}
	n := &node{table: make(map[string]*node, len(table)), position: at}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if table[key] == nil {
			continue
		}
		child, err := newNode(table[key], l.child(key), at, depth+1)
		if err != nil {
			return nil, err
		}
		n.table[key] = child
	}
	return n, nil
}

// child returns nil if key has no line.
func (l *lines) child(key string) *lines {
	if l == nil {
		return nil
	}
	return l.keys[key]
}

// normal converts decoded values to the few types of a node: dates and numbers that JSON cannot
// represent become text.
func normal(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	switch v := v.(type) {
	case nil, bool, string, int64, uint64:
		return v, nil
	case int:
		return int64(v), nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Sprint(v), nil
		}
		return v, nil
	case time.Time:
		return v.Format(time.RFC3339Nano), nil
	case []any:
		return normalList(v, depth)
	}
	if table, ok := asTable(v); ok {
		return normalTable(table, depth)
	}
	return fmt.Sprint(v), nil
}

// asTable also accepts tables of YAML with keys that are not strings.
func asTable(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case map[any]any:
		table := make(map[string]any, len(v))
		for key, value := range v {
			table[fmt.Sprint(key)] = value
		}
		return table, true
	}
	return nil, false
}

func normalList(list []any, depth int) (any, error) {
	out := make([]any, len(list))
	for i, v := range list {
		var err error
		if out[i], err = normal(v, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func normalTable(table map[string]any, depth int) (any, error) {
	out := make(map[string]any, len(table))
	for key, v := range table {
		var err error
		if out[key], err = normal(v, depth+1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// tableAt returns the table below n at key. It replaces any other value.
func (n *node) tableAt(key string, at position) *node {
	child := n.table[key]
	if child == nil || child.table == nil {
		child = &node{table: map[string]*node{}, position: at}
		n.table[key] = child
	}
	return child
}

// merge returns base with over on top. It changes neither.
func merge(base, over *node) *node {
	if base == nil || base.table == nil || over.table == nil {
		return over
	}
	out := &node{table: maps.Clone(base.table), position: over.position}
	for key, n := range over.table {
		out.table[key] = merge(base.table[key], n)
	}
	return out
}

// find returns the node at path, or nil.
func (n *node) find(path ...string) *node {
	for _, key := range path {
		if n == nil {
			return nil
		}
		n = n.table[key]
	}
	return n
}

// plain returns n as maps, lists and values.
func (n *node) plain() any {
	if n.table == nil {
		return n.value
	}
	out := make(map[string]any, len(n.table))
	for key, child := range n.table {
		out[key] = child.plain()
	}
	return out
}

// values calls yield for every value below n with its path; the elements of lists
// are numbered from 0. The path is valid during the call only.
func (n *node) values(path []string, yield func(path []string, at position)) {
	for key, child := range n.table {
		child.values(append(path, key), yield)
	}
	if n.table == nil {
		elements(n.value, path, func(path []string) { yield(path, n.position) })
	}
}

func elements(v any, path []string, yield func(path []string)) {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			elements(e, append(path, fmt.Sprint(i)), yield)
		}
	case map[string]any:
		for key, e := range v {
			elements(e, append(path, key), yield)
		}
	default:
		yield(path)
	}
}

// kind returns the name of a node's type, for errors.
func (n *node) kind() string {
	if n.table != nil {
		return "a table"
	}
	switch n.value.(type) {
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case float64:
		return "a number with a fraction"
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	case nil:
		return "null"
	}
	return "an integer"
}

func dotted(path []string) string { return strings.Join(path, ".") }

// below returns path with one more key. It shares no memory with other paths.
func below(path []string, key string) []string { return append(slices.Clip(path), key) }
