package protocol_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

func TestToWellFormed(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"b"}`:                   `{"a":"b"}`,
		"\"a\xffb\"":                  "\"a\uFFFDb\"",
		`"\ud83d\ude00 \uD83D\uDE00"`: `"\ud83d\ude00 \uD83D\uDE00"`,
		`"\ud83d"`:                    `"\ufffd"`,
		`"\uDE00\ud83dx"`:             `"\ufffd\ufffdx"`,
		`"\ud83d\ud83d\ude00"`:        `"\ufffd\ud83d\ude00"`,
		`"\\ud83d \\\ud83d"`:          `"\\ud83d \\\ufffd"`,
		`"\u0041\ud83d\n\ude00"`:      `"\u0041\ufffd\n\ufffd"`,
		`"\ud83d\\ude00"`:             `"\ufffd\\ude00"`,
		`"\u`:                         `"\u`,
		``:                            ``,
	} {
		before := []byte(text)
		require.Equal(t, want, string(protocol.ToWellFormed(before)), text)
		require.Equal(t, text, string(before), "the input is not changed")
	}
}

// FuzzToWellFormed checks that the output is UTF-8, stays JSON, keeps its values as
// encoding/json reads them, and is not changed again.
func FuzzToWellFormed(f *testing.F) {
	for _, seed := range []string{`"\ud83d\ude00"`, `{"\ud83d":["\\ud83d","\ude00"]}`, "\"\xff\xc3\"", `"\u`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		out := protocol.ToWellFormed(text)
		require.True(t, utf8.Valid(out))
		require.Equal(t, string(out), string(protocol.ToWellFormed(out)))
		require.Equal(t, json.Valid(text), json.Valid(out))
		if !utf8.Valid(text) || !json.Valid(text) {
			return
		}
		var want, got any
		require.NoError(t, json.Unmarshal(text, &want))
		require.NoError(t, json.Unmarshal(out, &got))
		require.Equal(t, want, got)
	})
}

// BenchmarkToWellFormed takes a write of 256 KiB of small deltas.
func BenchmarkToWellFormed(b *testing.B) {
	line := `{"jsonrpc":"2.0","method":"item/agentMessage/delta","params":{"threadId":"0199a7c2-3a52-7b30-9d1c-8f6f5a3e9b01",` +
		`"turnId":"0199a7c2-3a52-7b30-9d1c-8f6f5a3e9b02","itemId":"msg_1","delta":" token\\n"}}` + "\n"
	chunk := bytes.Repeat([]byte(line), 256<<10/len(line))
	b.SetBytes(int64(len(chunk)))
	for b.Loop() {
		protocol.ToWellFormed(chunk)
	}
}
