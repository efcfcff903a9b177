package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core/effects/config"
	"appserver/test/apptest"
)

// documentedKey is the value of every variable with a provider's key.
const documentedKey = "key-of-a-provider"

var (
	docSection = regexp.MustCompile(`(?m)^## (.+)$`)
	docToml    = regexp.MustCompile("(?s)```toml\n(.*?)```")
)

// documented returns the configurations of docs/providers.md that choose a provider, by section.
func documented(t *testing.T) map[string][]string {
	doc, err := os.ReadFile(apptest.Root("docs/providers.md"))
	require.NoError(t, err)
	configs := map[string][]string{}
	at := docSection.FindAllSubmatchIndex(doc, -1)
	for i, m := range at {
		end := len(doc)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		for _, block := range docToml.FindAllSubmatch(doc[m[1]:end], -1) {
			if name := string(doc[m[2]:m[3]]); bytes.Contains(block[1], []byte("model_provider")) {
				configs[name] = append(configs[name], string(block[1]))
			}
		}
	}
	return configs
}

// documentedProvider returns the provider that a configuration chooses.
func documentedProvider(t *testing.T, text string) (*config.Config, config.Provider) {
	home := t.TempDir()
	apptest.WriteConfig(t, home, text)
	c, err := config.Load(config.Source{Home: home, Getenv: func(string) string { return documentedKey }})
	require.NoError(t, err)
	p, err := c.Provider(c.ModelProvider)
	require.NoError(t, err)
	return c, p
}

// TestDocumentedProvidersAreReady loads each configuration as the server does, and requires each
// provider of the table.
func TestDocumentedProvidersAreReady(t *testing.T) {
	configs := documented(t)
	doc, err := os.ReadFile(apptest.Root("docs/providers.md"))
	require.NoError(t, err)
	rows := regexp.MustCompile(`(?m)^\| \[([^\]]+)\]\(#[a-z-]+\) \|`).FindAllSubmatch(doc, -1)
	require.Len(t, configs, len(rows))
	for _, row := range rows {
		require.NotEmpty(t, configs[string(row[1])], "%s has no section with a configuration", row[1])
		for _, text := range configs[string(row[1])] {
			c, p := documentedProvider(t, text)
			require.Empty(t, c.Warnings, text)
			require.NoError(t, c.Ready(c.ModelProvider), text)
			require.NotEmpty(t, c.Model, text)
			require.Regexp(t, `^https?://\S+[^/]$`, p.BaseURL)
		}
	}
}

// shape is the documented behavior of a provider: its path, its header for the key, its answer to
// the first request, and its reasons to reject requests.
type shape struct {
	section, stream string
	address         string
	header, value   string
	refuses         func(request gjson.Result) (status int, body string)
}

const bearer = "Bearer " + documentedKey

func shapes() []shape {
	return []shape{
		{"OpenAI", "openai", "/v1/chat/completions", "Authorization", bearer,
			refusesMembers("reasoning", "reasoning_content", "reasoning_details")},
		{"Azure", "azure_tools", "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21", "Api-Key",
			documentedKey, azureRefuses},
		{"OpenRouter", "openrouter_signed", "/api/v1/chat/completions", "Authorization", bearer, missing("reasoning_details",
			`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"reasoning details are to be preserved in each request"}}}`)},
		{"Ollama", "ollama_bare", "/v1/chat/completions", "Authorization", "", nil},
		{"LM Studio", "llamacpp_tools", "/v1/chat/completions", "Authorization", "", nil},
		{"vLLM", "vllm_tools", "/v1/chat/completions", "Authorization", "", nil},
		{"llama.cpp", "llamacpp_tools", "/v1/chat/completions", "Authorization", "", nil},
		{"DeepSeek", "deepseek_tools", "/chat/completions", "Authorization", bearer, missing("reasoning_content",
			"{\"error\":{\"message\":\"The `reasoning_content` in the thinking mode must be passed back to the API.\",\"type\":\"invalid_request_error\"}}")},
		{"Moonshot", "deepseek_tools", "/v1/chat/completions", "Authorization", bearer, missing("reasoning_content",
			`{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 2","type":"invalid_request_error"}}`)},
		{"Anthropic", "anthropic", "/v1/chat/completions", "Authorization", bearer,
			refusesMembers("reasoning", "reasoning_content")},
		{"Gemini", "gemini_signed", "/v1beta/openai/chat/completions", "Authorization", bearer,
			missing("tool_calls.0.extra_content.google.thought_signature",
				`[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts.","status":"INVALID_ARGUMENT"}}]`)},
		{"Mistral", "ollama_bare", "/v1/chat/completions", "Authorization", bearer, mistralRefuses},
		{"Groq", "groq_tools", "/openai/v1/chat/completions", "Authorization", bearer, refusesMembers("reasoning")},
	}
}

