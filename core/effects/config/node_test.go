package config

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

func mustNode(t require.TestingT, v any) *node {
	n, err := newNode(v, nil, position{label: "test"}, 0)
	require.NoError(t, err)
	return n
}

func TestNodeKeepsFewTypes(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	for name, tt := range map[string]struct{ from, want any }{
		"int":        {5, int64(5)},
		"large":      {uint64(math.MaxUint64), uint64(math.MaxUint64)},
		"float":      {1.5, 1.5},
		"nan":        {math.NaN(), "NaN"},
		"infinity":   {math.Inf(1), "+Inf"},
		"time":       {at, "2026-01-02T03:04:05.000000006Z"},
		"list":       {[]any{1, nil, []any{true}}, []any{int64(1), nil, []any{true}}},
		"yaml table": {[]any{map[any]any{1: "a", true: "b"}}, []any{map[string]any{"1": "a", "true": "b"}}},
		"other":      {struct{ A int }{1}, "{1}"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, map[string]any{"k": tt.want}, mustNode(t, map[string]any{"k": tt.from}).plain())
		})
	}
}

func TestNodeOmitsNullKeys(t *testing.T) {
	n := mustNode(t, map[string]any{"a": nil, "b": map[string]any{"c": nil}})
	require.Equal(t, map[string]any{"b": map[string]any{}}, n.plain())
}

// deep applies wrap n times.
func deep(n int, wrap func(any) any) any {
	var v any = "end"
	for range n {
		v = wrap(v)
	}
	return v
}

func TestNodeBoundsDepth(t *testing.T) {
	for name, wrap := range map[string]func(any) any{
		"tables":         func(v any) any { return map[string]any{"a": v} },
		"lists":          func(v any) any { return []any{v} },
		"tables in list": func(v any) any { return []any{map[string]any{"a": v}} },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newNode(deep(maxDepth/2, wrap), nil, position{label: "f"}, 0)
			require.NoError(t, err)
			_, err = newNode(deep(maxDepth+1, wrap), nil, position{label: "f"}, 0)
			require.EqualError(t, err, "f: nested deeper than 64 levels")
		})
	}
}

func TestNodeKinds(t *testing.T) {
	for want, v := range map[string]any{
		"a table": map[string]any{}, "a string": "x", "a boolean": true, "an integer": 1,
		"a number with a fraction": 1.5, "a list": []any{},
	} {
		require.Equal(t, want, mustNode(t, v).kind())
	}
	require.Equal(t, "null", (&node{}).kind())
	require.Equal(t, "a table", (&node{value: map[string]any{}}).kind(), "in a list")
}

func TestNodeFind(t *testing.T) {
	n := mustNode(t, map[string]any{"a": map[string]any{"b": 1}})
	require.Same(t, n, n.find())
	require.Equal(t, int64(1), n.find("a", "b").value)
	require.Nil(t, n.find("a", "x"))
	require.Nil(t, n.find("a", "b", "c"))
	require.Nil(t, n.find("x", "y", "z"))
}

func TestNodeValuesNumberListElements(t *testing.T) {
	n := mustNode(t, map[string]any{
		"a": []any{"x", map[string]any{"b": 1, "c": []any{2}}}, "d": map[string]any{"e": true}, "empty": []any{},
		"none": map[string]any{},
	})
	var paths []string
	n.values(nil, func(path []string, at position) {
		require.Equal(t, "test", at.label)
		paths = append(paths, dotted(path))
	})
	slices.Sort(paths)
	require.Equal(t, []string{"a.0", "a.1.b", "a.1.c.0", "d.e"}, paths)
}

func TestMergeJoinsTablesAndReplacesTheRest(t *testing.T) {
	base := map[string]any{"same": 1, "list": []any{1, 2}, "table": map[string]any{"a": 1, "b": 2},
		"was": map[string]any{"x": 1}}
	over := map[string]any{"list": []any{3}, "table": map[string]any{"b": 3}, "was": 5, "new": map[string]any{"y": 1}}
	merged := merge(mustNode(t, base), mustNode(t, over))
	require.Equal(t, map[string]any{
		"same": int64(1), "list": []any{int64(3)}, "table": map[string]any{"a": int64(1), "b": int64(3)},
		"was": int64(5), "new": map[string]any{"y": int64(1)},
	}, merged.plain())
}

