package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

func TestBinaryRefusesTextThatIsTooLong(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("read"))
	c := startServer(t, p.home(t))
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir()})
	const limit = 1 << 20
	for method, params := range map[string]object{
		"turn/start": {"threadId": id, "input": []object{{"type": "text", "text": strings.Repeat("é", limit)}, {"type": "text", "text": "x"}}},
		"turn/steer": {"threadId": id, "expectedTurnId": "t", "input": textInput(strings.Repeat("x", limit+1))},
	} {
		m := c.request(method, params)
		require.Contains(t, m.line, `"error":{"code":-32602,"message":"Input exceeds the maximum length of 1048576 characters.","data":{`+
			`"kind":"inputTooLarge","field":"input","input_error_code":"input_too_large","max_chars":1048576,"actual_chars":1048577}}`)
	}
	c.turn(id, strings.Repeat("é", limit))
	require.Len(t, p.asked(), 1, "text of the largest size is sent")
}

func TestBinaryTellsTheModelOfImagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("seen"))
	home, dir := p.home(t), t.TempDir()
	none, text := filepath.Join(dir, "none.png"), filepath.Join(dir, "text.png")
	require.NoError(t, os.WriteFile(text, []byte("words"), 0o600))
	c := startServer(t, home)
	c.initialize()
	id := c.startThread(object{"cwd": dir})
	c.call("turn/start", object{"threadId": id, "input": []object{
		{"type": "text", "text": "look"}, {"type": "localImage", "path": none}, {"type": "localImage", "path": text}}})
	c.awaitTurn()
	messages := gjson.Get(p.asked()[0].Body, "messages").Array()
	said := messages[len(messages)-1].Get("content").String()
	require.Contains(t, said, "The image `"+none+"` cannot be shown: no such file or directory")
	require.Contains(t, said, "The image `"+text+"` cannot be shown: not an image")
	c.close()

	c = startServer(t, home)
	c.initialize()
	require.JSONEq(t, fmt.Sprintf(`[{"type":"text","text":"look","text_elements":[]},{"type":"localImage","detail":null,"path":%q},`+
		`{"type":"localImage","detail":null,"path":%q}]`, none, text), gjson.GetBytes(c.readThread(id).Turns[0].Items[0], "content").Raw)
}

// TestBinaryKeepsTextElements on the wire, and in the rollout as the reference implementation
// names them.
func TestBinaryKeepsTextElements(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("read"))
	home := p.home(t)
	c := startServer(t, home)
	c.initialize()
	thread := c.threadOf("thread/start", object{"cwd": t.TempDir()})
	for element, message := range map[string]string{
		`{"byte_range":{"start":0,"end":1}}`:  "Invalid request: missing field `byteRange`",
		`{"byteRange":{"start":-1,"end":1}}`:  "Invalid request: `input.0.text_elements.0.byteRange.start`: ",
		`{"byteRange":{"start":"0","end":1}}`: "Invalid request: `input.0.text_elements.0.byteRange.start`: ",
	} {
		input := []object{{"type": "text", "text": "@a", "text_elements": []any{gjson.Parse(element).Value()}}}
		require.Contains(t, c.refused("turn/start", object{"threadId": thread.ID, "input": input}).Message, message)
	}
	c.call("turn/start", object{"threadId": thread.ID, "input": []object{{"type": "text", "text": "@a b", "text_elements": []object{
		{"byteRange": object{"start": 0, "end": 2}, "placeholder": "[a]"}, {"byteRange": object{"start": 3, "end": 4}}}}}})
	c.awaitTurn()
	c.close()
	rollout, err := os.ReadFile(thread.Path)
	require.NoError(t, err)
	require.Contains(t, string(rollout), `"text_elements":[{"byte_range":{"start":0,"end":2},"placeholder":"[a]"},{"byte_range":{"start":3,"end":4},"placeholder":null}]`)

	c = startServer(t, home)
	c.initialize()
	require.JSONEq(t, `[{"type":"text","text":"@a b","text_elements":[{"byteRange":{"start":0,"end":2},"placeholder":"[a]"},`+
		`{"byteRange":{"start":3,"end":4},"placeholder":null}]}]`, gjson.GetBytes(c.readThread(thread.ID).Turns[0].Items[0], "content").Raw)
}

func TestBinaryNamesTheOutputSchema(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("{}"))
	c := startServer(t, p.home(t))
	c.initialize()
	c.call("turn/start", object{"threadId": c.startThread(object{"cwd": t.TempDir()}), "input": textInput("go"), "outputSchema": object{"type": "object"}})
	c.awaitTurn()
	require.JSONEq(t, `{"type":"json_schema","json_schema":{"name":"codex_output_schema","schema":{"type":"object"},"strict":true}}`,
		gjson.Get(p.asked()[0].Body, "response_format").Raw)
}

func TestBinaryReportsAModelThatDoesNotExist(t *testing.T) {
	t.Parallel()
	p := &provider{server: httptest.NewServer(completions(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"The model `+"`x`"+` does not exist.","type":"invalid_request_error","code":"model_not_found"}}`)
	}))}
	t.Cleanup(p.server.Close)
	c := startServer(t, p.home(t))
	c.initialize()
	c.beginTurn(c.startThread(object{"cwd": t.TempDir()}), "go")
	told := c.untilMethod("error")
	require.Equal(t, "modelNotFound", gjson.GetBytes(told.Params, "error.codexErrorInfo").Str)
	require.Equal(t, "The model `x` does not exist.", gjson.GetBytes(told.Params, "error.message").Str)
	require.False(t, gjson.GetBytes(told.Params, "willRetry").Bool())
	ended := c.untilMethod("turn/completed")
	require.Equal(t, "failed", gjson.GetBytes(ended.Params, "turn.status").Str)
	require.Equal(t, "modelNotFound", gjson.GetBytes(ended.Params, "turn.error.codexErrorInfo").Str)
}

// TestBinaryPutsInjectedItemsBehindTheEnvironment as the reference implementation does before
// the first turn.
func TestBinaryPutsInjectedItemsBehindTheEnvironment(t *testing.T) {
	t.Parallel()
	p := newProvider(t, says("done"))
	c := startServer(t, p.home(t))
	c.initialize()
	id := c.startThread(object{"cwd": t.TempDir()})
	c.call("thread/inject_items", object{"threadId": id, "items": []object{
		{"type": "message", "role": "assistant", "content": []object{{"type": "output_text", "text": "INJECTED"}}}}})
	c.turn(id, "first")
	messages := gjson.Get(p.asked()[0].Body, "messages").Array()
	require.Len(t, messages, 4)
	require.Contains(t, messages[1].Get("content").Str, "<environment_context>")
	require.Equal(t, "INJECTED", messages[2].Get("content").Str)
	require.Equal(t, "first", messages[3].Get("content").Str)
}
