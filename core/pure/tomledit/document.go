package tomledit

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// document is a TOML document as its lines, in order.
type document struct {
	text    []byte
	newline string
	entries []entry
}

// entry is a line, or several, that sets a key or begins a table. Offsets are in bytes.
type entry struct {
	// path is from the root of the document.
	path []string
	// table is the path of the header above, or nil.
	table  []string
	header bool
	// list is set for the header of an element of a list of tables.
	list bool
	// start is the index of the entry, value the index of its value, and end the index after it.
	start, value, end int
}

func parse(text []byte) *document {
	d := &document{text: text, newline: "\n"}
	if bytes.Contains(text, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	var p unstable.Parser
	p.Reset(text)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		next := entry{table: table}
		last := 0
		for key := e.Key(); key.Next(); {
			n := key.Node()
			if next.path == nil {
				next.path, next.start = slices.Clone(table), int(n.Raw.Offset)
			}
			next.path = append(next.path, string(n.Data))
			last = int(n.Raw.Offset + n.Raw.Length)
		}
		switch e.Kind {
		case unstable.KeyValue:
			next.end = int(e.Raw.Offset + e.Raw.Length)
			next.value = d.valueAfter(last)
		case unstable.Table, unstable.ArrayTable:
			next.path = next.path[len(table):]
			table = next.path
			next.header, next.list, next.end = true, e.Kind == unstable.ArrayTable, last
		}
		d.entries = append(d.entries, next)
	}
	return d
}

// valueAfter returns the index of the value of a key that ends at an index.
func (d *document) valueAfter(key int) int {
	at := key + bytes.IndexByte(d.text[key:], '=') + 1
	for at < len(d.text) && (d.text[at] == ' ' || d.text[at] == '\t') {
		at++
	}
	return at
}

func below(path, of []string) bool { return len(path) >= len(of) && slices.Equal(path[:len(of)], of) }

// inTables reports whether a path leads through a list of tables.
func (d *document) inTables(path []string) bool {
	return slices.ContainsFunc(d.entries,
		func(e entry) bool { return e.list && len(e.path) < len(path) && below(path, e.path) })
}

// has reports whether a path, or a path below it, is set.
func (d *document) has(path []string) bool {
	return d.above(path) != nil || slices.ContainsFunc(d.entries, func(e entry) bool { return below(e.path, path) })
}

// at returns the entry that sets a path, or nil.
func (d *document) at(path []string) *entry {
	return d.find(func(e *entry) bool { return !e.header && slices.Equal(e.path, path) })
}

// above returns the entry whose value contains a path, or nil.
func (d *document) above(path []string) *entry {
	return d.find(func(e *entry) bool { return !e.header && len(e.path) < len(path) && below(path, e.path) })
}

// find returns the last entry for which fits returns true, or nil.
func (d *document) find(fits func(e *entry) bool) *entry {
	for i := range slices.Backward(d.entries) {
		if fits(&d.entries[i]) {
			return &d.entries[i]
		}
	}
	return nil
}

func (d *document) splice(from, to int, with string) []byte {
	return slices.Concat(d.text[:from], []byte(with), d.text[to:])
}

// line returns the range of the lines of an entry.
func (d *document) line(e *entry) (from, to int) {
	from = bytes.LastIndexByte(d.text[:e.start], '\n') + 1
	if i := bytes.IndexByte(d.text[e.end:], '\n'); i >= 0 {
		return from, e.end + i + 1
	}
	return from, len(d.text)
}

// remove deletes a path and all paths below it.
func (d *document) remove(path []string) []byte {
	var kept []byte
	at := 0
	for i := range d.entries {
		if !below(d.entries[i].path, path) {
			continue
		}
		from, to := d.line(&d.entries[i])
		kept = append(kept, d.text[at:from]...)
		at = to
	}
	return append(kept, d.text[at:]...)
}

// insert sets a key that the document does not have, beside its neighbours.
func (d *document) insert(path []string, value any) []byte {
	parent := path[:len(path)-1]
	neighbour := d.find(func(e *entry) bool {
		return !e.header && below(e.path[:len(e.path)-1], parent) && len(e.table) <= len(parent)
	})
	header := d.find(func(e *entry) bool { return e.header && slices.Equal(e.path, parent) })
	switch {
	case neighbour != nil:
		_, at := d.line(neighbour)
		return d.splice(at, at, d.after(at)+d.assign(path[len(neighbour.table):], value))
	case header != nil:
		_, at := d.line(header)
		return d.splice(at, at, d.after(at)+d.assign(path[len(parent):], value))
	case len(parent) == 0:
		return d.splice(0, 0, d.assign(path, value)+d.gap(0))
	}
	return appendTable(d.text, parent, map[string]any{path[len(path)-1]: value})
}

// after returns the line end that is missing before an index, or "".
func (d *document) after(at int) string {
	if at > 0 && d.text[at-1] != '\n' {
		return d.newline
	}
	return ""
}

// gap returns an empty line to put before the text at an index, or "".
func (d *document) gap(at int) string {
	if at < len(d.text) {
		return d.newline
	}
	return ""
}

func (d *document) assign(path []string, value any) string {
	return name(path) + " = " + encode(value) + d.newline
}

// appendTable adds a table at the end, with a header for each table in it.
func appendTable(text []byte, path []string, table map[string]any) []byte {
	d := parse(text)
	out := string(text) + d.after(len(text))
	if len(text) > 0 {
		out += d.newline
	}
	out += "[" + name(path) + "]" + d.newline
	var tables []string
	for _, key := range sorted(table) {
		if _, isTable := table[key].(map[string]any); isTable {
			tables = append(tables, key)
		} else if table[key] != nil {
			out += d.assign([]string{key}, table[key])
		}
	}
	text = []byte(out)
	for _, key := range tables {
		text = appendTable(text, append(slices.Clip(path), key), table[key].(map[string]any))
	}
	return text
}

// name returns a path as a dotted key.
func name(path []string) string {
	parts := make([]string, len(path))
	for i, part := range path {
		parts[i] = part
		if part == "" || strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
			parts[i] = encode(part)
		}
	}
	return strings.Join(parts, ".")
}

func sorted(table map[string]any) []string { return slices.Sorted(maps.Keys(table)) }
