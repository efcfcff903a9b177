package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// allKinds has a field of each kind that the decoder knows.
type allKinds struct {
	Text     string               `key:"text"`
	Word     string               `key:"word" oneof:"one two"`
	Path     string               `key:"path" path:""`
	Flag     bool                 `key:"flag"`
	Count    int                  `key:"count" min:"1" max:"9"`
	Long     *int64               `key:"long"`
	Wait     time.Duration        `key:"wait_ms"`
	List     []string             `key:"list" oneof:"a b"`
	Strings  map[string]string    `key:"strings"`
	Free     map[string]any       `key:"free"`
	Mode     protocol.SandboxMode `key:"mode"`
	Inner    inner                `key:"inner"`
	Untagged string
}

type inner struct {
	Number int `key:"number"`
}

func decodeSample(t *testing.T, v map[string]any) (allKinds, *decoder) {
	t.Helper()
	s := allKinds{Text: "default", Count: 3, Untagged: "kept"}
	d := &decoder{resolve: func(path string, _ position) string { return "/abs/" + path }}
	d.fields(reflect.ValueOf(&s).Elem(), mustNode(t, v), nil)
	return s, d
}

func TestDecodeEveryKind(t *testing.T) {
	s, d := decodeSample(t, map[string]any{
		"text": "x", "word": "two", "path": "p", "flag": true, "count": 9, "long": 1 << 40, "wait_ms": 1500,
		"list": []any{"a", "b"}, "strings": map[string]any{"k": "v"}, "free": map[string]any{"any": []any{1}},
		"mode": "workspace-write", "inner": map[string]any{"number": 4},
	})
	require.Empty(t, d.problems)
	require.Empty(t, d.warnings)
	long := int64(1 << 40)
	require.Equal(t, allKinds{
		Text: "x", Word: "two", Path: "/abs/p", Flag: true, Count: 9, Long: &long, Wait: 1500 * time.Millisecond,
		List: []string{"a", "b"}, Strings: map[string]string{"k": "v"}, Free: map[string]any{"any": []any{int64(1)}},
		Mode: protocol.SandboxWorkspaceWrite, Inner: inner{4}, Untagged: "kept",
	}, s)
}

func TestDecodeKeepsDefaults(t *testing.T) {
	s, _ := decodeSample(t, map[string]any{"flag": true})
	require.Equal(t, allKinds{Text: "default", Count: 3, Flag: true, Untagged: "kept"}, s)
}

func TestDecodeProblems(t *testing.T) {
	for problem, v := range map[string]map[string]any{
		"test: text: expected a string, got an integer":                        {"text": 1},
		"test: word: unknown variant `x`, expected one of `one`, `two`":        {"word": "x"},
		"test: path: expected a string, got a list":                            {"path": []any{}},
		"test: flag: expected true or false, got an integer":                   {"flag": 0},
		"test: count: expected an integer, got a string":                       {"count": "3"},
		"test: count: expected at least 1, got 0":                              {"count": 0},
		"test: count: expected at most 9, got 10":                              {"count": 10},
		"test: long: expected an integer, got a table":                         {"long": map[string]any{}},
		"test: wait_ms: expected an integer, got a boolean":                    {"wait_ms": true},
		"test: list: expected a list of strings, got a table":                  {"list": map[string]any{}},
		"test: list.1: unknown variant `c`, expected one of `a`, `b`":          {"list": []any{"a", "c"}},
		"test: strings: expected a table, got a string":                        {"strings": "x"},
		"test: strings.k: expected a string, got a number with a fraction":     {"strings": map[string]any{"k": 1.5}},
		"test: free: expected a table, got a list":                             {"free": []any{}},
		"test: mode: expected a string, one of `read-only`, `workspace-write`": {"mode": 1},
		"test: inner: expected a table, got a boolean":                         {"inner": false},
		"test: inner.number: expected an integer, got a string":                {"inner": map[string]any{"number": ""}},
	} {
		s, d := decodeSample(t, v)
		require.Len(t, d.problems, 1, problem)
		require.ErrorContains(t, d.problems[0], problem)
		require.Equal(t, 3, s.Count, "a wrong value changes nothing")
	}
}

