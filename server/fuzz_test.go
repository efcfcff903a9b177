package server

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
)

// FuzzConversation sends arbitrary bytes. Every line that looks like a request gets exactly
// one response with its id, and nothing else is sent.
func FuzzConversation(f *testing.F) {
	for _, seed := range []string{
		initializeLine + "\n" + requestOf("1") + "\n",
		"\ufeff" + initializeLine + "\r\n\r\n" + requestOf("1.5"),
		"[" + initializeLine + "," + requestOf(`"x"`) + `,1,[],{},{"method":"initialized"},{"id":1,"result":2}]`,
		initializeLine + "\n" + `{"id":1,"method":"thread/loaded/list"}` + "\n" +
			`{"id":2,"method":"thread/start","params":{"experimentalRawEvents":1}}`,
		`{"id":null,"method":"x"}` + "\n" + `{"id":1,"id":"\ud800","method":"x","error":{}}` + "\n[]\n[\n{}",
		"{\"id\":\"\xff\",\"method\":\"\xff\",\"params\":[\"\xff\"]}\nnull\n\"\n" + `{"error":null,"id":0}`,
		`{"id":0,"result":0}` + "\n" + `{"id":-0,"method":"config/read","params":{}}`,
		initializeLine + "\n" + heldLine + "\n[" + heldLine + "]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		s := New(zap.NewNop())
		s.Handle(Service{Handler: newFake(s)})
		var out syncBuffer
		served := make(chan error, 1)
		go func() { served <- s.Serve(context.Background(), bytes.NewReader(input), &out) }()
		<-s.EOF()
		require.NoError(t, s.Drain(context.Background()))
		require.NoError(t, <-served)

		var want []string
		for _, line := range splitLines(input, maxLine) {
			want = append(want, expectedIDs(line)...)
		}
		got := answeredIDs(t, out.String())
		slices.Sort(want) // the responses of held requests and batches come later
		slices.Sort(got)
		require.Equal(t, want, got)
	})
}

// answeredIDs checks every line of the server and returns the ids of the responses.
func answeredIDs(t *testing.T, out string) (ids []string) {
	require.True(t, utf8.ValidString(out))
	for line := range strings.Lines(out) {
		var all []map[string]json.RawMessage
		if strings.HasPrefix(line, "[") {
			require.NoError(t, json.Unmarshal([]byte(line), &all))
			require.NotEmpty(t, all)
		} else {
			all = append(all, nil)
			require.NoError(t, json.Unmarshal([]byte(line), &all[0]))
		}
		for _, m := range all {
			if m["method"] != nil {
				continue
			}
			require.Equal(t, `"2.0"`, string(m["jsonrpc"]))
			require.Len(t, m, 3)
			require.NotEqual(t, m["result"] == nil, m["error"] == nil)
			ids = append(ids, string(m["id"]))
		}
	}
	return ids
}

// expectedIDs returns the ids of the responses to a line. It uses encoding/json as an
// independent parser.
func expectedIDs(line string) []string {
	line = strings.Trim(line, " \t\r\n")
	var object map[string]json.RawMessage
	var array []json.RawMessage
	switch {
	case line == "":
		return nil
	case !json.Valid([]byte(line)):
		return []string{"null"}
	case json.Unmarshal([]byte(line), &object) == nil && object != nil:
		return expectedID(object)
	case json.Unmarshal([]byte(line), &array) == nil && len(array) > 0:
		var ids []string
		for _, raw := range array {
			object = nil
			if json.Unmarshal(raw, &object) != nil || object == nil {
				ids = append(ids, "null")
				continue
			}
			ids = append(ids, expectedID(object)...)
		}
		return ids
	}
	return []string{"null"}
}

// expectedID returns the id of the response to a message, or nil.
func expectedID(m map[string]json.RawMessage) []string {
	id := string(m["id"])
	if readable := utf8.ValidString(id) && id != "" && strings.ContainsAny(id[:1], `"-0123456789`); !readable {
		id = "null"
	}
	_, hasID := m["id"]
	_, hasMethod := m["method"]
	_, hasResult := m["result"]
	_, hasError := m["error"]
	notification := hasMethod && !hasID && strings.HasPrefix(string(m["method"]), `"`) &&
		(!hasResult || string(m["result"]) == "null") && (!hasError || string(m["error"]) == "null")
	if notification || (!hasMethod && (hasResult || hasError)) {
		return nil
	}
	return []string{id}
}
