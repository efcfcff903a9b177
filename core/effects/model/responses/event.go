package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"appserver/core/effects/model"
	"appserver/protocol"
)

// The types of events that matter. Others are passed over: the item that is whole holds what they
// bring.
const (
	eventItemAdded     = "response.output_item.added"
	eventItemDone      = "response.output_item.done"
	eventText          = "response.output_text.delta"
	eventRefusal       = "response.refusal.delta"
	eventSummaryPart   = "response.reasoning_summary_part.added"
	eventSummaryText   = "response.reasoning_summary_text.delta"
	eventReasoningText = "response.reasoning_text.delta"
	eventCompleted     = "response.completed"
	eventDone          = "response.done"
	eventIncomplete    = "response.incomplete"
	eventCancelled     = "response.cancelled"
	eventFailed        = "response.failed"
	eventError         = "error"
)

// The states of a response that is not complete.
const (
	statusIncomplete = "incomplete"
	statusFailed     = "failed"
	statusCancelled  = "cancelled"
)

// event has the used members of an event. Members of a wrong type count as absent.
type event struct {
	Type         string          `json:"type"`
	Delta        string          `json:"delta"`
	OutputIndex  outputIndex     `json:"output_index"`
	SummaryIndex int             `json:"summary_index"`
	Item         json.RawMessage `json:"item"`
	Response     response        `json:"response"`
}

// outputIndex is the place of an item in the answer, if the provider gives one.
type outputIndex struct {
	place int
	given bool
}

// UnmarshalJSON treats a value that is not an integer as absent. It never fails.
func (o *outputIndex) UnmarshalJSON(b []byte) error {
	n, err := strconv.Atoi(string(b))
	*o = outputIndex{n, err == nil}
	return nil
}

// response is the state of an answer, in the events that begin and end it.
type response struct {
	Status  string            `json:"status"`
	Output  []json.RawMessage `json:"output"`
	Usage   *usage            `json:"usage"`
	Error   json.RawMessage   `json:"error"`
	Details struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// usage is in tokens. Cached and written tokens are part of the input, reasoning is part of the output.
type usage struct {
	Input     int64 `json:"input_tokens"`
	InputMore struct {
		Cached     int64 `json:"cached_tokens"`
		CacheWrite int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
	Output     int64 `json:"output_tokens"`
	OutputMore struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int64 `json:"total_tokens"`
}

// plainLimit bounds the events that decodeDelta reads, in bytes: its stack grows with their nesting.
const plainLimit = 1 << 20

// decodeEvent reads an event. What is kept of it as it came is UTF-8.
func decodeEvent(raw []byte) (event, error) {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	if e, plain := decodeDelta(raw); plain {
		return e, nil
	}
	var e event
	err := protocol.Unmarshal(raw, &e)
	if mismatch := new(json.UnmarshalTypeError); err == nil || errors.As(err, &mismatch) {
		return e, nil
	}
	return event{}, model.NotJSON(raw, err)
}

// decodeDelta reads a delta of text, which nearly all events are, in a fraction of the time that
// decoding takes. It reports false for any other event.
func decodeDelta(raw []byte) (e event, plain bool) {
	if len(raw) > plainLimit || !bytes.Contains(raw[:min(len(raw), 64)], []byte(".delta\"")) || !gjson.ValidBytes(raw) {
		return event{}, false
	}
	gjson.ParseBytes(raw).ForEach(func(name, v gjson.Result) bool {
		switch name.Str {
		case "type":
			e.Type = v.String()
		case "delta":
			e.Delta = stringOf(v)
		case "output_index":
			_ = e.OutputIndex.UnmarshalJSON([]byte(v.Raw))
		case "summary_index":
			e.SummaryIndex = int(v.Int())
		}
		return true
	})
	return e, e.Type != "" && utf8.ValidString(e.Delta)
}

// size returns the size of an event for the limit, in bytes. Each item counts beside its text.
func (e *event) size() int {
	n := len(e.Delta) + len(e.Item)
	if e.Item != nil {
		n += model.PartCost
	}
	for _, item := range e.Response.Output {
		n += model.PartCost + len(item)
	}
	return n
}

// stringOf returns the text of a string, or "" for other values.
func stringOf(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	return v.Str
}

// breakdown returns the usage, or nil if nothing was counted.
func (u *usage) breakdown() *protocol.TokenUsageBreakdown {
	if u == nil {
		return nil
	}
	return model.Usage(protocol.TokenUsageBreakdown{
		TotalTokens: model.Tokens(u.Total), InputTokens: model.Tokens(u.Input),
		CachedInputTokens: model.Tokens(u.InputMore.Cached), CacheWriteInputTokens: model.Tokens(u.InputMore.CacheWrite),
		OutputTokens: model.Tokens(u.Output), ReasoningOutputTokens: model.Tokens(u.OutputMore.Reasoning),
	})
}