// assistants returns the messages of a request with tool calls.
func assistants(request gjson.Result) (found []gjson.Result) {
	for _, m := range request.Get("messages").Array() {
		if m.Get("tool_calls").Exists() {
			found = append(found, m)
		}
	}
	return found
}

func missing(member, body string) func(gjson.Result) (int, string) {
	return func(request gjson.Result) (int, string) {
		for _, m := range assistants(request) {
			if m.Get(member).String() == "" {
				return http.StatusBadRequest, body
			}
		}
		return 0, ""
	}
}

func refusesMembers(names ...string) func(gjson.Result) (int, string) {
	return func(request gjson.Result) (int, string) {
		for _, m := range request.Get("messages").Array() {
			for _, name := range names {
				if m.Get(name).Exists() {
					return http.StatusBadRequest,
						fmt.Sprintf(`{"error":{"message":"property '%s' is unsupported","type":"invalid_request_error"}}`, name)
				}
			}
		}
		return 0, ""
	}
}

func azureRefuses(request gjson.Result) (int, string) {
	for _, name := range []string{"parallel_tool_calls", "prompt_cache_key"} {
		if request.Get(name).Exists() {
			return http.StatusBadRequest,
				fmt.Sprintf(`{"error":{"message":"Unrecognized request argument supplied: %s","type":"invalid_request_error","param":null,"code":null}}`, name)
		}
	}
	return 0, ""
}

func mistralRefuses(request gjson.Result) (int, string) {
	if request.Get("prompt_cache_key").Exists() {
		return http.StatusUnprocessableEntity,
			`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","prompt_cache_key"],"msg":"Extra inputs are not permitted"}]}}`
	}
	for _, id := range request.Get("messages.#.tool_call_id").Array() {
		if !regexp.MustCompile(`^[A-Za-z0-9]{9}$`).MatchString(id.Str) {
			return http.StatusBadRequest,
				fmt.Sprintf(`{"object":"error","message":"Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.","type":"invalid_function_call","code":"3280"}`, id.Str)
		}
	}
	return 0, ""
}

// fakeShape is a fake of a documented provider. It records the accepted requests and counts the
// rejected ones.
type fakeShape struct {
	shape
	server *httptest.Server
	first  string

	mu       sync.Mutex
	taken    []gjson.Result
	rejected int
}

func newFakeShape(t *testing.T, s shape) *fakeShape {
	archive, err := txtar.ParseFile(apptest.Root("core/effects/model/chat/testdata/providers", s.stream+".txtar"))
	require.NoError(t, err)
	p := &fakeShape{shape: s, first: string(archive.Files[0].Data)}
	p.server = httptest.NewServer(apptest.ModelHandler(p.serve))
	t.Cleanup(p.server.Close)
	return p
}

func (p *fakeShape) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := gjson.ParseBytes(body)
	status, refusal := 0, ""
	switch {
	case err != nil || r.URL.String() != p.address:
		status, refusal = http.StatusNotFound, `{"error":{"message":"Resource not found: `+r.URL.String()+`"}}`
	case r.Header.Get(p.header) != p.value, p.header != "Authorization" && r.Header.Get("Authorization") != "":
		status, refusal = http.StatusUnauthorized, `{"error":{"message":"no key where one is expected"}}`
	case p.refuses != nil:
		status, refusal = p.refuses(request)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if status != 0 {
		p.rejected++
		w.WriteHeader(status)
		_, _ = io.WriteString(w, refusal)
		return
	}
	p.taken = append(p.taken, request)
	if len(p.taken) == 1 {
		_, _ = io.WriteString(w, p.first)
		return
	}
	apptest.TextAnswer("done")(w)
}

