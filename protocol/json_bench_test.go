package protocol_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	exact "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"
	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// codec is one way to encode and decode JSON. With GOEXPERIMENT=jsonv2, the rows of v2 are
// encoding/json/v2, and encoding/json is built on it.
type codec struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

var v1Options = exact.JoinOptions(v1.DefaultOptionsV1(), jsontext.EscapeForHTML(false),
	exact.MatchCaseInsensitiveNames(false))

var codecs = []codec{
	{"protocol", protocol.Marshal, protocol.Unmarshal},
	{"encoding-json", marshalStandard, json.Unmarshal},
	{"v2-with-rules-of-v1", func(v any) ([]byte, error) { return exact.Marshal(v, v1Options) },
		func(text []byte, v any) error { return exact.Unmarshal(text, v, v1Options) }},
	{"v2", func(v any) ([]byte, error) { return exact.Marshal(v) },
		func(text []byte, v any) error { return exact.Unmarshal(text, v) }},
}

func marshalStandard(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return out.Bytes(), err
}

// BenchmarkJSON compares codecs on messages and lines. docs/adr/016-json.md has the figures.
func BenchmarkJSON(b *testing.B) {
	output, zero := strings.Repeat("drwxr-xr-x 2 user user 4096 Nov 21 12:00 some/file.go\n", 64), 0
	text := strings.Repeat("All work and no play makes a dull log. ", 12)
	id := "01a1fdec-a59f-7270-ac57-000000000001"
	turn := protocol.Turn{ID: id, Status: protocol.TurnCompleted, Items: []protocol.ThreadItem{
		{ThreadItemVariant: &protocol.PlanItem{ID: "u1", Text: text}},
		{ThreadItemVariant: &protocol.CommandExecutionItem{ID: "call_1", Command: "ls -l", AggregatedOutput: &output,
			ExitCode: &zero, CommandActions: []protocol.CommandAction{}}},
		{ThreadItemVariant: &protocol.AgentMessageItem{ID: "m1", Text: text}},
	}}
	delta := protocol.AgentMessageDeltaNotification{ThreadID: id, TurnID: id, ItemID: "m1", Delta: "a few words"}
	payload, err := protocol.Marshal(turn)
	require.NoError(b, err)
	line := protocol.RolloutLine{Timestamp: "2026-11-21T11:45:07.000Z", Ordinal: new(int64), Type: protocol.LineEventMsg,
		Payload: payload}
	count := protocol.TokenCount{Type: protocol.EventTokenCount, Info: &protocol.TokenCountInfo{}}
	for _, value := range []struct {
		name    string
		encoded any
		decoded func() any
	}{
		{"turn", turn, func() any { return new(protocol.Turn) }},
		{"delta", delta, func() any { return new(protocol.AgentMessageDeltaNotification) }},
		{"line", line, func() any { return new(protocol.RolloutLine) }},
		{"count", count, func() any { return new(protocol.TokenCount) }},
	} {
		for _, c := range codecs {
			text, err := c.marshal(value.encoded)
			require.NoError(b, err)
			b.Run("encode/"+value.name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					_, _ = c.marshal(value.encoded)
				}
			})
			b.Run("decode/"+value.name+"/"+c.name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					if err := c.unmarshal(text, value.decoded()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
