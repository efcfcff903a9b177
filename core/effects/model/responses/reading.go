package responses

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/core/effects/model"
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
	items        int  // that are whole
	worded       bool // text was emitted that is not blank
	native       bool // an item of the provider's own is whole
	ended        bool
	called       map[[sha256.Size]byte]bool // the items of calls
	reason       string                     // why the answer is incomplete, or ""
}

func newReading(p *core.Prompt, emit func(core.Piece)) *reading {
	r := &reading{prompt: p, emit: emit}
	r.think = model.Think{
		Text: func(text string) {
			r.worded = r.worded || strings.TrimSpace(text) != ""
			emit(core.Piece{Kind: core.PieceText, Text: text})
		},
		Reasoning: func(text string) { emit(core.Piece{Kind: core.PieceReasoning, Text: text}) },
		Retract: func() {
			r.worded = false
			emit(core.Piece{Kind: core.PieceThought})
		},
	}
	return r
}

// Add processes one event. It fails if the event is not JSON, if the provider reports an error, and if
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
		r.beginNative(e.Item)
	case eventItemDone:
		r.item(e.Item, e.OutputIndex)
	case eventFailed:
		return model.Reported(failure(e.Response.Error))
	case eventError:
		return model.Reported(raw)
	case eventCompleted, eventDone, eventIncomplete, eventCancelled:
		return r.finish(&e)
	}
	return nil
}

// failure returns a document for an error that may be missing.
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

// beginNative emits the beginning of an item that only this API knows, which the provider fills by itself.
func (r *reading) beginNative(raw json.RawMessage) {
	var item protocol.ResponseItem
	if item.UnmarshalJSON(raw) != nil {
		return
	}
	if _, native := item.ResponseItemVariant.(*protocol.Unknown); native {
		r.emit(core.Piece{Kind: core.PieceItemBegun, Item: &item})
	}
}

// item processes a complete item. Text and reasoning that came without deltas are emitted first.
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
		if !r.again(item, i.CallID) {
			r.call(core.ToolCall{ID: i.CallID, Name: i.FullName(), Arguments: i.Arguments})
		}
	case *protocol.CustomToolCall:
		if !r.again(item, i.CallID) {
			r.call(core.ToolCall{ID: i.CallID, Name: i.Name, Arguments: i.Input, Custom: true})
		}
	case *protocol.LocalShellCall:
		r.call(core.ToolCall{ID: i.CallID, Name: "shell", Arguments: shellArguments(i)})
	default:
		r.native = true
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

// again reports whether an item is a call that the answer has: some gateways send a call twice. Other calls with the
// same id differ from it.
func (r *reading) again(item protocol.ResponseItem, callID string) bool {
	raw, err := protocol.Marshal(item)
	if err != nil || callID == "" {
		return false
	}
	key := sha256.Sum256(raw)
	if r.called[key] {
		return true
	}
	if r.called == nil {
		r.called = map[[sha256.Size]byte]bool{}
	}
	r.called[key] = true
	return false
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

// finish processes the end of the answer. A provider that sends no events for items has them here. Of a provider
// that sent text only, the other items count.
func (r *reading) finish(e *event) error {
	if e.Response.Status == statusFailed {
		return model.Reported(failure(e.Response.Error))
	}
	r.flush()
	r.think.Close()
	if r.items == 0 {
		for _, raw := range e.Response.Output {
			if !r.spoke || gjson.GetBytes(raw, "type").Str != "message" {
				r.item(raw, outputIndex{})
			}
		}
	}
	r.answer.Usage = e.Response.Usage.breakdown()
	r.ended, r.reason = true, e.endReason()
	return nil
}

// endReason returns why an answer is incomplete, or "". Some gateways end incomplete answers with
// response.completed, and name the state only.
func (e *event) endReason() string {
	state := cmp.Or(e.Response.Status, strings.TrimPrefix(e.Type, "response."))
	if state == statusIncomplete || e.Type == eventIncomplete {
		return cmp.Or(e.Response.Details.Reason, statusIncomplete)
	}
	if state == statusCancelled || e.Type == eventCancelled {
		return statusCancelled
	}
	return e.Response.Details.Reason
}

// Done ignores the end marker of other APIs.
func (r *reading) Done() {}

// Progress returns Complete after the event that ends the answer.
func (r *reading) Progress() model.Progress {
	if !r.ended {
		return model.Underway
	}
	return model.Complete
}

// errNameless is an answer of a server that knows only functions: beside another tool, all its calls lack their names.
var errNameless = errors.New("its calls have no names")

// Answer ends the reading.
func (r *reading) Answer() (core.Answer, error) {
	if r.searches && slices.ContainsFunc(r.answer.Calls, func(c core.ToolCall) bool { return c.Name == "" }) {
		return core.Answer{}, model.Repeatable(errNameless)
	}
	cut, err := model.Ending{Member: "reason", Reason: r.reason,
		Text: r.worded, Calls: len(r.answer.Calls) > 0, Items: r.native}.Judge()
	if err != nil {
		return core.Answer{}, err
	}
	r.answer.Cut = cut
	return r.answer, nil
}
