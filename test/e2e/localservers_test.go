package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// localServer is a fake Ollama or llama-server: answers by the method and the path, and an answer for turns.
type localServer struct {
	*httptest.Server
	answers map[string]string
	turn    http.HandlerFunc

	mu    sync.Mutex
	turns []string // the bodies of the requests for answers
}

func newLocalServer(t *testing.T, answers map[string]string, turn http.HandlerFunc) *localServer {
	l := &localServer{answers: answers, turn: turn}
	l.Server = httptest.NewServer(http.HandlerFunc(l.serve))
	t.Cleanup(l.Close)
	return l
}

func (l *localServer) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	l.mu.Lock()
	answer, known := l.answers[r.Method+" "+r.URL.Path]
	isTurn := r.URL.Path == "/v1/chat/completions" || r.URL.Path == "/v1/responses"
	if isTurn {
		l.turns = append(l.turns, string(body))
	}
	l.mu.Unlock()
	switch {
	case isTurn:
		l.turn(w, r)
	case known:
		_, _ = io.WriteString(w, answer)
	default:
		http.NotFound(w, r)
	}
}

// set changes an answer.
func (l *localServer) set(path, answer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answers[path] = answer
}

// lastTurn returns the body of the last request for an answer.
func (l *localServer) lastTurn() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turns[len(l.turns)-1]
}

// client starts a server whose provider is l.
func (l *localServer) client(t *testing.T, top, provider string) *apptest.Client {
	home := t.TempDir()
	apptest.WriteConfig(t, home, fmt.Sprintf("model = \"qwen3\"\nmodel_provider = \"near\"\n%s\n"+
		"[model_providers.near]\nbase_url = %q\nwire_api = \"chat\"\n%s\n", top, l.URL+"/v1", provider))
	c := apptest.StartServer(t, home)
	c.Initialize()
	return c
}

// hello answers with a text and a usage.
func hello(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, apptest.ChatChunk(apptest.Object{"role": "assistant", "content": "Hello."}, nil),
		apptest.ChatChunk(apptest.Object{}, "stop"),
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":2000,\"completion_tokens\":5,\"total_tokens\":2005}}\n\n",
		"data: [DONE]\n\n")
}

// windowAfterTurn runs a turn and returns the window that the client gets with its usage.
func windowAfterTurn(t *testing.T, c *apptest.Client, thread string) (window *int64) {
	c.BeginTurn(thread, "hi")
	var usage struct {
		TokenUsage struct{ ModelContextWindow *int64 }
	}
	require.NoError(t, json.Unmarshal(c.UntilMethod("thread/tokenUsage/updated").Params, &usage))
	c.AwaitTurn()
	return usage.TokenUsage.ModelContextWindow
}

