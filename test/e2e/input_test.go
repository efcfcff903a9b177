package e2e

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

	"appserver/test/apptest"
)

func TestTooLongInputIsRejected(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("read"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	const limit = 1 << 20
	for method, params := range map[string]apptest.Object{
		"turn/start": {"threadId": id,
			"input": []apptest.Object{{"type": "text", "text": strings.Repeat("é", limit)}, {"type": "text", "text": "x"}}},
		"turn/steer": {"threadId": id, "expectedTurnId": "t", "input": apptest.TextInput(strings.Repeat("x", limit+1))},
	} {
		m := c.Request(method, params)
		require.Contains(t, m.Line,
			`"error":{"code":-32602,"message":"Input exceeds the maximum length of 1048576 characters.","data":{`+
				`"kind":"inputTooLarge","field":"input","input_error_code":"input_too_large","max_chars":1048576,"actual_chars":1048577}}`)
	}
	c.Turn(id, strings.Repeat("é", limit))
	require.Len(t, p.Requests(), 1, "text of the maximum size is accepted")
}

func TestUnreadableImagesAreReportedToModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("seen"))
	home, dir := p.Home(t), t.TempDir()
	none, text := filepath.Join(dir, "none.png"), filepath.Join(dir, "text.png")
	require.NoError(t, os.WriteFile(text, []byte("words"), 0o600))
	c := apptest.StartServer(t, home)
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": dir})
	c.Call("turn/start", apptest.Object{"threadId": id, "input": []apptest.Object{
		{"type": "text", "text": "look"}, {"type": "localImage", "path": none}, {"type": "localImage", "path": text}}})
	c.AwaitTurn()
	messages := gjson.Get(p.Requests()[0].Body, "messages").Array()
	content := messages[len(messages)-1].Get("content").String()
	require.Contains(t, content, "The image `"+none+"` cannot be shown: no such file or directory")
	require.Contains(t, content, "The image `"+text+"` cannot be shown: not an image")
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	require.JSONEq(t, fmt.Sprintf(`[{"type":"text","text":"look","text_elements":[]},{"type":"localImage","detail":null,"path":%q},`+
		`{"type":"localImage","detail":null,"path":%q}]`, none, text),
		gjson.GetBytes(c.ReadThread(id).Turns[0].Items[0], "content").Raw)
}

// TestTextElementsAreKept keeps them on the wire, and in the rollout with the names of the
// reference implementation.
func TestTextElementsAreKept(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("read"))
	home := p.Home(t)
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.CallThread("thread/start", apptest.Object{"cwd": t.TempDir()})
	for element, message := range map[string]string{
		`{"byte_range":{"start":0,"end":1}}`:  "Invalid request: missing field `byteRange`",
		`{"byteRange":{"start":-1,"end":1}}`:  "Invalid request: `input.0.text_elements.0.byteRange.start`: ",
		`{"byteRange":{"start":"0","end":1}}`: "Invalid request: `input.0.text_elements.0.byteRange.start`: ",
	} {
		input := []apptest.Object{{"type": "text", "text": "@a", "text_elements": []any{gjson.Parse(element).Value()}}}
		require.Contains(t, c.CallRejected("turn/start", apptest.Object{"threadId": thread.ID, "input": input}).Message,
			message)
	}
	c.Call("turn/start",
		apptest.Object{"threadId": thread.ID,
			"input": []apptest.Object{{"type": "text", "text": "@a b", "text_elements": []apptest.Object{
				{"byteRange": apptest.Object{"start": 0, "end": 2}, "placeholder": "[a]"},
				{"byteRange": apptest.Object{"start": 3, "end": 4}}}}}})
	c.AwaitTurn()
	require.Contains(t, c.StoredLines(thread.ID),
		`"text_elements":[{"byte_range":{"start":0,"end":2},"placeholder":"[a]"},{"byte_range":{"start":3,"end":4},"placeholder":null}]`)
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	require.JSONEq(t, `[{"type":"text","text":"@a b","text_elements":[{"byteRange":{"start":0,"end":2},"placeholder":"[a]"},`+
		`{"byteRange":{"start":3,"end":4},"placeholder":null}]}]`,
		gjson.GetBytes(c.ReadThread(thread.ID).Turns[0].Items[0], "content").Raw)
}

func TestOutputSchemaReachesModel(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("{}"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	c.Call("turn/start",
		apptest.Object{"threadId": c.StartThread(apptest.Object{"cwd": t.TempDir()}), "input": apptest.TextInput("go"),
			"outputSchema": apptest.Object{"type": "object"}})
	c.AwaitTurn()
	require.JSONEq(t, `{"type":"json_schema","json_schema":{"name":"codex_output_schema","schema":{"type":"object"},"strict":true}}`,
		gjson.Get(p.Requests()[0].Body, "response_format").Raw)
}

func TestUnknownModelIsReported(t *testing.T) {
	t.Parallel()
	p := &apptest.Provider{Server: httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"The model `+"`x`"+
			` does not exist.","type":"invalid_request_error","code":"model_not_found"}}`)
	}))}
	t.Cleanup(p.Server.Close)
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	c.BeginTurn(c.StartThread(apptest.Object{"cwd": t.TempDir()}), "go")
	notified := c.UntilMethod("error")
	require.Equal(t, "modelNotFound", gjson.GetBytes(notified.Params, "error.codexErrorInfo").Str)
	require.Equal(t, "The model `x` does not exist.", gjson.GetBytes(notified.Params, "error.message").Str)
	require.False(t, gjson.GetBytes(notified.Params, "willRetry").Bool())
	ended := c.UntilMethod("turn/completed")
	require.Equal(t, "failed", gjson.GetBytes(ended.Params, "turn.status").Str)
	require.Equal(t, "modelNotFound", gjson.GetBytes(ended.Params, "turn.error.codexErrorInfo").Str)
}

// TestInjectedItemsFollowEnvironment injects items before the first turn. Their order is that of
// the reference implementation.
func TestInjectedItemsFollowEnvironment(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("done"))
	c := apptest.StartServer(t, p.Home(t))
	c.Initialize()
	id := c.StartThread(apptest.Object{"cwd": t.TempDir()})
	c.Call("thread/inject_items", apptest.Object{"threadId": id, "items": []apptest.Object{
		{"type": "message", "role": "assistant", "content": []apptest.Object{{"type": "output_text", "text": "INJECTED"}}}}})
	c.Turn(id, "first")
	messages := gjson.Get(p.Requests()[0].Body, "messages").Array()
	require.Len(t, messages, 4)
	require.Contains(t, messages[1].Get("content").Str, "<environment_context>")
	require.Equal(t, "INJECTED", messages[2].Get("content").Str)
	require.Equal(t, "first", messages[3].Get("content").Str)
}
