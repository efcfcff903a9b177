package history_test

import (
	"fmt"

	"appserver/core/pure/history"
	"appserver/protocol"
)

// appendLines applies lines of a rollout, as a thread does.
func appendLines(h *history.History, lines ...protocol.RolloutLine) {
	for _, line := range lines {
		l := history.Line{RolloutLine: line, Ordinal: *line.Ordinal, TurnID: "turn-1"}
		switch line.Type {
		case protocol.LineResponseItem:
			h.Add(&l)
		case protocol.LineContextEdit:
			h.ApplyEdit(&l)
		case protocol.LineTrimPoint:
			h.ApplyTrimPoint(&l)
		case protocol.LineCompacted:
			h.ApplyCompacted(&l)
		}
	}
}

// newLine returns the line of a payload.
func newLine(ordinal int64, kind string, payload any) protocol.RolloutLine {
	raw, err := protocol.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return protocol.RolloutLine{Ordinal: &ordinal, Timestamp: "2026-01-02T03:04:05.000Z", Type: kind, Payload: raw}
}

func item(ordinal int64, v protocol.ResponseItemVariant) protocol.RolloutLine {
	return newLine(ordinal, protocol.LineResponseItem, protocol.ResponseItem{ResponseItemVariant: v})
}

// conversation returns a question, a call of a tool with its output, and an answer.
func conversation() *history.History {
	h := &history.History{}
	appendLines(
		h,
		item(1, history.UserMessage("Why does the build fail?")),
		item(2, &protocol.FunctionCall{Name: "shell", CallID: "call-1", Arguments: `{"command":["make"]}`}),
		item(3, &protocol.FunctionCallOutput{CallID: "call-1", Output: protocol.ToolOutput{Text: "main.go:3: undefined: x"}}),
		item(
			4,
			&protocol.Message{
				Role:    protocol.RoleAssistant,
				Content: []protocol.ContentItem{{Type: "output_text", Text: "x is not defined."}},
			},
		),
	)
	return h
}

func printPrompt(h *history.History) {
	for _, item := range h.Prompt() {
		fmt.Printf("%s\n", history.ContentText(item))
	}
}

// edit applies an operation of a client and returns its line.
func edit(h *history.History, ordinal int64, operation protocol.ContextOperationVariant) protocol.RolloutLine {
	plan, err := h.Plan(operation, nil)
	if err != nil {
		panic(err.Message)
	}
	line := newLine(ordinal, protocol.LineContextEdit, h.Encode(plan))
	appendLines(h, line)
	return line
}

// A client excludes the output of a tool. The call stays, so the prompt has a placeholder.
func Example() {
	h := conversation()
	edit(h, 5, &protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{"r3"}}})
	printPrompt(h)
	// Output:
	// Why does the build fail?
	// shell {"command":["make"]}
	// [output excluded from context: 10 tokens]
	// x is not defined.
}

// An undo is an edit as well: it has a line and a revision.
func ExampleHistory_Undoable() {
	h := conversation()
	edit(h, 5, &protocol.PruneByIndices{ContextTargets: protocol.ContextTargets{Indices: []int64{1}}})
	printPrompt(h)
	fmt.Println("undo", h.Undoable().Op)
	appendLines(
		h,
		newLine(
			6,
			protocol.LineContextEdit,
			protocol.StoredContextEdit{Op: protocol.EditUndo, Target: h.Undoable().Ordinal()},
		),
	)
	fmt.Println(len(h.Prompt()), "items, revision", h.Revision())
	// Output:
	// Why does the build fail?
	// x is not defined.
	// undo delete
	// 4 items, revision 2
}

// A preview changes nothing.
func ExampleHistory_Preview() {
	h := conversation()
	exclude := protocol.ContextOperation{ContextOperationVariant: &protocol.SetInclusion{
		ContextTargets: protocol.ContextTargets{IDs: []string{"r1"}}}}
	usage := func() protocol.ContextUsage { return h.Usage(history.Tokens{}) }
	answer, _ := h.Preview([]protocol.ContextOperation{exclude}, nil, usage)
	fmt.Println(answer.Before.IncludedTokens > answer.After.IncludedTokens, h.InPrompt(0))
	fmt.Println(answer.Warnings[0])
	// Output:
	// true true
	// messages of the user would be left out: 1 item
}

// A trim point hides what is before it. Its summary is the first item of the prompt.
func ExampleHistory_ApplyTrimPoint() {
	h := conversation()
	summary := "The build fails."
	appendLines(
		h,
		newLine(5, protocol.LineTrimPoint, protocol.StoredTrimPoint{ID: "p-1", KeepFrom: "r4", Summary: &summary}),
	)
	fmt.Println(h.Item(0).Hidden(), len(h.TrimPoints()))
	printPrompt(h)
	// Output:
	// true 1
	// Summary of the earlier conversation, which is not in the context any more:
	//
	// The build fails.
	// x is not defined.
}

// NotSent gives the reason why an item is not in the prompt.
func ExampleHistory_NotSent() {
	h := conversation()
	edit(h, 5, &protocol.SetInclusion{ContextTargets: protocol.ContextTargets{IDs: []string{"r2"}}})
	fmt.Println(h.NotSent(1), h.NotSent(2))
	// Output: excluded callNotSent
}

// A reader that ignores edits gets other lines, so that its model receives the same prompt.
func ExampleHistory_Projection() {
	h := conversation()
	edit(h, 5, &protocol.Replace{ID: new("r3"), Text: "one error"})
	project := h.Projection()
	line, keep := project(item(3, &protocol.FunctionCallOutput{CallID: "call-1"}))
	fmt.Println(keep, string(line.Payload))
	// Output: true {"type":"function_call_output","call_id":"call-1","output":"one error"}
}