// TestOllamaReportsItsModels: the first turn has the window of the running model and asks for no reasoning and no
// calls that the model lacks. The list shows its abilities, and the name without a tag is the model's.
func TestOllamaReportsItsModels(t *testing.T) {
	l := newLocalServer(t, map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"qwen3:latest","owned_by":"library"}]}`,
		"GET /api/ps":    `{"models":[]}`,
		"POST /api/show": `{"capabilities":["completion","vision"],"model_info":{"qwen3.context_length":40960}}`,
	}, nil)
	l.turn = func(w http.ResponseWriter, r *http.Request) {
		l.set("GET /api/ps", `{"models":[{"name":"qwen3:latest","context_length":4096}]}`)
		hello(w, r)
	}
	c := l.client(t, "model_reasoning_effort = \"high\"", "")
	thread := c.StartTrusted()
	require.EqualValues(t, 4096, *windowAfterTurn(t, c, thread), "that of the loaded model")
	require.NotContains(t, l.lastTurn(), `"reasoning_effort"`)
	require.NotContains(t, l.lastTurn(), `"tools"`)
	page := c.Call("model/list", apptest.Object{})
	require.Contains(t, string(page), `"inputModalities":["text","image"]`)
	require.NotContains(t, string(page), "qwen3:latest")
	require.Contains(t, string(page), `"supportedReasoningEfforts":[{"reasoningEffort":"none"`)
	c.Close()
}

// TestLlamaServerReportsItsWindow: the only model answers for any name.
func TestLlamaServerReportsItsWindow(t *testing.T) {
	l := newLocalServer(t, map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"/models/x.gguf","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
		"GET /props":     `{"default_generation_settings":{"n_ctx":8192},"model_alias":"x"}`,
	}, hello)
	c := l.client(t, "", "")
	require.EqualValues(t, 8192, *windowAfterTurn(t, c, c.StartTrusted()))
	c.Close()
}

// TestPromptProgressIsShown: llama-server is asked for its progress from the first request on, and an interrupt
// while it reads the prompt closes the connection.
func TestPromptProgressIsShown(t *testing.T) {
	closed := make(chan struct{})
	l := newLocalServer(t, map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"x.gguf","owned_by":"llamacpp","meta":{"n_ctx":8192}}]}`,
	}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}],`+
			`"prompt_progress":{"total":6000,"cache":0,"processed":2048,"time_ms":900}}`+"\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(closed)
	})
	c := l.client(t, "", "")
	thread := c.StartTrusted()
	turn := c.BeginTurn(thread, "hi")
	require.JSONEq(t, fmt.Sprintf(`{"threadId":%q,"turnId":%q,"totalTokens":6000,"cachedTokens":0,`+
		`"processedTokens":2048,"timeMs":900}`, thread, turn), string(c.UntilMethod("turn/promptProgress").Params))
	require.Contains(t, l.lastTurn(), `"return_progress":true`)
	c.Call("turn/interrupt", apptest.Object{"threadId": thread, "turnId": turn})
	<-closed
	c.AwaitTurn()
	c.Close()
}

// TestThreadTakesTheModelOfItsProvider starts threads that name only a provider: with its configured model, else with
// one that it lists.
func TestThreadTakesTheModelOfItsProvider(t *testing.T) {
	l := newLocalServer(t, map[string]string{
		"GET /v1/models": `{"data":[{"id":"text-embedding-x","owned_by":"library","created":9},` +
			`{"id":"gemma3:latest","owned_by":"library","created":1}]}`,
	}, hello)
	c := l.client(t, "", fmt.Sprintf("[model_providers.other]\nbase_url = %q\nwire_api = \"chat\"\n"+
		"[model_providers.set]\nbase_url = %q\nwire_api = \"chat\"\nmodel = \"own\"\n", l.URL+"/v1", l.URL+"/v1"))
	for provider, want := range map[string]string{"near": "qwen3", "other": "gemma3:latest", "set": "own"} {
		var started struct{ Model string }
		require.NoError(t, json.Unmarshal(c.Call("thread/start", apptest.Object{"modelProvider": provider}), &started))
		require.Equal(t, want, started.Model, provider)
	}
	c.Close()
}

// textModel returns the answers of Ollama 0.17.4 about a model with other capabilities than images.
func textModel(capabilities string) map[string]string {
	return map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"qwen3:latest","object":"model","owned_by":"library"}]}`,
		"GET /api/ps":    `{"models":[{"name":"qwen3:latest","model":"qwen3:latest","context_length":16384}]}`,
		"POST /api/show": `{"capabilities":[` + capabilities + `],"model_info":{"qwen3.context_length":40960}}`,
	}
}

// TestLimitsOfAModelAreReportedOnce: Ollama drops images of a model without vision, so such a model gets notes. The
// client gets one warning for each thing that requests leave out.
func TestLimitsOfAModelAreReportedOnce(t *testing.T) {
	l := newLocalServer(t, textModel(`"completion"`), hello)
	c := l.client(t, "model_reasoning_effort = \"high\"", "")
	thread := c.StartTrusted()
	const image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	for range 2 {
		c.Call("turn/start", apptest.Object{"threadId": thread, "input": []any{
			apptest.Object{"type": "text", "text": "look"}, apptest.Object{"type": "image", "url": image}}})
		require.Equal(t, "completed", c.AwaitTurn().Status)
		require.NotContains(t, l.lastTurn(), "image_url")
		require.Contains(t, l.lastTurn(), "this model does not take images")
	}
	warnings := c.Warnings()
	require.Len(t, warnings, 3)
	require.Contains(t, warnings[0], "takes no tools")
	require.Contains(t, warnings[1], `without the reasoning effort "high"`)
	require.Contains(t, warnings[2], "does not take images")
	c.Close()
}

// TestOllamaThinksAsFarAsTheClientWants: without an effort its models reason, so the effort none is sent. One that it
// refuses, in its own words, costs no turn.
func TestOllamaThinksAsFarAsTheClientWants(t *testing.T) {
	l := newLocalServer(t, textModel(`"completion","tools","thinking"`), nil)
	l.turn = func(w http.ResponseWriter, r *http.Request) {
		refuse := func(message, kind string) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":%q,"param":null,"code":null}}`, message, kind)
		}
		switch effort := gjson.Get(l.lastTurn(), "reasoning_effort").String(); effort {
		case "", "none":
			hello(w, r)
		case "low", "medium", "high":
			refuse(fmt.Sprintf("think value %q is not supported for this model", effort), "api_error")
		default:
			refuse(fmt.Sprintf("invalid reasoning value: '%s' (must be \"high\", \"medium\", \"low\", or \"none\")", effort),
				"invalid_request_error")
		}
	}
	c := l.client(t, "", "")
	for effort, sent := range map[string]string{"none": "none", "xhigh": "", "minimal": ""} {
		thread := c.StartThread(apptest.Object{"config": apptest.Object{"model_reasoning_effort": effort}})
		require.Equal(t, "completed", c.Turn(thread, "hi").Status)
		require.Equal(t, sent, gjson.Get(l.lastTurn(), "reasoning_effort").String(), effort)
	}
	c.Close()
}