func (p *fakeShape) requests() []gjson.Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]gjson.Result{}, p.taken...)
}

// configuration returns the first documented configuration of the provider for Chat Completions.
func (p *fakeShape) configuration(t *testing.T) (string, *config.Config, config.Provider) {
	for _, text := range documented(t)[p.section] {
		if c, found := documentedProvider(t, text); found.WireAPI == config.WireChat {
			return text, c, found
		}
	}
	require.Fail(t, "no documented configuration with Chat Completions", p.section)
	return "", nil, config.Provider{}
}

// client returns a client of a server that has the documented configuration with the fake provider.
func (p *fakeShape) client(t *testing.T, home string, args ...string) *apptest.Client {
	text, c, documented := p.configuration(t)
	base, err := url.Parse(documented.BaseURL)
	require.NoError(t, err)
	apptest.WriteConfig(t, home, text)
	cmd := apptest.ServerCommand(t, home,
		append(args, "-c", fmt.Sprintf("model_providers.%s.base_url=%q", c.ModelProvider, p.server.URL+base.Path))...)
	cmd.Env = append(cmd.Env, documented.EnvKey+"="+documentedKey)
	for _, variable := range documented.EnvHTTPHeaders {
		cmd.Env = append(cmd.Env, variable+"="+documentedKey)
	}
	client := apptest.StartProcess(t, cmd)
	client.Initialize()
	return client
}

// TestDocumentedProvidersRunTurns runs a turn with calls at each documented provider. It completes,
// and the provider accepts the request with the outputs.
func TestDocumentedProvidersRunTurns(t *testing.T) {
	for _, s := range shapes() {
		t.Run(s.section, func(t *testing.T) {
			t.Parallel()
			p := newFakeShape(t, s)
			c := p.client(t, t.TempDir())
			ended := c.Turn(c.StartTrusted(), "look")
			require.Equal(t, "completed", ended.Status, "%+v", ended.Error)
			taken := p.requests()
			require.Len(t, taken, 2)
			requirePaired(t, taken[1])
			require.LessOrEqual(t, p.rejected, 2, "the server repeats rejected members")
		})
	}
}

// requirePaired requires that each call of a request has a unique id, JSON arguments and an output.
func requirePaired(t *testing.T, request gjson.Result) {
	var called, answered []string
	for _, m := range assistants(request) {
		for _, call := range m.Get("tool_calls").Array() {
			require.NotContains(t, called, call.Get("id").Str)
			require.True(t, json.Valid([]byte(call.Get("function.arguments").Str)))
			called = append(called, call.Get("id").Str)
		}
	}
	for _, id := range request.Get("messages.#.tool_call_id").Array() {
		answered = append(answered, id.Str)
	}
	require.NotEmpty(t, called)
	require.Equal(t, called, answered)
	require.NotContains(t, called, "")
}

// TestReloadedHistoryIsAccepted reloads a thread after a rewrite of its file, and after a crash.
// Its provider accepts the history.
func TestReloadedHistoryIsAccepted(t *testing.T) {
	for _, s := range shapes() {
		if !strings.Contains("DeepSeek Gemini OpenRouter", s.section) {
			continue
		}
		t.Run(s.section, func(t *testing.T) {
			t.Parallel()
			p, home := newFakeShape(t, s), t.TempDir()
			c := p.client(t, home, "-c", "thread_unload_delay_secs=0")
			thread := c.StartTrusted()
			require.Equal(t, "completed", c.Turn(thread, "look").Status)
			c.Call("thread/unsubscribe", apptest.Object{"threadId": thread})
			c.UntilMethod("thread/closed")
			c.Call("thread/resume", apptest.Object{"threadId": thread})
			require.Equal(t, "completed", c.Turn(thread, "and now").Status)
			c.Kill()

			c = p.client(t, home)
			c.Call("thread/resume", apptest.Object{"threadId": thread})
			require.Equal(t, "completed", c.Turn(thread, "and then").Status)
			require.Zero(t, p.rejected, "the history lacks members that the provider needs")
			require.Len(t, p.requests(), 4)
		})
	}
}
