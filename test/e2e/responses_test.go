package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// responsesProvider serves the Responses API and records the items of each request.
type responsesProvider struct {
	server *httptest.Server
	// refuse returns the status and body of an error, or 0 for a served request. If it is nil, all
	// requests are served.
	refuse func(body []byte) (status int, answer string)

	mu       sync.Mutex
	input    [][]json.RawMessage
	rejected int
}

// newResponsesProvider returns a provider that answers the n-th request, from 0, with the n-th
// answer.
func newResponsesProvider(t *testing.T, answers ...string) *responsesProvider {
	p := &responsesProvider{}
	p.server = httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Input []json.RawMessage `json:"input"`
		}
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, json.Unmarshal(body, &request)); err != nil ||
			!strings.HasSuffix(r.URL.Path, "/responses") {
			http.Error(w, fmt.Sprintf("%s: %v", r.URL.Path, err), http.StatusBadRequest)
			return
		}
		if p.refuse != nil {
			if status, answer := p.refuse(body); status != 0 {
				p.mu.Lock()
				p.rejected++
				p.mu.Unlock()
				http.Error(w, answer, status)
				return
			}
		}
		p.mu.Lock()
		n := len(p.input)
		p.input = append(p.input, request.Input)
		p.mu.Unlock()
		if n >= len(answers) {
			http.Error(w, "no more answers", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, answers[n])
	}))
	t.Cleanup(p.server.Close)
	return p
}

// home returns a new home whose configuration names the provider.
func (p *responsesProvider) home(t *testing.T, model string) string {
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = %q\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = \"%s/v1\"\nwire_api = \"responses\"\n"+
			"request_max_retries = 0\nstream_max_retries = 0\n", model, p.server.URL))
	return home
}

// kinds returns the items of the n-th request: the role of messages, the type of others.
func (p *responsesProvider) kinds(t *testing.T, n int) (kinds []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	require.Greater(t, len(p.input), n)
	for _, raw := range p.input[n] {
		var item struct{ Type, Role string }
		require.NoError(t, json.Unmarshal(raw, &item))
		if item.Type == "message" {
			item.Type = item.Role
		}
		kinds = append(kinds, item.Type)
	}
	return kinds
}

// listedItem is an item of context/getItems.
type listedItem struct {
	ID, Category, NotSentReason string
	InPrompt                    bool
}

// reasoningItem returns the reasoning in a thread's context, and the message after it.
func reasoningItem(c *apptest.Client, thread string) (reasoning, message listedItem) {
	var list struct{ Items []listedItem }
	require.NoError(c.T, json.Unmarshal(c.Call("context/getItems", apptest.Object{"threadId": thread}), &list))
	for _, i := range list.Items {
		switch i.Category {
		case "reasoning":
			reasoning = i
		case "assistantMessage":
			message = i
		}
	}
	return reasoning, message
}

func TestResponsesEncryptedReasoningGoesBackToItsModel(t *testing.T) {
	answer := apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning), apptest.ItemDone(apptest.HelloMessage))
	p := newResponsesProvider(t, answer, answer, answer, answer)
	home := p.home(t, "gpt-5")
	c := apptest.StartServer(t, home)
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	reasoning, message := reasoningItem(c, thread)
	require.True(t, reasoning.InPrompt)

	c.Turn(thread, "two")
	require.Equal(t, []string{"user", "user", "reasoning", "assistant", "user"}, p.kinds(t, 1))

	c.Call("context/setInclusion", apptest.Object{"threadId": thread, "ids": []string{message.ID}, "included": false})
	reasoning, _ = reasoningItem(c, thread)
	c.Turn(thread, "three")
	require.Equal(t, []string{"user", "user", "user", "reasoning", "assistant", "user"}, p.kinds(t, 2),
		"reasoning is deleted with its answer")
	c.Call("context/undo", apptest.Object{"threadId": thread})
	c.Close()

	c = apptest.StartServer(t, home)
	c.Initialize()
	c.Call("thread/resume", apptest.Object{"threadId": thread})
	c.Turn(thread, "four")
	require.Equal(t, []string{"user", "user", "reasoning", "assistant", "user", "reasoning", "assistant", "user",
		"reasoning", "assistant", "user"},
		p.kinds(t, 3), "reasoning is restored with its answer, also after a reload")
	c.Close()
}

func TestResponsesEncryptedReasoningIsNotSentToAnotherModel(t *testing.T) {
	answer := apptest.EventStream(apptest.ItemDone(apptest.EncryptedReasoning), apptest.ItemDone(apptest.HelloMessage))
	p := newResponsesProvider(t, answer, answer)
	c := apptest.StartServer(t, p.home(t, "gpt-5"))
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	c.Call("turn/start", apptest.Object{"threadId": thread, "input": apptest.TextInput("two"), "model": "gpt-5-mini"})
	c.AwaitTurn()
	require.Equal(t, []string{"user", "user", "assistant", "user"}, p.kinds(t, 1))
	c.Close()
}

func TestResponsesSummaryPartsAreAnnouncedBeforeTheirText(t *testing.T) {
	p := newResponsesProvider(t, apptest.EventStream(
		`{"type":"response.reasoning_summary_part.added","summary_index":0}`,
		`{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"one"}`,
		`{"type":"response.reasoning_summary_part.added","summary_index":1}`,
		`{"type":"response.reasoning_summary_text.delta","summary_index":1,"delta":"two"}`,
		apptest.ItemDone(apptest.EncryptedReasoning), `{"type":"response.output_text.delta","delta":"hello"}`,
		apptest.ItemDone(apptest.HelloMessage)))
	c := apptest.StartServer(t, p.home(t, "gpt-5"))
	c.Initialize()
	thread := c.StartTrusted()
	c.BeginTurn(thread, "one")
	var received []string
	c.Until(func(m apptest.Message) bool {
		if strings.HasPrefix(m.Method, "item/reasoning/") || m.Method == "item/agentMessage/delta" {
			received = append(received, strings.TrimPrefix(m.Method, "item/"))
		}
		return m.Method == "turn/completed"
	})
	require.Equal(t, []string{"reasoning/summaryPartAdded", "reasoning/summaryTextDelta", "reasoning/summaryPartAdded",
		"reasoning/summaryTextDelta", "agentMessage/delta"}, received)
	c.Close()
}

