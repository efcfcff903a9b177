package toolspec_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

func function(name, schema string) protocol.DynamicToolSpec {
	return protocol.DynamicToolSpec{
		Type: "function", Name: name, Description: "d", InputSchema: json.RawMessage(schema),
	}
}

func namespace(name string, tools ...string) protocol.DynamicToolSpec {
	s := protocol.DynamicToolSpec{Type: "namespace", Name: name}
	for _, tool := range tools {
		f := protocol.DynamicToolFunction{Type: "function", Name: tool, InputSchema: json.RawMessage(`{}`)}
		s.Tools = append(s.Tools, f)
	}
	return s
}

func TestCheckDynamicTools(t *testing.T) {
	long := strings.Repeat("a", 65)
	for _, tt := range []struct {
		specs []protocol.DynamicToolSpec
		want  string
	}{
		{nil, ""},
		{[]protocol.DynamicToolSpec{
			function("a-1_B", `{"type":"object"}`), namespace("n", "a", "b"), namespace("m", "a"), namespace("empty"),
		}, ""},
		{[]protocol.DynamicToolSpec{function("a", `{}`), function("a", `{}`)}, "duplicate dynamic tool name: a"},
		{[]protocol.DynamicToolSpec{namespace("n", "a"), function("n__a", `{}`)}, "duplicate dynamic tool name: n__a"},
		{[]protocol.DynamicToolSpec{function("", `{}`)}, "dynamic tool name must match ^[a-zA-Z0-9_-]+$: "},
		{[]protocol.DynamicToolSpec{function("ä", `{}`)}, "dynamic tool name must match ^[a-zA-Z0-9_-]+$: ä"},
		{[]protocol.DynamicToolSpec{namespace("n.", "a")}, "dynamic tool namespace must match ^[a-zA-Z0-9_-]+$: n."},
		{[]protocol.DynamicToolSpec{namespace("n", "a.b")}, "dynamic tool name must match ^[a-zA-Z0-9_-]+$: a.b"},
		{[]protocol.DynamicToolSpec{function(long, `{}`)}, "dynamic tool name is longer than 64 characters: " + long},
		{
			[]protocol.DynamicToolSpec{namespace(long[:40], long[:40])},
			"dynamic tool name is longer than 64 characters: " + long[:40] + "__" + long[:40],
		},
		{
			[]protocol.DynamicToolSpec{function("a", `[]`)},
			"dynamic tool input schema is not supported for a: expected an object",
		},
		{
			[]protocol.DynamicToolSpec{function("a", `null`)},
			"dynamic tool input schema is not supported for a: expected an object",
		},
	} {
		err := toolspec.CheckDynamicTools(tt.specs, nil)
		if tt.want == "" {
			require.Nil(t, err)
			continue
		}
		require.NotNil(t, err, tt.want)
		require.Equal(t, tt.want, err.Message)
		require.Equal(t, "dynamicTools", err.Data.Field)
	}
}

// TestClientToolsCannotUseBuiltInNames: most providers reject two tools of one name.
func TestClientToolsCannotUseBuiltInNames(t *testing.T) {
	for _, name := range []string{"recall", "shell", "local_shell", "container_exec"} {
		err := toolspec.CheckDynamicTools([]protocol.DynamicToolSpec{function(name, `{}`)}, []string{"recall"})
		if name == "container_exec" {
			require.Nil(t, err)
			continue
		}
		require.NotNil(t, err, name)
		require.Equal(t, "dynamic tool name is that of a built-in tool: "+name, err.Message)
	}
}

func TestClientToolsJoinNamespaces(t *testing.T) {
	tools := toolspec.ClientTools([]protocol.DynamicToolSpec{function("a", `{}`), namespace("n", "b")})
	require.Len(t, tools, 2)
	require.Equal(t, "a", tools[0].Name)
	require.Nil(t, tools[0].Namespace)
	require.Equal(t, "n__b", tools[1].Name)
	require.Equal(t, "n", *tools[1].Namespace)
	require.Equal(t, "b", tools[1].Tool)
}

func TestClientOutput(t *testing.T) {
	text := func(s string) protocol.DynamicToolContent {
		return protocol.DynamicToolContent{DynamicToolContentVariant: &protocol.DynamicToolText{Text: s}}
	}
	const gif = "data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAUQAOw=="
	image := protocol.DynamicToolContent{DynamicToolContentVariant: &protocol.DynamicToolImage{ImageURL: gif}}

	texts := []protocol.DynamicToolContent{text("a"), text("b")}
	require.Equal(t, protocol.ToolOutput{Text: "a\nb"}, toolspec.ClientOutput(texts))
	require.Equal(t, protocol.ToolOutput{}, toolspec.ClientOutput(nil))

	mixed := toolspec.ClientOutput([]protocol.DynamicToolContent{text("a"), image})
	require.Len(t, mixed.Parts, 2)
	require.Equal(t, gif, mixed.Parts[1].ImageURL)
	broken := &protocol.DynamicToolImage{ImageURL: "data:image/png;base64,AAAA"}
	left := toolspec.ClientOutput([]protocol.DynamicToolContent{{DynamicToolContentVariant: broken}})
	require.Equal(t, "[an image is left out: not an image that models read: expected PNG, JPEG, GIF or WebP]", left.Text)

	long := toolspec.ClientOutput([]protocol.DynamicToolContent{text(strings.Repeat("x", 2*toolspec.MaxOutput)), image})
	require.Less(t, len(toolspec.LimitOutput(long, toolspec.MaxOutput).Parts[0].Text), toolspec.MaxOutput+100)
}
