package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const plainEvent = `{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","system_fingerprint":null,"usage":null,` +
	`"choices":[{"index":0,"delta":{"role":"assistant","content":"a \"b\" \ud83d\ude00","refusal":null,"tool_calls":null},"logprobs":null,"finish_reason":null}]}`

func TestPlainEventsAreReadWithoutDecoding(t *testing.T) {
	for event, want := range map[string]string{
		plainEvent: "a \"b\" \U0001f600", `{}`: "", `{"choices":[]}`: "", `{"choices":[{}]}`: "",
		`{"choices":[{"delta":{"content":null}}]}`:           "",
		`{"choices":[{"delta":{"content":"\ud800\u0041"}}]}`: "\ufffdA", `{"choices":[{"delta":{"\u0063ontent":"x"}}]}`: "x",
	} {
		content, _, plain := textAlone([]byte(event))
		require.True(t, plain, event)
		require.Equal(t, want, content, event)
	}
}

func TestEventsWithMoreThanTextAreDecoded(t *testing.T) {
	for _, event := range []string{
		``, `[]`, `"x"`, `{`, `{}{}`, `{"choices":{}}`, `{"choices":null}`, `{"choices":[{},{}]}`, `{"choices":[[]]}`,
		`{"Choices":[]}`, `{"usage":{}}`, `{"x_groq":null}`,
		`{"choices":[{"index":1}]}`, `{"choices":[{"index":null}]}`, `{"choices":[{"finish_reason":"stop"}]}`,
		`{"choices":[{"message":null}]}`, `{"choices":[{"usage":{}}]}`,
		`{"choices":[{"delta":null}]}`, `{"choices":[{"delta":{"content":[]}}]}`, `{"choices":[{"delta":{"Content":"x"}}]}`,
		`{"choices":[{"delta":{"reasoning":"x"}}]}`,
		`{"choices":[{"delta":{"reasoning_content":""}}]}`, `{"choices":[{"delta":{"tool_calls":[]}}]}`,
		`{"choices":[{"delta":{"reasoning_details":null}}]}`,
		`{"choices":[{"delta":{"content":"` + "\x01" + `"}}]}`, `{"choices":[{"delta":{"content":"\x"}}]}`,
	} {
		_, _, plain := textAlone([]byte(event))
		require.False(t, plain, event)
	}
}

// TestEventsThatAreNestedWithoutEndAreDecoded, which bounds their depth.
func TestEventsThatAreNestedWithoutEndAreDecoded(t *testing.T) {
	for _, open := range []string{`[`, `{"":`} {
		_, _, plain := textAlone([]byte(`{"id":` + strings.Repeat(open, 64<<20/len(open)-10)))
		require.False(t, plain)
	}
}

// FuzzTextAlone compares with the decoder.
func FuzzTextAlone(f *testing.F) {
	f.Add([]byte(plainEvent))
	f.Add([]byte(`{"choices":[{"delta":{"content":"a","content":null}}],"choices":[{"delta":{"content":"b"}}]}`))
	f.Add([]byte(`{"choices":[{"index":0,"finish_reason":null,"delta":{"content":"\ud800\ud800\udc00\n"}}]}`))
	f.Fuzz(func(t *testing.T, event []byte) {
		if !utf8.Valid(event) {
			event = bytes.ToValidUTF8(event, []byte("\ufffd"))
		}
		content, _, plain := textAlone(event)
		if !plain {
			return
		}
		var c chunk
		require.NoError(t, json.Unmarshal(event, &c))
		require.Equal(t, chunk{Choices: [1]choice{{Delta: delta{Content: text(content)}}}}, c)
	})
}

// TestEventsOfOneFormHaveTheirOwnText reads events that differ from the first one in any byte.
func TestEventsOfOneFormHaveTheirOwnText(t *testing.T) {
	first := `{"id":"c","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}`
	for _, text := range []string{`"b"`, `""`, `"\n\"\ud83d\ude00"`, `null`, `"a","content":"b"`, `"a","tool_calls":[]`, `"\"`,
		`"a"},"delta":{"content":"b"`, `"é"`, "\"\x01\"", `5`} {
		requireDecodedAlike(t, first, strings.Replace(first, `"a"`, text, 1))
	}
	for _, event := range []string{
		first, ``, `{}`, strings.Replace(first, "null", `"stop"`, 1), strings.Replace(first, `"c"`, `"d"`, 1),
		strings.Replace(first, `"index":0`, `"index":1`, 1), first[:len(first)-1], first + " ", first + "}",
		`{"id":{"content":"a"},"choices":[{"index":0,"delta":{"content" : "a"},"finish_reason":null}]}`,
	} {
		requireDecodedAlike(t, first, event)
		requireDecodedAlike(t, event, first)
	}
}

// requireDecodedAlike requires that an event after another one is decoded as it is alone.
func requireDecodedAlike(t *testing.T, before, event string) {
	t.Helper()
	var after, none plainForm
	_, _ = decodeChunk([]byte(before), &after)
	got, gotErr := decodeChunk([]byte(event), &after)
	want, err := decodeChunk([]byte(event), &none)
	require.Equal(t, err == nil, gotErr == nil, event)
	require.Equal(t, want, got, "%s after %s", event, before)
}

// FuzzEventsOfOneForm compares an event after another one with the event alone.
func FuzzEventsOfOneForm(f *testing.F) {
	f.Add(plainEvent, strings.Replace(plainEvent, `"a `, `"b `, 1))
	f.Add(`{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"a","role":"b"}}]}`)
	f.Add(`{"choices":[{"logprobs":{"content":"a"},"delta":{"content": "a"}}]}`, `{"choices":[{"logprobs":{"content":"b"},"delta":{"content": "a"}}]}`)
	f.Fuzz(func(t *testing.T, before, event string) { requireDecodedAlike(t, before, event) })
}