// table draws a table of few keys, so that two tables share keys.
func table(depth int) *rapid.Generator[map[string]any] {
	values := []*rapid.Generator[any]{rapid.Map(rapid.IntRange(0, 9), func(i int) any { return i })}
	if depth > 0 {
		values = append(values, rapid.Map(table(depth-1), func(m map[string]any) any { return m }))
	}
	return rapid.MapOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.OneOf(values...))
}

// A value of the stronger table replaces one of the weaker table. Neither table changes.
func TestMergePrefersTheStrongerTable(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		base, over := mustNode(t, table(3).Draw(t, "base")), mustNode(t, table(3).Draw(t, "over"))
		before, strong := base.plain(), over.plain()
		merged := merge(base, over)
		over.values(nil, func(path []string, _ position) {
			require.Equal(t, over.find(path...).value, merged.find(path...).value, "%s", path)
		})
		base.values(nil, func(path []string, _ position) {
			if !hides(over, path) {
				require.Equal(t, base.find(path...).value, merged.find(path...).value, "%s", path)
			}
		})
		require.Equal(t, before, base.plain())
		require.Equal(t, strong, over.plain())
	})
}

// hides reports whether over has a value at path or above it, or a table at path.
func hides(over *node, path []string) bool {
	for i := range path {
		n := over.find(path[:i+1]...)
		if n == nil {
			return false
		}
		if n.table == nil {
			return true
		}
	}
	return true
}

func TestPositionHasTheLine(t *testing.T) {
	require.Equal(t, "f:3", position{label: "f", line: 3}.String())
	require.Equal(t, "-c a=b", position{label: "-c a=b"}.String())
}

// lineOf returns the line of a dotted key, or 0.
func lineOf(l *lines, key string) int {
	for part := range strings.SplitSeq(key, ".") {
		if l = l.child(part); l == nil {
			return 0
		}
	}
	return l.line
}

func TestLinesOfTOML(t *testing.T) {
	text := `# comment
a = 1
b.c.d = 2

text = """
not = a key
"""
"quoted.key" = 1
'\u0061' = 1
"\u00e9" = 1

[table]
  x = [
    1,   # comment
  ]
  y = { z = 1, w.v = 2 }
[table.below]
q = 1
[[list]]
one = 1
[[list]]
two = 2
[b.c.e]
f = 1
`
	values, l, err := decodeTOML("f", []byte(text))
	require.NoError(t, err)
	require.Contains(t, values, "quoted.key")
	for key, want := range map[string]int{
		"a": 2, "b": 3, "b.c": 3, "b.c.d": 3, "text": 5, `\u0061`: 9, "é": 10, "table": 12, "table.x": 13, "table.y": 16,
		"table.y.z": 16, "table.y.w.v": 16, "table.below": 17, "table.below.q": 18, "list": 19, "list.one": 20,
		"list.two": 22,
		"b.c.e":    23, "b.c.e.f": 24, "not": 0,
	} {
		require.Equal(t, want, lineOf(l, key), key)
	}
	require.Equal(t, 8, l.child("quoted.key").line)
}

func TestLinesOfYAML(t *testing.T) {
	text := `# comment
a: 1
b:
  c:
    - 1
    - x: 2
  "d": { e: 1,
    f: 2 }
g: &anchor
  h: 1
i:
  <<: *anchor
  j: |
    not: a key
k: *anchor
1: x
`
	values, l, err := decodeYAML("f", []byte(text))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"h": 1, "j": "not: a key\n"}, values["i"])
	for key, want := range map[string]int{
		"a": 2, "b": 3, "b.c": 4, "b.d": 7, "b.d.e": 7, "b.d.f": 8, "g": 9, "g.h": 10, "i": 11, "i.j": 13, "k": 15, "1": 16,
		"i.h": 0, "k.h": 0, "not": 0,
	} {
		require.Equal(t, want, lineOf(l, key), key)
	}
}

// A key without a line gets the line of its table.
func TestNodeInheritsTheLineOfItsTable(t *testing.T) {
	values, l, err := decodeYAML("f", []byte("a: &x {b: {c: 1}}\nd: *x\n"))
	require.NoError(t, err)
	n, err := newNode(values, l, position{label: "f"}, 0)
	require.NoError(t, err)
	require.Equal(t, "f:1", n.find("a", "b", "c").position.String())
	require.Equal(t, "f:2", n.find("d", "b", "c").position.String())
}
