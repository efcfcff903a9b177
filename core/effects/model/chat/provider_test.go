package chat_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what is made of the streams in testdata instead of comparing it")

// TestProviders plays streams in the documented forms of providers. Each file has the stream, the
// expected answer, and the messages of the next request.
func TestProviders(t *testing.T) {
	files, err := filepath.Glob("testdata/providers/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			stream, want, next := section(t, archive, 0, "stream"), section(t, archive, 1, "want"),
				section(t, archive, 2, "next")
			heard, messages := played(t, string(*stream))
			if *update {
				*want, *next = []byte(heard), []byte(messages)
				require.NoError(t, os.WriteFile(file, txtar.Format(archive), 0o644))
			}
			require.Equal(t, string(*want), heard)
			require.Equal(t, string(*next), messages)
			require.Equal(t, heard,
				transcript(modeltest.Ask(t.Context(), byteByByte(string(*stream)), modeltest.UserSays("hi"))),
				"however the bytes arrive")
			crlf := strings.ReplaceAll(string(*stream), "\n", "\r\n")
			require.Equal(t, heard, transcript(modeltest.Ask(t.Context(), memoryProvider(crlf), modeltest.UserSays("hi"))),
				"with CRLF")
		})
	}
}

func section(t *testing.T, archive *txtar.Archive, n int, name string) *[]byte {
	require.Len(t, archive.Files, 3)
	require.Equal(t, name, archive.Files[n].Name)
	return &archive.Files[n].Data
}

// played returns the answer of a stream over HTTP, and the messages of the request with this answer in
// its history, or "" after a failed answer.
func played(t *testing.T, stream string) (heard, messages string) {
	var requests []string
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		require.NoError(t, err)
		requests = append(requests, string(body))
		_, _ = io.WriteString(w, stream)
	})
	prompt := modeltest.UserSays("hi")
	pieces, answer, err := modeltest.Ask(t.Context(), provider, prompt)
	heard = transcript(pieces, answer, err)
	if err != nil {
		return heard, ""
	}
	prompt.Items = append(prompt.Items, answered(pieces, answer)...)
	_, _, err = modeltest.Ask(t.Context(), provider, prompt)
	require.NoError(t, err)
	return heard, legalMessages(t, requests[1])
}

// answered returns an answer as a thread keeps it, with the outputs of its calls or the
// user's next words.
func answered(pieces []core.Piece, answer core.Answer) []protocol.ResponseItem {
	var kept, outputs []protocol.ResponseItemVariant
	text, reasoning := modeltest.Spoken(pieces)
	if reasoning != "" {
		kept = append(kept, thought(reasoning))
	}
	if text != "" {
		m := modeltest.Say(protocol.RoleAssistant, text)
		m.Echo = answer.Echo
		kept = append(kept, m)
	}
	for _, c := range answer.Calls {
		kept = append(kept, &protocol.FunctionCall{CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Echo: c.Echo})
		outputs = append(outputs, &protocol.FunctionCallOutput{CallID: c.ID, Output: protocol.ToolOutput{Text: "a.go"}})
	}
	if len(outputs) == 0 {
		outputs = append(outputs, modeltest.Say(protocol.RoleUser, "go on"))
	}
	return modeltest.Items(append(kept, outputs...)...)
}

func thought(text string) *protocol.Reasoning {
	return &protocol.Reasoning{Content: []protocol.ReasoningText{{Type: "reasoning_text", Text: text}}}
}

// legalMessages returns the messages of a request, a line each, after it was checked that
// each call has an id of its own, JSON for arguments, and its output.
func legalMessages(t *testing.T, request string) string {
	var sent struct{ Messages []json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(request), &sent))
	var lines strings.Builder
	var open []string
	for _, raw := range sent.Messages {
		lines.Write(append(raw, '\n'))
		var m struct {
			Role       string
			ToolCalls  []chat.ToolCall `json:"tool_calls"`
			ToolCallID string          `json:"tool_call_id"`
		}
		require.NoError(t, json.Unmarshal(raw, &m))
		for _, c := range m.ToolCalls {
			require.NotEmpty(t, c.ID)
			require.NotContains(t, open, c.ID)
			require.True(t, json.Valid([]byte(c.Function.Arguments)), c.Function.Arguments)
			open = append(open, c.ID)
		}
		if m.Role == "tool" {
			require.Equal(t, open[0], m.ToolCallID)
			open = open[1:]
		}
	}
	require.Empty(t, open)
	return lines.String()
}

// transcript writes down what came of a prompt, a line for each part.
func transcript(pieces []core.Piece, answer core.Answer, err error) string {
	var b strings.Builder
	text, reasoning := modeltest.Spoken(pieces)
	if reasoning != "" {
		fmt.Fprintf(&b, "reasoning %q\n", reasoning)
	}
	if text != "" {
		fmt.Fprintf(&b, "text %q\n", text)
	}
	for _, c := range answer.Calls {
		fmt.Fprintf(&b, "call %s %s %s\n", c.ID, c.Name, c.Arguments)
	}
	if u := answer.Usage; u != nil {
		fmt.Fprintf(&b, "usage input=%d cached=%d output=%d reasoning=%d total=%d\n",
			u.InputTokens, u.CachedInputTokens, u.OutputTokens, u.ReasoningOutputTokens, u.TotalTokens)
	}
	if answer.Cut != "" {
		fmt.Fprintf(&b, "cut %s\n", answer.Cut)
	}
	if m := new(core.ModelError); errors.As(err, &m) {
		fmt.Fprintf(&b, "error %s retry=%v streaming=%v %s\n", m.Info.Kind, m.Retry, m.Streaming, m.Message)
	}
	return b.String()
}

// byteByByte answers with a stream whose bytes arrive one at a time.
func byteByByte(stream string) *model.Client {
	return readerProvider(func() io.Reader { return iotest.OneByteReader(strings.NewReader(stream)) })
}
