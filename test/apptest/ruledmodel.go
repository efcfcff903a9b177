package apptest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Rule is an answer of a ruled model to one request.
type Rule struct {
	// Last is in the last message of the request, Has in any, and Lacks in none. "" fits all requests.
	Last, Has, Lacks string
	// Until delays the answer until it is closed, unless it is nil.
	Until <-chan struct{}
	// Calls are the calls of the answer, or else Text is its text.
	Calls []ToolCall
	Text  string
}

// NewRuledModel returns a provider for several agents, whose requests come in any order. The first rule that fits a
// request and that no request has used yet answers it. Without one, the answer is "done".
func (on WireAPI) NewRuledModel(t *testing.T, rules ...Rule) *Provider {
	p := &Provider{wire: on}
	used := make([]bool, len(rules))
	var mu sync.Mutex
	take := func(messages []json.RawMessage) Rule {
		mu.Lock()
		defer mu.Unlock()
		all := string(JoinRaw(messages))
		last := string(messages[len(messages)-1])
		for i, rule := range rules {
			if !used[i] && strings.Contains(last, rule.Last) && strings.Contains(all, rule.Has) &&
				(rule.Lacks == "" || !strings.Contains(all, rule.Lacks)) {
				used[i] = true
				return rule
			}
		}
		return Rule{Text: "done"}
	}
	p.Server = httptest.NewServer(ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		var request ChatRequest
		body, err := io.ReadAll(r.Body)
		if err = errors.Join(err, json.Unmarshal(body, &request)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request.Body, request.Header = string(body), r.Header
		responses := strings.HasSuffix(r.URL.Path, "/responses")
		if responses {
			request.Messages = asMessages(body)
		}
		n := p.Record(request)
		rule := take(request.Messages)
		if rule.Until != nil {
			select {
			case <-rule.Until:
			case <-r.Context().Done():
				return
			}
		}
		answer := TextAnswer(rule.Text)
		if len(rule.Calls) > 0 {
			answer = func(w io.Writer) { WriteCalls(w, n, rule.Calls, "") }
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if responses {
			answerByResponses(w, answer)
			return
		}
		answer(w)
	}))
	t.Cleanup(p.Server.Close)
	return p
}

// JoinRaw returns messages as one text.
func JoinRaw(messages []json.RawMessage) []byte {
	var all []byte
	for _, m := range messages {
		all = append(append(all, m...), '\n')
	}
	return all
}
