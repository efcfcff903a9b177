package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/core"
	"appserver/test/sample"
)

func TestNamesEqualTheReference(t *testing.T) {
	for _, c := range []struct{ server, tool, want string }{
		{"docs", "look", "mcp__docs__look"},
		{"my-docs", "look.up", "mcp__my_docs__look_up"},
		{"größe", "日本", "mcp__gr__e____"},
		{"a b", "", "mcp__a_b__"},
		{"", "x\x00y", "mcp____x_y"},
	} {
		require.Equal(t, c.want, namer{}.name(c.server, c.tool))
	}
}

// The first tool keeps the name. Each other tool gets its own hash.
func TestNamesInUseGetAHash(t *testing.T) {
	n := namer{}
	first, second, third := n.name("s", "a.b"), n.name("s", "a_b"), n.name("s", "a-b")
	require.Equal(t, "mcp__s__a_b", first)
	require.Regexp(t, "^mcp__s__a_b_[0-9a-f]{12}$", second)
	require.Regexp(t, "^mcp__s__a_b_[0-9a-f]{12}$", third)
	require.NotEqual(t, second, third)
	require.Equal(t, second, func() string { m := namer{"mcp__s__a_b": true}; return m.name("s", "a_b") }(),
		"the hash depends on the names only")
}

func TestNamesFitTheLimitOfProviders(t *testing.T) {
	fits := strings.Repeat("x", maxName-len("mcp__s__"))
	require.Equal(t, "mcp__s__"+fits, namer{}.name("s", fits))
	over := namer{}.name("s", fits+"y")
	require.Len(t, over, maxName)
	require.NotEqual(t, over, namer{}.name("s", fits+"z"), "truncated names differ by the hash")
}

// Any names of servers and tools give valid and different names.
func TestNamesAreValidAndUnique(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		n, seen := namer{}, map[string]bool{}
		words := rapid.OneOf(rapid.StringN(0, 80, -1), rapid.StringMatching(`[ab._-]{0,3}`))
		pairs := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) [2]string {
			return [2]string{words.Draw(t, "server"), words.Draw(t, "tool")}
		}), 1, 30, rapid.ID).Draw(t, "pairs")
		for _, p := range pairs {
			name := n.name(p[0], p[1])
			if len(name) > maxName ||
				strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" || seen[name] {
				t.Fatalf("%q of %q", name, p)
			}
			seen[name] = true
		}
	})
}

func TestOnlyEnabledToolsAreOffered(t *testing.T) {
	for _, c := range []struct {
		enabled, disabled, want []string
	}{
		{nil, nil, []string{"a", "b", "c"}},
		{[]string{"a", "c", "gone"}, nil, []string{"a", "c"}},
		{nil, []string{"b", "gone"}, []string{"a", "c"}},
		{[]string{"a", "b"}, []string{"b"}, []string{"a"}},
		{[]string{}, nil, nil},
	} {
		s := &server{def: Definition{Name: "s", Enabled: c.enabled, Disabled: c.disabled},
			tools: []listed{{Tool: &sdk.Tool{Name: "c"}}, {Tool: &sdk.Tool{Name: "a"}}, {Tool: &sdk.Tool{Name: "b"}}}}
		var got []string
		for _, tool := range s.offered(namer{}) {
			got = append(got, tool.Tool)
		}
		require.Equal(t, c.want, got, "enabled %q, disabled %q", c.enabled, c.disabled)
	}
}

// TestToolsThatCannotBeDecodedAreCleaned: one of them would be the loss of all tools of its server.
func TestToolsThatCannotBeDecodedAreCleaned(t *testing.T) {
	for in, want := range map[string]string{
		`{"content":[],"x":"tools"}`:                                   `{"content":[],"x":"tools"}`,
		`{"tools":[{"name":"a"}],"_meta":{"m":1}}`:                     `{"tools":[{"name":"a"}],"_meta":{"m":1}}`,
		`{"tools":[{"name":"a","title":"T"},{"name":"b","title":1}]}`:  `{"tools":[{"name":"a","title":"T"},{"name":"b","description":""}]}`,
		`{"tools":[{"name":"a","description":{"en":"x"}}]}`:            `{"tools":[{"name":"a","description":""}]}`,
		`{"tools":[{"name":"a","annotations":[],"inputSchema":true}]}`: `{"tools":[{"name":"a","description":"","inputSchema":true}]}`,
		`{"tools":[7,"x",{"name":5}],"nextCursor":"2"}`:                `{"tools":[{"name":""},{"name":""},{"name":"","description":""}],"nextCursor":"2"}`,
		`{"tools":[{"name":"a"}],"nextCursor":2}`:                      `{"tools":[{"name":"a"}]}`,
		`{"tools":{"a":{}}}`:                                           `{"tools":{"a":{}}}`,
	} {
		require.JSONEq(t, want, string(cleanTools(json.RawMessage(in))), in)
	}
}

// given returns a result of a server, within the limits.
func given(t *testing.T, result any) *core.ServerToolResult {
	raw, err := json.Marshal(result)
	require.NoError(t, err)
	var r sdk.CallToolResult
	require.NoError(t, json.Unmarshal(carry(raw), &r))
	out := resultOf(&r)
	limit(out)
	return out
}

