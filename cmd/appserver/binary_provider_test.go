package main

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

// chatRequest is a model request: as it was sent, and its messages. Those of the Responses API are
// rewritten as messages of Chat Completions.
type chatRequest struct {
	Body     string            `json:"-"`
	Query    string            `json:"-"`
	Header   http.Header       `json:"-"`
	Messages []json.RawMessage `json:"messages"`
}

// chatMessage is a message of a request.
type chatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// last is the newest message of the request.
func (r chatRequest) last(t *testing.T) (m chatMessage) {
	require.NotEmpty(t, r.Messages)
	require.NoError(t, json.Unmarshal(r.Messages[len(r.Messages)-1], &m))
	return m
}

// provider is a server of both APIs that keeps the requests.
type provider struct {
	server *httptest.Server
	wire   wireAPI // that configurations name, chat by default

	mu       sync.Mutex
	requests []chatRequest
}

// newProvider answers the n-th request, from 0, by the n-th of the answers.
func newProvider(t *testing.T, answers ...func(w io.Writer)) *provider {
	p := &provider{}
	p.server = httptest.NewServer(completions(func(w http.ResponseWriter, r *http.Request) {
		var request chatRequest
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
		n := p.keep(request)
		if n >= len(answers) {
			http.Error(w, "no more answers", http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if responses {
			byResponses(w, answers[n])
			return
		}
		answers[n](w)
	}))
	t.Cleanup(p.server.Close)
	return p
}

// completions serves model requests, and no list of models.
func completions(serve http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /", serve)
	return mux
}

func (p *provider) keep(r chatRequest) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
	return len(p.requests) - 1
}

func (p *provider) asked() []chatRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// home is a new one, whose configuration names the provider.
func (p *provider) home(t *testing.T) string {
	home := t.TempDir()
	p.configure(t, home)
	return home
}

// configure has the configuration of a home name the provider.
func (p *provider) configure(t *testing.T, home string) {
	writeConfig(t, home, fmt.Sprintf("model = \"test\"\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = %q\nwire_api = %q\n", p.server.URL+"/v1", cmp.Or(p.wire, chatWire)))
}

func writeConfig(t *testing.T, home, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
}

// streamed is an event of an answer with a delta, and why it ends, if it does.
func streamed(delta object, finish any) string {
	choice := object{"index": 0, "delta": delta, "finish_reason": finish}
	b, err := json.Marshal(object{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "test", "choices": []object{choice}})
	if err != nil {
		panic(err) // of maps and strings
	}
	return "data: " + string(b) + "\n\n"
}

// says answers with a text.
func says(text string) func(w io.Writer) {
	return func(w io.Writer) {
		fmt.Fprint(w, streamed(object{"role": "assistant", "content": text}, nil), streamed(object{}, "stop"), "data: [DONE]\n\n")
	}
}

// callsShell answers with a call of the shell.
func callsShell(id, script string) func(w io.Writer) {
	return callsShellWith(id, object{"command": script})
}

func callsShellWith(id string, given object) func(w io.Writer) {
	arguments, err := json.Marshal(given)
	if err != nil {
		panic(err) // of strings
	}
	return callsTool(id, "shell", string(arguments))
}

// callsTool answers with a call of a tool.
func callsTool(id, name, arguments string) func(w io.Writer) {
	call := object{"index": 0, "id": id, "type": "function", "function": object{"name": name, "arguments": arguments}}
	return func(w io.Writer) {
		fmt.Fprint(w, streamed(object{"role": "assistant", "tool_calls": []object{call}}, nil), streamed(object{}, "tool_calls"), "data: [DONE]\n\n")
	}
}