func TestResponsesRawReasoningAndUsageReachTheClient(t *testing.T) {
	p := newResponsesProvider(t, "data: "+`{"type":"response.reasoning_text.delta","content_index":0,"delta":"raw"}`+
		"\n\n"+
		"data: "+apptest.ItemDone(`{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"raw"}]}`)+"\n\n"+
		"data: "+apptest.ItemDone(apptest.HelloMessage)+"\n\n"+
		`data: {"type":"response.completed","response":{"id":"r","usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":12},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":25}}}`+"\n\n")
	c := apptest.StartServer(t, p.home(t, "gpt-5"))
	c.Initialize()
	c.BeginTurn(c.StartTrusted(), "one")
	received := map[string]string{}
	c.Until(func(m apptest.Message) bool {
		switch m.Method {
		case "item/reasoning/textDelta":
			received[m.Method] = gjson.GetBytes(m.Params, "delta").Str
		case "thread/tokenUsage/updated":
			received[m.Method] = gjson.GetBytes(m.Params, "tokenUsage.last").Raw
		}
		return m.Method == "turn/completed"
	})
	require.Equal(t, "raw", received["item/reasoning/textDelta"])
	require.Subset(t, gjson.Parse(received["thread/tokenUsage/updated"]).Value(), map[string]any{
		"inputTokens": 20.0, "cachedInputTokens": 12.0, "outputTokens": 5.0, "reasoningOutputTokens": 3.0,
		"totalTokens": 25.0,
	})
	c.Close()
}

func TestResponsesPatchesAreCustomCalls(t *testing.T) {
	patch := `{"type":"custom_tool_call","status":"completed","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Add File: made.txt\n+x\n*** End Patch"}`
	p := newResponsesProvider(t, apptest.EventStream(apptest.ItemDone(patch)),
		apptest.EventStream(apptest.ItemDone(apptest.HelloMessage)))
	c := apptest.StartServer(t, p.home(t, "gpt-5"))
	c.Initialize()
	dir := t.TempDir()
	thread := c.StartThread(apptest.Object{"cwd": dir, "sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.Turn(thread, "patch it")
	require.FileExists(t, dir+"/made.txt")
	require.Equal(t, []string{"user", "user", "custom_tool_call", "custom_tool_call_output"}, p.kinds(t, 1))
	c.Close()
}

func TestResponsesFailuresOfTheStreamFailTheTurn(t *testing.T) {
	for name, c := range map[string]struct{ stream, info string }{
		"cut":      {"data: " + apptest.ItemDone(apptest.HelloMessage) + "\n\n", `"other"`},
		"garbage":  {"data: {\"type\":\n\n", `"other"`},
		"too long": {`data: {"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"m"}}}` + "\n\n", `"contextWindowExceeded"`},
		"no quota": {`data: {"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"m"}}}` +
			"\n\n", `"usageLimitExceeded"`},
		"over loaded": {`data: {"type":"response.failed","response":{"error":{"code":"server_is_overloaded","message":"m"}}}` + "\n\n", `"serverOverloaded"`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newResponsesProvider(t, c.stream)
			server := apptest.StartServer(t, p.home(t, "gpt-5"))
			server.Initialize()
			thread := server.StartTrusted()
			server.BeginTurn(thread, "one")
			var ended struct {
				Turn struct {
					Status string
					Error  struct{ CodexErrorInfo json.RawMessage }
				}
			}
			require.NoError(t, json.Unmarshal(server.UntilMethod("turn/completed").Params, &ended))
			require.Equal(t, "failed", ended.Turn.Status)
			require.JSONEq(t, c.info, string(ended.Turn.Error.CodexErrorInfo))
			server.Close()
		})
	}
}

func TestResponsesIsTheDefaultAPI(t *testing.T) {
	for name, settings := range map[string]string{
		"custom":          "model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"%s/v1\"\n",
		"openai":          "[model_providers.openai]\nbase_url = \"%s/v1\"\n",
		"openai_base_url": "openai_base_url = \"%s/v1\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := newResponsesProvider(t, apptest.EventStream(apptest.ItemDone(apptest.HelloMessage)))
			home := t.TempDir()
			apptest.WriteConfig(t, home, "model = \"gpt-5\"\n"+fmt.Sprintf(settings, p.server.URL))
			cmd := apptest.ServerCommand(t, home)
			cmd.Env = append(cmd.Env, "OPENAI_API_KEY=key")
			c := apptest.StartProcess(t, cmd)
			c.Initialize()
			ended := c.Turn(c.StartTrusted(), "hello")
			require.Equal(t, "completed", ended.Status, "%+v", ended.Error)
		})
	}
}

func TestResponsesWithoutTheAPINamesTheSettingForChat(t *testing.T) {
	provider := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(provider.Close)
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = \"m\"\nmodel_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"%s/v1\"\n", provider.URL))
	c := apptest.StartServer(t, home)
	c.Initialize()
	ended := c.Turn(c.StartTrusted(), "hello")
	require.Equal(t, "failed", ended.Status)
	require.Contains(t, ended.Error.Message, `set wire_api = "chat" in [model_providers.mine]`)
}