func TestLongBlocksAreTruncated(t *testing.T) {
	long := strings.Repeat("ä", maxResult)
	r := given(t, &sdk.CallToolResult{Content: []sdk.Content{
		&sdk.TextContent{Text: "first"}, &sdk.ImageContent{Data: make([]byte, maxResult), MIMEType: "image/png"},
		&sdk.TextContent{Text: long}, &sdk.TextContent{Text: "last"},
	}})
	require.JSONEq(t, `{"type":"text","text":"first"}`, string(r.Content[0]))
	require.Contains(t, string(r.Content[1]), "bytes omitted: a result has at most 1048576")
	require.Contains(t, string(r.Content[2]), "bytes cut ...")
	total := 0
	for _, block := range r.Content {
		require.True(t, json.Valid(block))
		total += len(block)
	}
	require.Less(t, total, maxResult+1000)
	require.NotContains(t, string(r.Content[2]), "\ufffd", "no character is split")
}

// Truncated JSON would be invalid.
func TestLongMetaAndStructureAreDropped(t *testing.T) {
	small := given(t, &sdk.CallToolResult{StructuredContent: []any{1, "a"}, Meta: sdk.Meta{"k": "v"}, IsError: true})
	require.JSONEq(t, `[1,"a"]`, string(small.Structured))
	require.JSONEq(t, `{"k":"v"}`, string(small.Meta))
	require.True(t, small.Failed)
	require.NotNil(t, small.Content, "clients expect a list")
	big := given(t, &sdk.CallToolResult{StructuredContent: strings.Repeat("x", maxResult),
		Meta: sdk.Meta{"k": strings.Repeat("x", maxResult)}})
	require.Nil(t, big.Structured)
	require.Nil(t, big.Meta)
	require.Equal(t, &core.ServerToolResult{Content: []json.RawMessage{}}, given(t, map[string]any{}))
}

// TestResultsStayAsWritten: large numbers, the order of members, unknown blocks, and results that are no lists.
func TestResultsStayAsWritten(t *testing.T) {
	r := given(t, json.RawMessage(`{"content":[{"type":"newblock","z":12345678901234567890,"a":1},{"type":"image","data":"%%%"},null,"t"],
		"structuredContent":{"n":12345678901234567890},"isError":false}`))
	require.Equal(t, `{"type":"newblock","z":12345678901234567890,"a":1}`, string(r.Content[0]))
	require.Equal(t, `{"type":"image","data":"%%%"}`, string(r.Content[1]))
	require.JSONEq(t, `{"type":"text","text":"null"}`, string(r.Content[2]))
	require.JSONEq(t, `{"type":"text","text":"t"}`, string(r.Content[3]))
	require.Equal(t, `{"n":12345678901234567890}`, string(r.Structured))
	require.True(t, r.FailedWritten)
	require.False(t, r.Failed)
	require.JSONEq(t, `{"type":"text","text":"whole"}`, string(given(t, json.RawMessage(`{"content":"whole"}`)).Content[0]))
	require.JSONEq(t, `{"type":"x"}`, string(given(t, json.RawMessage(`{"content":{"type":"x"}}`)).Content[0]))
	require.Empty(t, given(t, json.RawMessage(`{"content":null,"structuredContent":null}`)).Content)
}

// A question without a mode is a form. A question with a URL has no schema.
func TestQuestionsAreFormsOrURLs(t *testing.T) {
	form := questionOf(1, "s",
		&sdk.ElicitParams{Message: "Name?", RequestedSchema: map[string]any{"type": "object"}, Meta: sdk.Meta{"a": 1}})
	require.Equal(t, "form", form.Mode)
	require.JSONEq(t, `{"type":"object","properties":{}}`, string(form.Schema))
	require.JSONEq(t, `{"a":1}`, string(form.Meta))
	url := questionOf(2, "s", &sdk.ElicitParams{Mode: "url", Message: "Log in", URL: "https://x/", ElicitationID: "e"})
	require.Equal(t, core.ServerQuestion{Question: 2, Server: "s", Mode: "url", Message: "Log in", URL: "https://x/",
		ElicitationID: "e"}, url)
}

// Members that the protocol does not define are removed, and required ones are added.
func TestFormsHaveOnlyDefinedMembers(t *testing.T) {
	for given, want := range map[string]string{
		`null`: `{"type":"object","properties":{}}`,
		`5`:    `{"type":"object","properties":{}}`,
		`{"properties":[],"required":null,"additionalProperties":false}`:                                                                                                 `{"type":"object","properties":{}}`,
		`{"$schema":"s","type":"object","title":"T","required":["n"],"properties":{"n":{"type":"string","pattern":"a","minLength":1,"default":null},"x":true}}`:          `{"$schema":"s","type":"object","required":["n"],"properties":{"n":{"type":"string","minLength":1}}}`,
		`{"type":"object","properties":{"c":{"type":"string","enum":["a"],"enumNames":["A"]},"m":{"type":"array","items":{"enum":["a"],"type":"string"},"minItems":1}}}`: `{"type":"object","properties":{"c":{"type":"string","enum":["a"],"enumNames":["A"]},"m":{"type":"array","items":{"enum":["a"],"type":"string"},"minItems":1}}}`,
	} {
		var schema any
		require.NoError(t, json.Unmarshal([]byte(given), &schema))
		require.JSONEq(t, want, string(formSchema(schema)), given)
	}
}
