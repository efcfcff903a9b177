package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

// usageLine draws a line that changes the usage: an item, an edit, or a compaction.
func usageLine(t *rapid.T, h *History) (kind string, payload any) {
	text := strings.Repeat("word ", rapid.IntRange(0, 9).Draw(t, "words"))
	call := fmt.Sprint("call-", rapid.IntRange(0, 5).Draw(t, "call"))
	var item protocol.ResponseItemVariant
	switch rapid.IntRange(0, 12).Draw(t, "line") {
	case 0:
		item = UserMessage(text)
	case 1:
		item = &protocol.Message{Role: protocol.RoleAssistant,
			Content: []protocol.ContentItem{{Type: protocol.ContentOutputText, Text: text}}}
	case 2:
		item = &protocol.FunctionCall{Name: "shell", CallID: call, Arguments: text}
	case 3:
		item = &protocol.FunctionCallOutput{CallID: call, Output: protocol.ToolOutput{Text: text}}
	case 4:
		item = &protocol.Reasoning{EncryptedContent: new(strings.Repeat("x", 2000)), Summary: []protocol.ReasoningText{}}
	case 5:
		c := protocol.Compacted{Message: text}
		if rapid.Bool().Draw(t, "encrypted") {
			c.ReplacementHistory = []json.RawMessage{fmt.Appendf(nil, `{"type":"compaction","encrypted_content":"%2000d"}`, 0)}
		}
		return protocol.LineCompacted, c
	case 6:
		if e := h.Undoable(); e != nil {
			return protocol.LineContextEdit, protocol.StoredContextEdit{Op: protocol.EditUndo, Target: e.Ordinal()}
		}
	case 7:
		if e := h.Redoable(); e != nil {
			return protocol.LineContextEdit, protocol.StoredContextEdit{Op: protocol.EditRedo, Target: e.Ordinal()}
		}
	default:
		return protocol.LineContextEdit, usageEdit(t, h)
	}
	if item == nil {
		item = UserMessage(text)
	}
	return protocol.LineResponseItem, protocol.ResponseItem{ResponseItemVariant: item}
}

func usageEdit(t *rapid.T, h *History) (e protocol.StoredContextEdit) {
	e.Op = rapid.SampledFrom([]string{protocol.EditExclude, protocol.EditInclude, protocol.EditDelete, protocol.EditPin,
		protocol.EditReplace, protocol.EditRestore}).Draw(t, "op")
	if e.Op == protocol.EditReplace {
		e.Text = new("another text")
	}
	e.Returns = e.Op == protocol.EditInclude && rapid.Bool().Draw(t, "returns")
	for place := range h.Len() {
		if rapid.IntRange(0, 4).Draw(t, "chosen") == 0 {
			e.IDs = append(e.IDs, h.Item(place).ID())
		}
	}
	return e
}

// TestTheUsageAfterLinesIsThatOfACountFromTheStart looks at the usage after some lines.
func TestTheUsageAfterLinesIsThatOfACountFromTheStart(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		h := &History{}
		h.SetModel(Model{"openai", "gpt-5"})
		h.SetResponses(rapid.Bool().Draw(t, "responses"))
		for ordinal := range int64(rapid.IntRange(1, 40).Draw(t, "lines")) {
			kind, payload := usageLine(t, h)
			raw, err := protocol.Marshal(payload)
			require.NoError(t, err)
			line := &Line{RolloutLine: protocol.RolloutLine{Type: kind, Payload: raw}, Ordinal: ordinal + 1}
			switch kind {
			case protocol.LineResponseItem:
				h.Add(line)
			case protocol.LineCompacted:
				h.ApplyCompacted(line)
			default:
				h.ApplyEdit(line)
			}
			h.ChooseForms()
			if rapid.Bool().Draw(t, "look") {
				require.Equal(t, h.clone().Usage(LatinTokens(100)), h.Usage(LatinTokens(100)))
			}
		}
	})
}
