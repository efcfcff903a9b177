package responses

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/protocol"
)

// FuzzEvents gives arbitrary lines as the events of an answer to what reads them.
func FuzzEvents(f *testing.F) {
	const (
		delta = `{"type":"response.output_text.delta","output_index":0,"delta":"a\ud800"}`
		whole = `{"type":"response.output_item.done","output_index":0,"item":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"b"},{"type":"refusal","refusal":"c"}]}}`
		end   = `{"type":"response.completed","response":{"usage":{"input_tokens":1},"output":[{"type":"function_call","call_id":"c","name":"f","arguments":"{"}]}}`
	)
	for _, events := range [][]string{
		{delta, whole, end}, {end, end}, {whole, whole, delta, end},
		{delta, strings.ReplaceAll(delta, `"output_index":0`, `"output_index":1`),
			strings.ReplaceAll(whole, `"output_index":0`, `"output_index":1`), end},
		{`{"type":"response.output_item.added","output_index":0}`, `{"type":"response.output_item.done","item":null}`,
			`{"type":"response.output_item.done","item":[7]}`, "null", "["},
		{`{"type":"response.reasoning_summary_part.added","summary_index":9}`,
			`{"type":"response.reasoning_summary_text.delta","summary_index":-1,"delta":"s"}`,
			`{"type":"response.reasoning_text.delta","delta":"r"}`,
			`{"type":"response.output_item.done","item":{"type":"reasoning","summary":[{"text":"s"}],"encrypted_content":"e"}}`,
			end},
		{`{"type":"response.output_item.done","item":{"type":"custom_tool_call","call_id":"c","name":"apply_patch","input":"` + "\xff" + `"}}`,
			`{"type":"response.output_item.done","item":{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["ls"]}}}`, end},
		{`{"type":"response.failed","response":{"error":{"code":7}}}`},
		{`{"type":"response.incomplete","response":{"incomplete_details":null}}`},
	} {
		f.Add([]byte(strings.Join(events, "\n")))
	}
	f.Fuzz(func(t *testing.T, lines []byte) {
		r := newReading(&core.Prompt{}, func(p core.Piece) { requirePiece(t, p) })
		for line := range strings.Lines(string(lines)) {
			if err := r.Add([]byte(line)); err != nil && !model.IsReported(err) {
				require.False(t, json.Valid([]byte(line)), err)
			}
		}
		answer, err := r.Answer()
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, c := range answer.Calls {
			require.NotEmpty(t, c.ID)
			require.False(t, ids[c.ID])
			ids[c.ID] = true
			requireText(t, protocol.ResponseItem{ResponseItemVariant: &protocol.FunctionCall{CallID: c.ID, Name: c.Name,
				Arguments: c.Arguments}})
		}
	})
}

// requirePiece wants a piece to have text that is UTF-8, or an item that can be written, unless it
// begins a part.
func requirePiece(t *testing.T, p core.Piece) {
	switch p.Kind {
	case core.PieceSummaryPart:
		require.Empty(t, p.Text)
	case core.PieceItem:
		requireText(t, *p.Item)
	default:
		require.NotEmpty(t, p.Text)
		require.True(t, utf8.ValidString(p.Text))
	}
}

// requireText wants what is written to be JSON in UTF-8.
func requireText(t *testing.T, v any) {
	b, err := protocol.Marshal(v)
	require.NoError(t, err)
	require.True(t, json.Valid(b) && utf8.Valid(b), "%q", b)
}
