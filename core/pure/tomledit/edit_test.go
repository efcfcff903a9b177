package tomledit_test

import (
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core/pure/tomledit"
	"appserver/test/sample"
)

type table = map[string]any

const before = `# mine
model = "a"   # why
tools.web = true

[profiles.p]  # one
model = "y"
args = [ "1", # first
  "2" ]

# of b
["b.c"]
inline = { x = 1, y = { z = "q" } } # keep
[[hooks]]
run = "x"
`

func TestEditsKeepTheRest(t *testing.T) {
	for name, tt := range map[string]struct {
		path  []string
		value any
		merge bool
		// was and is are the changed lines, before and after.
		was, is string
	}{
		"value": {[]string{"model"}, "b", false, `model = "a"   # why`, `model = "b"   # why`},
		"list over lines": {[]string{"profiles", "p", "args"}, []any{int64(3)}, false,
			"args = [ \"1\", # first\n  \"2\" ]", "args = [3]"},
		"removed":            {[]string{"profiles", "p", "model"}, nil, false, "model = \"y\"\n", ""},
		"removed, not there": {[]string{"profiles", "q", "model"}, nil, false, "", ""},
		"new at the root": {[]string{"effort"}, "high", false, "tools.web = true\n",
			"tools.web = true\neffort = \"high\"\n"},
		"new beside dotted": {[]string{"tools", "image"}, false, false, "tools.web = true\n",
			"tools.web = true\ntools.image = false\n"},
		"new in a table":  {[]string{"profiles", "p", "n"}, int64(4), false, "  \"2\" ]\n", "  \"2\" ]\nn = 4\n"},
		"new in a quoted": {[]string{"b.c", "a b"}, 1.5, false, "# keep\n", "# keep\n\"a b\" = 1.5\n"},
		"within a line": {[]string{"b.c", "inline", "y", "z"}, "r", false, `{ x = 1, y = { z = "q" } }`,
			`{x = 1, y = {z = 'r'}}`},
		"new table": {[]string{"m", "s"}, table{"k": "v", "env": table{"A": "1"}}, false, "run = \"x\"\n",
			"run = \"x\"\n\n[m.s]\nk = \"v\"\n\n[m.s.env]\nA = \"1\"\n"},
		"merged":              {[]string{"profiles", "p"}, table{"model": "z", "env": table{"A": "1"}}, true, "", ""},
		"replaced":            {[]string{"profiles"}, table{"q": table{"model": "z"}}, false, "", ""},
		"scalar over a table": {[]string{"profiles"}, "none", false, "", ""},
		"table over a scalar": {[]string{"model"}, table{"name": "x"}, false, "", ""},
		"an empty table":      {[]string{"none"}, table{}, false, "run = \"x\"\n", "run = \"x\"\n\n[none]\n"},
		"a list of tables":    {[]string{"hooks"}, []any{table{"run": "y"}}, false, "", ""},
		"strings with quotes": {[]string{"model"}, "a\"b'c\n", false, `"a"   # why`, "\"a\\\"b'c\\n\"   # why"},
		"a table that is less": {[]string{"profiles", "p", "x", "y"}, int64(1), false, "run = \"x\"\n",
			"run = \"x\"\n\n[profiles.p.x]\ny = 1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tomledit.Apply([]byte(before), tomledit.Edit{Path: tt.path, Value: tt.value, Merge: tt.merge})
			require.NoError(t, err)
			if tt.was != "" || tt.is != "" {
				require.Equal(t, replaceOnce(t, before, tt.was, tt.is), string(got))
			}
			require.Contains(t, string(got), "# mine")
		})
	}
}

func TestWhatCannotBeEdited(t *testing.T) {
	for name, path := range map[string][]string{
		"no path": {}, "below a value": {"model", "x"}, "below a value in a line": {"b.c", "inline", "x", "y"},
		"in a list of tables": {"hooks", "run"},
	} {
		_, err := tomledit.Apply([]byte(before), tomledit.Edit{Path: path, Value: "x"})
		require.Error(t, err, name)
	}
	_, err := tomledit.Apply([]byte("a = "), tomledit.Edit{Path: []string{"b"}, Value: "x"})
	require.Error(t, err, "no document")
}

// TestAnyEdits makes random edits of random documents: Apply sees to it that they say
// what was asked for, so all that is asked here is that it succeeds, and that a document
// which an edit left can be edited again.
func TestAnyEdits(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", "b", "c d", "e.f", "", "ü", `"q"`})
	scalars := rapid.SampledFrom([]any{"x", "", "a\nb", int64(-5), 2.5, true, []any{}, []any{"y", int64(2)}})
	starts := rapid.SampledFrom([]string{"", "# only", "a = 1", "a.b = 1\r\n[b]\r\n", "[a]\n[a.b]\nc = 1 # x",
		"[a.b]\nx = {a = 1}\n\n\n[a]\nb2 = 1\n", "[a]\nb.a = 1\nb.b = 2\n[b]\n"})
	sample.Check(t, func(t *rapid.T) {
		text := []byte(starts.Draw(t, "start"))
		for range rapid.IntRange(1, 8).Draw(t, "edits") {
			e := tomledit.Edit{Path: rapid.SliceOfN(keys, 1, 3).Draw(t, "path"), Value: scalars.Draw(t, "value"),
				Merge: rapid.Bool().Draw(t, "merge")}
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				e.Value = nil
			case 1:
				e.Value = table{keys.Draw(t, "key"): e.Value, "t": table{keys.Draw(t, "key"): "deep"}}
			}
			next, err := tomledit.Apply(text, e)
			if err != nil {
				require.ErrorContains(t, err, "no table", "%s\n%v", text, e)
				continue
			}
			require.NoError(t, toml.Unmarshal(next, &table{}))
			text = next
		}
	})
}

func replaceOnce(t *testing.T, text, was, is string) string {
	t.Helper()
	i := len(text) - len(was)
	for ; i > 0 && text[i:i+len(was)] != was; i-- {
	}
	require.Equal(t, was, text[i:i+len(was)])
	return text[:i] + is + text[i+len(was):]
}