func TestWarningsAreInTheOrderOfTheFile(t *testing.T) {
	values, l, err := decodeTOML("f", []byte("z = 1\ntext = \"x\"\na = 1\n[inner]\nb = 1\n"))
	require.NoError(t, err)
	n, err := newNode(values, l, position{label: "f"}, 0)
	require.NoError(t, err)
	var s allKinds
	d := &decoder{}
	d.fields(reflect.ValueOf(&s).Elem(), n, nil)
	texts, _ := d.sortedWarnings()
	require.Equal(t, []string{
		"f:1: z: unknown key, it has no effect", "f:3: a: unknown key, it has no effect",
		"f:5: inner.b: unknown key, it has no effect",
	}, texts)
}

func TestDecodePanicsForAnUnsupportedField(t *testing.T) {
	var wrong struct {
		F float64 `key:"f"`
	}
	d := &decoder{}
	require.Panics(t, func() { d.fields(reflect.ValueOf(&wrong).Elem(), mustNode(t, map[string]any{"f": 1.5}), nil) })
}

func TestEncodeOfEmptyFields(t *testing.T) {
	text, err := json.Marshal(encode(reflect.ValueOf(allKinds{})))
	require.NoError(t, err)
	require.JSONEq(t, `{"text":null,"word":null,"path":null,"flag":false,"count":0,"long":null,"wait_ms":0,"list":[],
		"strings":null,"free":null,"mode":null,"inner":{"number":0}}`, string(text))
}

func TestEncodeAndDecodeAreInverse(t *testing.T) {
	long := int64(7)
	want := allKinds{
		Text: "t", Word: "one", Path: "/abs/p", Flag: true, Count: 2, Long: &long, Wait: time.Second, List: []string{"b"},
		Strings: map[string]string{"a": "b"}, Free: map[string]any{"c": "d"}, Mode: protocol.SandboxReadOnly, Inner: inner{1},
	}
	text, err := json.Marshal(encode(reflect.ValueOf(want)))
	require.NoError(t, err)
	v, err := decodeJSON(text)
	require.NoError(t, err)
	var got allKinds
	d := &decoder{resolve: func(path string, _ position) string { return path }}
	d.fields(reflect.ValueOf(&got).Elem(), mustNode(t, v), nil)
	require.Empty(t, d.problems)
	require.Equal(t, want, got)
}

// The settings from config/read, as overrides of a thread, result in the same settings.
func TestViewAsOverridesIsEqual(t *testing.T) {
	home := t.TempDir()
	text := "model = \"m\"\napproval_policy = \"never\"\nmodel_context_window = 5\n[history]\nmaxSize = 4\n[model_providers.a]\nbase_url = \"http://h/v1\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
	c, err := Load(Source{Home: home})
	require.NoError(t, err)
	shown, err := json.Marshal(c.View(false).Config)
	require.NoError(t, err)
	var overrides map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(shown, &overrides))
	empty, err := Load(Source{})
	require.NoError(t, err)
	with, err := empty.With(overrides)
	require.NoError(t, err)
	for _, w := range with.Warnings {
		require.Regexp(t, "only when it starts|the same for all threads", w)
	}
	require.Equal(t, encode(reflect.ValueOf(c).Elem()), encode(reflect.ValueOf(with).Elem()))
}

// The race detector checks this.
func TestConfigIsSafeForManyGoroutines(t *testing.T) {
	c, err := Load(Source{Overrides: []string{"model_providers.x.base_url=http://h/v1"}})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			with, err := c.With(map[string]json.RawMessage{"model_providers.x.name": json.RawMessage(`"X"`)})
			if err == nil {
				_ = with.View(true)
			}
			_, _ = c.View(true), c.Models("", nil)
		})
	}
	wg.Wait()
	require.Equal(t, "x", c.ModelProviders["x"].Name)
}
