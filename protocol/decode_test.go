package protocol_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestUnmarshalTakesExactNames and else decodes as encoding/json does.
func TestUnmarshalTakesExactNames(t *testing.T) {
	type inner struct {
		Word string `json:"word"`
	}
	type outer struct {
		Inner inner            `json:"inner"`
		Map   map[string]inner `json:"map"`
		Raw   json.RawMessage  `json:"raw"`
	}
	var got outer
	require.NoError(t, protocol.Unmarshal([]byte(`{"Inner":{"word":"a"},"INNER":{},"map":{"X":{"word":"b"},"x":{"Word":"c"}},"raw":[1, 2]}`), &got))
	require.Equal(t, outer{Map: map[string]inner{"X": {"b"}, "x": {}}, Raw: json.RawMessage(`[1, 2]`)}, got)
	for _, text := range []string{`{"inner":{"word":"a"},"inner":{"word":"b"}}`, `{"inner":null}`, `null`,
		`{"inner":{"word":"\ud800"}}`, "{\"inner\":{\"word\":\"\xff\"}}",
		`{"inner":{"word":5},"raw":1}`, `[]`, `{`, `{} x`, ``} {
		var want, got outer
		wantErr, gotErr := json.Unmarshal([]byte(text), &want), protocol.Unmarshal([]byte(text), &got)
		require.Equal(t, want, got, text)
		require.Equal(t, wantErr == nil, gotErr == nil, text)
	}
	var wrong *json.UnmarshalTypeError
	require.ErrorAs(t, protocol.Unmarshal([]byte(`{"inner":{"word":5}}`), &got), &wrong)
	require.Equal(t, "inner.word", wrong.Field)
	require.Error(t, protocol.UnmarshalKnown([]byte(`{"Word":"a"}`), &inner{}))
}

func TestRepeatsName(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a":1,"A":2}`: false, `[{"a":1},{"a":2}]`: false, `"a"`: false, `{`: false, "{\"a\":\"\xff\"}": false,
		`{"a":1,"a":1}`: true, `[{"b":{"a":1,"a":2}}]`: true, `{"a":1,"\u0061":2}`: true,
	} {
		require.Equal(t, want, protocol.RepeatsName([]byte(text)), text)
	}
}

// BenchmarkUnmarshal reads a line of a rollout.
func BenchmarkUnmarshal(b *testing.B) {
	line := []byte(`{"type":"session_meta","payload":{"id":"0199a7c2-3a52-7b30-9d1c-8f6f5a3e9b01","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/work","originator":"test","cli_version":"1"}}`)
	for name, unmarshal := range map[string]func([]byte, any) error{"exact": protocol.Unmarshal,
		"encoding/json": json.Unmarshal} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				var l struct {
					Type    string               `json:"type"`
					Payload protocol.SessionMeta `json:"payload"`
				}
				require.NoError(b, unmarshal(line, &l))
			}
		})
	}
}
