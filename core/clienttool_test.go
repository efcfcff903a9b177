package core_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/pure/compaction"
	"appserver/protocol"
)

func function(name, schema string) protocol.DynamicToolSpec {
	return protocol.DynamicToolSpec{Type: "function", Name: name, Description: "d", InputSchema: json.RawMessage(schema)}
}

func namespace(name string, tools ...string) protocol.DynamicToolSpec {
	s := protocol.DynamicToolSpec{Type: "namespace", Name: name}
	for _, tool := range tools {
		s.Tools = append(s.Tools,
			protocol.DynamicToolFunction{Type: "function", Name: tool, InputSchema: json.RawMessage(`{}`)})
	}
	return s
}

func TestSkillsTextIsBounded(t *testing.T) {
	require.Empty(t, core.SkillsText(nil))
	one := core.SkillsText([]core.Skill{{Name: "a", Description: "Does a.", Path: "/a/SKILL.md"}})
	require.True(t, strings.HasSuffix(one, "\n- a: Does a. (/a/SKILL.md)"), one)

	wide := core.SkillsText([]core.Skill{{Name: "a", Description: strings.Repeat("ä", 1000), Path: "/a/SKILL.md"}})
	require.True(t, utf8.ValidString(wide))
	require.True(t, strings.HasSuffix(wide, "ä… (/a/SKILL.md)"))

	var many []core.Skill
	for i := range 500 {
		many = append(many, core.Skill{Name: fmt.Sprint("s", i), Description: strings.Repeat("x", 300), Path: "/s/SKILL.md"})
	}
	text := core.SkillsText(many)
	require.Less(t, len(text), 17<<10)
	require.Contains(t, text, "- s0: ")
	require.True(t, strings.HasSuffix(text, "\n- More skills exist and are not listed."))
}

// TestClientToolsArePricedAndSent checks that the price covers the tools of the next request, also
// if the thread is only read.
func TestClientToolsArePricedAndSent(t *testing.T) {
	const bare, tooled = "start\nturn-start \"a\"\nsample-done",
		"start tools=`[{\"name\":\"ticket\",\"description\":\"Fetches a ticket by its number, with all that was said about it\",\"inputSchema\":{\"type\":\"object\"}}]`\nturn-start \"a\"\nsample-done"
	tokens := func(script string) int64 {
		m := newMachine(t.Errorf)
		for _, line := range strings.Split(script, "\n") {
			require.NoError(t, runCommand(m, line, new(strings.Builder)))
		}
		_, n := m.thread.NextPrompt(m.world)
		return n
	}
	require.Greater(t, tokens(tooled), tokens(bare)+10)
}

// TestClientToolOutputIsBounded checks that the model gets head and tail, for any number of parts.
// Clients get everything.
func TestClientToolOutputIsBounded(t *testing.T) {
	for name, parts := range map[string]int{"one part": 1, "many parts": 100} {
		t.Run(name, func(t *testing.T) {
			var texts []string
			for range parts {
				texts = append(texts, `{"type":"inputText","text":"`+strings.Repeat("ä", 500_000/parts)+`"}`)
			}
			texts[0] = strings.Replace(texts[0], `"text":"`, `"text":"first `, 1)
			texts[parts-1] = strings.TrimSuffix(texts[parts-1], `"}`) + ` last"}`
			m := newMachine(t.Errorf)
			for _, line := range []string{"start tools=`[{\"name\":\"ticket\",\"description\":\"\",\"inputSchema\":{}}]`",
				`turn-start "a"`, "sample-done call=`c:ticket:{}`"} {
				require.NoError(t, runCommand(m, line, new(strings.Builder)))
			}
			m.take(core.ClientAnswer{Request: m.thread.OpenRequests()[0],
				Result: json.RawMessage(`{"contentItems":[` + strings.Join(texts, ",") + `],"success":true}`)})
			items := m.thread.Prompt().Items
			output := items[len(items)-1].ResponseItemVariant.(*protocol.FunctionCallOutput).Output.Text
			require.Less(t, len(output), 41_000)
			require.True(t, utf8.ValidString(output))
			require.True(t, strings.HasPrefix(output, "first ä"))
			require.True(t, strings.HasSuffix(output, "ä last"))
			require.Contains(t, output, "bytes cut")
			require.Greater(t, len(encode(m.thread.View(true))), 1_000_000)
		})
	}
}

// TestManyPartsAreJoinedOnce uses as many parts as a line can hold.
func TestManyPartsAreJoinedOnce(t *testing.T) {
	m := newMachine(t.Errorf)
	for _, line := range []string{"start tools=`[{\"name\":\"ticket\",\"description\":\"\",\"inputSchema\":{}}]`",
		`turn-start "a"`, "sample-done call=`c:ticket:{}`"} {
		require.NoError(t, runCommand(m, line, new(strings.Builder)))
	}
	const parts, each = 50_000, 10 << 10 // bytes
	text := `{"type":"inputText","text":"a"}`
	answer := core.ClientAnswer{Request: m.thread.OpenRequests()[0],
		Result: json.RawMessage(`{"contentItems":[` + strings.Repeat(text+",", parts-1) + text + `],"success":true}`)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m.thread.Step(m.stamp(), answer)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(parts*each))
}

