package chat_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"appserver/core"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/test/sample"
)

// genHistory draws a history as the machine builds it: runs of calls followed by
// their outputs, and messages between the runs.
func genHistory(t *rapid.T) []protocol.ResponseItem {
	var history []protocol.ResponseItem
	calls := 0
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		text := rapid.SampledFrom([]string{"", "a", "b\nc"}).Draw(t, "text")
		switch rapid.SampledFrom([]string{"user", "assistant", "developer", "reasoning", "calls"}).Draw(t, "kind") {
		case "user":
			history = append(history, modeltest.Items(genUserMessage(t, text))...)
		case "assistant":
			history = append(history, modeltest.Items(modeltest.Say(protocol.RoleAssistant, text))...)
		case "developer":
			history = append(history, modeltest.Items(modeltest.Say(protocol.RoleDeveloper, text))...)
		case "reasoning":
			history = append(history, modeltest.Items(&protocol.Reasoning{})...)
		case "calls":
			history = append(history, genCalls(t, &calls, text)...)
		}
	}
	return history
}

func genUserMessage(t *rapid.T, text string) *protocol.Message {
	m := modeltest.Say(protocol.RoleUser, text)
	if rapid.Bool().Draw(t, "image") {
		m.Content = append(m.Content, protocol.ContentItem{Type: protocol.ContentInputImage, ImageURL: "data:x"})
	}
	return m
}

func genCalls(t *rapid.T, calls *int, text string) []protocol.ResponseItem {
	var run, outputs []protocol.ResponseItem
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		*calls++
		id := fmt.Sprint("c", *calls)
		run = append(run, modeltest.Items(&protocol.FunctionCall{CallID: id, Name: "f", Arguments: text})...)
		out := protocol.ToolOutput{Text: text}
		if rapid.Bool().Draw(t, "image") {
			out = protocol.ToolOutput{Parts: []protocol.ContentItem{{Type: protocol.ContentInputImage, ImageURL: "data:x"}}}
		}
		outputs = append(outputs, modeltest.Items(&protocol.FunctionCallOutput{CallID: id, Output: out})...)
	}
	return append(run, outputs...)
}

// TestHistoriesBecomeLegalRequests checks what Chat Completions demands: every
// message has content or calls, and each run of calls is followed by exactly its
// outputs before anything else.
func TestHistoriesBecomeLegalRequests(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		history := genHistory(t)
		var open []string
		images := 0
		for _, m := range chat.Messages(&core.Prompt{Items: history}) {
			require.True(t, m.Content.Text != "" || len(m.Content.Parts) > 0 || len(m.ToolCalls) > 0)
			if m.Role == "tool" {
				require.Contains(t, open, m.ToolCallID)
				open = open[1:]
			} else {
				require.Empty(t, open, "calls without outputs before a message of role %s", m.Role)
			}
			for _, c := range m.ToolCalls {
				require.Equal(t, protocol.RoleAssistant, m.Role)
				require.True(t, json.Valid([]byte(c.Function.Arguments)))
				open = append(open, c.ID)
			}
			images += len(m.Content.Parts)
		}
		require.Empty(t, open)
		require.GreaterOrEqual(t, images, countImages(history), "no image is lost")
	})
}

func countImages(history []protocol.ResponseItem) int {
	b, err := json.Marshal(history)
	if err != nil {
		return -1
	}
	return strings.Count(string(b), `"image_url"`)
}

// TestAnswersSurviveAnyFragmentation streams calls cut into fragments, in the
// styles in which providers name them, and in any order between the calls.
func TestAnswersSurviveAnyFragmentation(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		style := rapid.SampledFrom([]string{"index", "id", "both"}).Draw(t, "style")
		n := rapid.IntRange(1, 4).Draw(t, "calls")
		want := make([]core.ToolCall, n)
		rest := make([]string, n)
		var stream strings.Builder
		for i := range n {
			value := rapid.StringMatching(`[a-z"{}\\é ]{0,12}`).Draw(t, "value")
			arguments, err := json.Marshal(map[string]string{"v": value})
			require.NoError(t, err)
			want[i] = core.ToolCall{ID: fmt.Sprint("id", i), Name: "f", Arguments: string(arguments)}
			rest[i] = want[i].Arguments
			stream.WriteString(callEvent(genFragment(t, style, i, "f", "")))
		}
		for open := n; open > 0; {
			i := rapid.IntRange(0, n-1).Draw(t, "call")
			if rest[i] == "" {
				continue
			}
			runes := []rune(rest[i])
			cut := rapid.IntRange(1, len(runes)).Draw(t, "cut")
			stream.WriteString(callEvent(genFragment(t, style, i, "", string(runes[:cut]))))
			if rest[i] = string(runes[cut:]); rest[i] == "" {
				open--
			}
		}
		_, answer, err := modeltest.Ask(t.Context(), memoryProvider(stream.String()+stop+done), modeltest.UserSays("hi"))
		require.NoError(t, err)
		require.Equal(t, want, answer.Calls)
	})
}

// genFragment names call i by its index, its id or both; the first fragment always
// has the id.
func genFragment(t *rapid.T, style string, i int, name, arguments string) string {
	fragment := map[string]any{"function": map[string]any{"arguments": arguments}}
	if name != "" {
		fragment["function"] = map[string]any{"name": name, "arguments": arguments}
	}
	if style != "id" {
		fragment["index"] = i
	}
	if style != "index" || name != "" {
		fragment["id"] = fmt.Sprint("id", i)
	}
	b, err := json.Marshal(fragment)
	require.NoError(t, err)
	return string(b)
}

// TestAMessageIsWrittenAsMarshalWritesIt compares the messages of random histories and texts, byte for byte.
func TestAMessageIsWrittenAsMarshalWritesIt(t *testing.T) {
	t.Parallel()
	sample.Check(t, func(t *rapid.T) {
		p := &core.Prompt{Model: "m", Instructions: rapid.String().Draw(t, "instructions"), Items: genHistory(t)}
		odd := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + "<&>\u2028\"\\ud800"
		p.Items = append(p.Items, modeltest.Items(modeltest.Say(protocol.RoleUser, odd),
			&protocol.FunctionCall{CallID: odd, Name: odd, Arguments: odd},
			&protocol.FunctionCallOutput{CallID: odd, Output: protocol.ToolOutput{Text: odd}})...)
		rendered, err := chat.Render(p)
		require.NoError(t, err)
		messages := chat.Messages(p)
		require.Len(t, rendered.Messages, len(messages))
		for i, m := range messages {
			want, err := protocol.Marshal(m)
			require.NoError(t, err)
			require.Equal(t, string(want), string(rendered.Messages[i]))
		}
	})
}
