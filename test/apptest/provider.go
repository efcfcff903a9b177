package apptest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// ChatRequest is a recorded model request. Input items of the Responses API are converted to
// messages of Chat Completions.
type ChatRequest struct {
	Body     string            `json:"-"`
	Query    string            `json:"-"`
	Header   http.Header       `json:"-"`
	Messages []json.RawMessage `json:"messages"`
}

// ChatMessage is a message with text content.
type ChatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// LastMessage returns the last message of the request.
func (r ChatRequest) LastMessage(t *testing.T) (m ChatMessage) {
	require.NotEmpty(t, r.Messages)
	require.NoError(t, json.Unmarshal(r.Messages[len(r.Messages)-1], &m))
	return m
}

// Provider is a fake server of both APIs. It records all requests.
type Provider struct {
	Server *httptest.Server
	wire   WireAPI // the API in written configurations; empty means Chat Completions
	// Refuse returns the status and the body of a refusal of a request, or 0 for a request that is answered. It is set
	// before the first request.
	Refuse func(body string) (status int, refusal string)

	mu       sync.Mutex
	requests []ChatRequest
	refused  int
}

// NewProvider returns a provider that answers the n-th request that it does not refuse, from 0, with the n-th answer.
func NewProvider(t *testing.T, answers ...func(w io.Writer)) *Provider {
	p := &Provider{}
	p.Server = httptest.NewServer(ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		var request ChatRequest
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, json.Unmarshal(body, &request)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request.Body, request.Query, request.Header = string(body), r.URL.RawQuery, r.Header
		responses := strings.HasSuffix(r.URL.Path, "/responses")
		if responses {
			request.Messages = asMessages(body)
		}
		n := p.Record(request)
		if p.refuses(w, request.Body) {
			return
		}
		if n -= p.countRefused(); n >= len(answers) {
			http.Error(w, "no more answers", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if responses {
			answerByResponses(w, answers[n])
			return
		}
		answers[n](w)
	}))
	t.Cleanup(p.Server.Close)
	return p
}

// refuses reports whether the provider refuses a request, and answers it then.
func (p *Provider) refuses(w http.ResponseWriter, body string) bool {
	if p.Refuse == nil {
		return false
	}
	status, refusal := p.Refuse(body)
	if status == 0 {
		return false
	}
	p.mu.Lock()
	p.refused++
	p.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, refusal)
	return true
}

func (p *Provider) countRefused() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused
}

// ModelHandler serves model requests; requests for the list of models get status 405.
func ModelHandler(serve http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /", serve)
	return mux
}

// Record adds a request and returns its index.
func (p *Provider) Record(r ChatRequest) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	return len(p.requests) - 1
}

// Requests returns the requests so far.
func (p *Provider) Requests() []ChatRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Home returns a new home whose configuration names the provider.
func (p *Provider) Home(t *testing.T) string {
	home := t.TempDir()
	p.Configure(t, home)
	return home
}

// Configure writes a configuration that names the provider into a home.
func (p *Provider) Configure(t *testing.T, home string) {
	WriteConfig(t, home,
		fmt.Sprintf("model = \"test\"\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = %q\nwire_api = %q\n",
			p.Server.URL+"/v1", cmp.Or(p.wire, ChatWire)))
}

// WriteConfig writes config.toml.
func WriteConfig(t *testing.T, home, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
}

// ChatChunk returns a streamed event with a delta, and a finish reason or nil.
func ChatChunk(delta Object, finish any) string {
	choice := Object{"index": 0, "delta": delta, "finish_reason": finish}
	b, err := json.Marshal(Object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "test",
		"choices": []Object{choice}})
	if err != nil {
		panic(err) // impossible: maps and strings
	}
	return "data: " + string(b) + "\n\n"
}

// TextAnswer returns an answer with a text.
func TextAnswer(text string) func(w io.Writer) {
	return func(w io.Writer) {
		fmt.Fprint(w, ChatChunk(Object{"role": "assistant", "content": text}, nil), ChatChunk(Object{}, "stop"),
			"data: [DONE]\n\n")
	}
}

// ShellAnswer returns an answer that calls the tool shell.
func ShellAnswer(id, script string) func(w io.Writer) {
	return ShellAnswerWith(id, Object{"command": script})
}

// ShellAnswerWith returns an answer that calls the tool shell with any arguments.
func ShellAnswerWith(id string, arguments Object) func(w io.Writer) {
	encoded, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // impossible: strings
	}
	return ToolAnswer(id, "shell", string(encoded))
}

// ToolAnswer returns an answer that calls a tool.
func ToolAnswer(id, name, arguments string) func(w io.Writer) {
	call := Object{"index": 0, "id": id, "type": "function", "function": Object{"name": name, "arguments": arguments}}
	return func(w io.Writer) {
		fmt.Fprint(w, ChatChunk(Object{"role": "assistant", "tool_calls": []Object{call}}, nil),
			ChatChunk(Object{}, "tool_calls"), "data: [DONE]\n\n")
	}
}
