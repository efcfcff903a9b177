package responses

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"appserver/core"
	"appserver/core/model"
	"appserver/protocol"
)

// reading puts an answer together from its events, and emits text as it comes.
type reading struct {
	prompt *core.Prompt
	emit   func(core.Piece)
	size   model.Size
	ids    model.CallIDs
	answer core.Answer
	messages
	think model.Think
	// searches is set if the request offered the search of the web.
	searches bool
	// thought is set once the reasoning under way had a delta.
	thought      bool
	summaryIndex int
	items        int // that are whole
	end          string
	reason       string // why the answer is incomplete
}

func newReading(p *core.Prompt, emit func(core.Piece)) *reading {
	r := &reading{prompt: p, emit: emit}
	r.think = model.Think{
		Text:      func(text string) { emit(core.Piece{Kind: core.PieceText, Text: text}) },
		Reasoning: func(text string) { emit(core.Piece{Kind: core.PieceReasoning, Text: text}) },
		Retract:   func() { emit(core.Piece{Kind: core.PieceThought}) },
	}
	return r
}

// Add takes one event. It fails if the event is not JSON, if the provider reports an error, and if
// the answer is too large.
func (r *reading) Add(raw []byte) error {
	e, err := decodeEvent(raw)
	if err != nil {
		return err
	}
	if err := r.size.Add(e.size()); err != nil {
		return err
	}
	switch e.Type {
	case eventText, eventRefusal:
		if r.takes(&e) {
			r.text(e.Delta)
		}
	case eventSummaryPart, eventSummaryText:
		r.summary(e.SummaryIndex, e.Delta)
	case eventReasoningText:
		r.reasoning(core.PieceReasoning, e.Delta)
	case eventItemAdded:
		r.begin(e.OutputIndex)
		r.native(e.Item)
	case eventItemDone:
		r.item(e.Item, e.OutputIndex)
	case eventFailed:
		return model.Reported(failure(e.Response.Error))
	case eventError:
		return model.Reported(raw)
	case eventCompleted, eventDone, eventIncomplete:
		r.finish(&e)
	}
	return nil
}

// failure is a document for an error that may be missing.
func failure(raw json.RawMessage) []byte {
	if !isSet(raw) {
		return []byte(`{"message":"the provider ended the answer with response.failed and gave no reason"}`)
	}
	return raw
}

func (r *reading) text(delta string) {
	if delta != "" {
		r.said, r.spoke = true, true
		r.think.Add(delta)
	}
}

func (r *reading) reasoning(kind core.PieceKind, delta string) {
	if delta != "" {
		r.thought = true
		r.think.Skip()
		r.emit(core.Piece{Kind: kind, Text: delta})
	}
}

// summary emits a delta of a summary, and the beginning of each further part before it.
func (r *reading) summary(index int, delta string) {
	if index > r.summaryIndex && r.thought {
		r.emit(core.Piece{Kind: core.PieceSummaryPart})
	}
	r.summaryIndex = max(index, r.summaryIndex)
	r.reasoning(core.PieceReasoningSummary, delta)
}

// native emits the beginning of an item that only this API knows, which the provider fills by itself.
func (r *reading) native(raw json.RawMessage) {
	var item protocol.ResponseItem
	if item.UnmarshalJSON(raw) != nil {
		return
	}
	if _, native := item.ResponseItemVariant.(*protocol.Unknown); native {
		r.emit(core.Piece{Kind: core.PieceItemBegun, Item: &item})
	}
}

// item takes an item that is whole. Text and reasoning that came without deltas are emitted first.
func (r *reading) item(raw json.RawMessage, index outputIndex) {
	var item protocol.ResponseItem
	if item.UnmarshalJSON(raw) != nil {
		return
	}
	r.items++
	switch i := item.ResponseItemVariant.(type) {
	case *protocol.Message:
		r.message(i, index)
	case *protocol.Reasoning:
		r.undelivered(i)
		r.whole(item)
		r.thought, r.summaryIndex = false, 0
	case *protocol.FunctionCall:
		r.call(core.ToolCall{ID: i.CallID, Name: i.FullName(), Arguments: i.Arguments})
	case *protocol.CustomToolCall:
		r.call(core.ToolCall{ID: i.CallID, Name: i.Name, Arguments: i.Input, Custom: true})
	case *protocol.LocalShellCall:
		r.call(core.ToolCall{ID: i.CallID, Name: "shell", Arguments: shellArguments(i)})
	default:
		r.whole(item)
	}
}

// undelivered emits reasoning that came without deltas.
func (r *reading) undelivered(i *protocol.Reasoning) {
	if r.thought {
		return
	}
	for n, part := range i.Summary {
		r.summary(n, part.Text)
	}
	for _, part := range i.Content {
		r.reasoning(core.PieceReasoning, part.Text)
	}
}

func (r *reading) whole(item protocol.ResponseItem) {
	r.emit(core.Piece{Kind: core.PieceItem, Item: &item})
}

func (r *reading) call(c core.ToolCall) {
	c.ID = r.ids.Claim(r.prompt, c.ID)
	r.answer.Calls = append(r.answer.Calls, c)
}

func shellArguments(c *protocol.LocalShellCall) string {
	b, err := protocol.Marshal(map[string]any{"command": c.Action.Command})
	if err != nil {
		return "{}"
	}
	return string(b)
}

// finish takes the end of the answer. A provider that sends no events for items has them here.
func (r *reading) finish(e *event) {
	r.flush()
	r.think.Close()
	if r.items == 0 && !r.spoke {
		for _, raw := range e.Response.Output {
			r.item(raw, outputIndex{})
		}
	}
	r.answer.Usage = e.Response.Usage.breakdown()
	r.end, r.reason = e.Type, e.Response.Details.Reason
}

// Done ignores the end marker of other APIs.
func (r *reading) Done() {}

// Progress is Complete after the event that ends the answer.
func (r *reading) Progress() model.Progress {
	if r.end == "" {
		return model.Underway
	}
	return model.Complete
}

// errNameless is an answer of a server that knows only functions: beside another tool, all its calls lack their names.
var errNameless = errors.New("its calls have no names")

// cutReasons are why a provider ends an answer that the model had not ended.
var cutReasons = map[string]string{
	"max_output_tokens": "the provider's limit of output tokens was reached",
	"content_filter":    "the provider's content filter stopped it",
}

// Answer ends the reading. An incomplete answer without any item is an error.
func (r *reading) Answer() (core.Answer, error) {
	if r.searches && slices.ContainsFunc(r.answer.Calls, func(c core.ToolCall) bool { return c.Name == "" }) {
		return core.Answer{}, model.Repeatable(errNameless)
	}
	if r.end != eventIncomplete {
		return r.answer, nil
	}
	why := cutReasons[r.reason]
	if why == "" {
		why = fmt.Sprintf("the provider ended it as incomplete (reason %q)", r.reason)
	}
	if r.items == 0 && !r.spoke {
		return core.Answer{}, model.Barren(errors.New(why))
	}
	r.answer.Cut = why
	return r.answer, nil
}