// TestServerToolOutputIsBounded checks parts of all kinds, and the note about parts that are left
// out.
func TestServerToolOutputIsBounded(t *testing.T) {
	for _, tt := range []struct {
		block string
		count int
	}{
		{`{"type":"text","text":"` + strings.Repeat("a", 40_000) + `"}`, 2},
		{`{"type":"image","mimeType":"image/png","data":"YQ=="}`, 20_000},
		{`{"type":"text","text":""}`, 40_000}, {`{"type":"resource_link"}`, 40_000},
	} {
		m := newMachine(t.Errorf)
		m.world.Tools = []core.ServerTool{{Spec: core.ToolSpec{Name: "mcp__s__t"}, Server: "s", Tool: "t",
			Namespace: "mcp__s", Approval: "approve"}}
		for _, line := range []string{"start", `turn-start "a"`, "sample-done call=`c:mcp__s__t:{}`"} {
			require.NoError(t, runCommand(m, line, new(strings.Builder)))
		}
		m.thread.Step(m.stamp(),
			core.ToolCalled{Effect: last[core.CallTool](m),
				Result: &core.ServerToolResult{Content: slices.Repeat([]json.RawMessage{json.RawMessage(tt.block)}, tt.count)}})
		items := m.thread.Prompt().Items
		parts := items[len(items)-1].ResponseItemVariant.(*protocol.FunctionCallOutput).Output.Parts
		size := 0
		for _, part := range parts {
			size += len(part.Text)
		}
		require.Less(t, size, 41_000, "%.50s", tt.block)
		require.Less(t, len(parts), 3_000, "%.50s", tt.block)
		require.True(t, strings.HasSuffix(parts[len(parts)-1].Text, "more parts of the result are left out]"), "%.50s",
			tt.block)
	}
}

// TestDurationIsNotNegative sets the clock back. Other programs reject a line with a negative
// duration.
func TestDurationIsNotNegative(t *testing.T) {
	m := newMachine(t.Errorf)
	for _, line := range []string{"start tools=`[{\"name\":\"ticket\",\"description\":\"\",\"inputSchema\":{}}]`",
		`turn-start "a"`, "sample-done call=`c:ticket:{}`", "advance -1h"} {
		require.NoError(t, runCommand(m, line, new(strings.Builder)))
	}
	out := m.take(core.ClientAnswer{Request: m.thread.OpenRequests()[0],
		Result: json.RawMessage(`{"contentItems":[],"success":true}`)})
	require.Contains(t, string(out.Lines[0].Payload), `"duration":{"secs":0,"nanos":0}`)
}

// TestItemsOfDeepArgumentsAreCompleted checks that an item that began is completed, and that its lines can be read
// again, for arguments of any depth.
func TestItemsOfDeepArgumentsAreCompleted(t *testing.T) {
	for _, depth := range []int{100, 9_900, 9_901, 9_999, 10_000, 10_001, 16 << 20} {
		if depth > 1<<20 && testing.Short() {
			continue
		}
		for _, tool := range []string{"ticket", "mcp__s__t"} {
			m := newMachine(t.Errorf)
			m.world.Provider.ContextWindow, m.world.Compaction = nil, compaction.Rules{}
			m.world.Tools = []core.ServerTool{{Spec: core.ToolSpec{Name: "mcp__s__t"}, Server: "s", Tool: "t",
				Namespace: "mcp__s", Approval: "approve"}}
			for _, line := range []string{"start tools=`[{\"name\":\"ticket\",\"description\":\"\",\"inputSchema\":{}}]`",
				`turn-start "a"`} {
				require.NoError(t, runCommand(m, line, new(strings.Builder)))
			}
			arguments := `{"a":` + strings.Repeat("[", depth-1) + strings.Repeat("]", depth-1) + "}"
			m.take(core.ModelDone{Effect: last[core.ModelRequest](m),
				Answer: core.Answer{Calls: []core.ToolCall{{ID: "c", Name: tool, Arguments: arguments}}}})
			asked := m.thread.OpenRequests()
			require.Equal(t, depth <= 9_900, len(asked) > 0 || last[core.CallTool](m) != 0, "%s %d", tool, depth)
			if len(asked) > 0 {
				m.take(core.ClientAnswer{Request: asked[0], Result: json.RawMessage(`{"contentItems":[],"success":true}`)})
			} else if call := last[core.CallTool](m); call != 0 {
				m.take(core.ToolCalled{Effect: call, Result: &core.ServerToolResult{}})
			}
			require.NotZero(t, last[core.ModelRequest](m), "%s %d", tool, depth)
		}
	}
}
