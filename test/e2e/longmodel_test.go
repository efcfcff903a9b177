package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tiktoken-go/tokenizer/codec"

	"appserver/test/apptest"
)

// longRequest is a request of a long conversation.
type longRequest struct {
	messages []string
	tokens   int
	// summary reports whether a summary is requested, refused whether the request was too long.
	summary, rejected bool
}

// longModel is a provider of long conversations. The turn whose input begins with "Turn n:" makes
// calls of the shell that depend on n, and ends with a text.
type longModel struct {
	server *httptest.Server
	meter  *meter
	// summarise returns the status and text for the k-th request for a summary, from 1.
	summarise func(k int) (status int, text string)
	// window is the maximum number of tokens of a request; 0 means no limit.
	window int

	mu        sync.Mutex
	counts    map[string]int
	requests  []longRequest
	summaries int
}

func newLongModel(t *testing.T) *longModel {
	m := &longModel{counts: map[string]int{}, summarise: fairSummary}
	library := counterOf(codec.NewO200kBase())
	m.meter = &meter{count: func(text string) int {
		n, known := m.counts[text]
		if !known {
			n = library(text)
			m.counts[text] = n
		}
		return n
	}}
	m.server = httptest.NewServer(apptest.ModelHandler(m.serve))
	t.Cleanup(m.server.Close)
	return m
}

func fairSummary(k int) (int, string) {
	return http.StatusOK, fmt.Sprintf("Summary %d. ", k) +
		strings.Repeat("The agent read reports and answered questions about them. ", 30)
}

// summaryPrompt is the beginning of the system prompt of requests for a summary.
const summaryPrompt = "You write the summary"

func (m *longModel) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	request := m.record(gjson.ParseBytes(body))
	switch {
	case request.rejected:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprint(w, `{"error":{"message":"the prompt is too long","code":"context_length_exceeded"}}`)
	case request.summary:
		m.summaries++
		status, text := m.summarise(m.summaries)
		if status != http.StatusOK {
			http.Error(w, text, status)
			return
		}
		apptest.TextAnswer(text)(w)
	default:
		reported := m.meter.request(gjson.ParseBytes(body))
		fmt.Fprint(w, longAnswer(request.messages),
			fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1,"total_tokens":%d}}`+"\n\n", reported, reported+1), "data: [DONE]\n\n")
	}
}

// record records a request. It counts the JSON of messages and tools, which is more than models
// receive.
func (m *longModel) record(body gjson.Result) longRequest {
	r := longRequest{tokens: m.meter.count(body.Get("tools").Raw)}
	for _, message := range body.Get("messages").Array() {
		r.messages = append(r.messages, separated(message)...)
		r.tokens += m.meter.count(message.Raw)
	}
	r.summary = strings.HasPrefix(body.Get("messages.0.content").Str, summaryPrompt)
	r.rejected = m.window > 0 && r.tokens > m.window
	m.requests = append(m.requests, r)
	return r
}

// separated returns a message of the user as its last turn and what stands before it, and any other message as it is.
func separated(message gjson.Result) []string {
	content := message.Get("content").Str
	turn := strings.LastIndex(content, "\n\nTurn ")
	if turn < 0 || message.Get("role").Str != "user" {
		return []string{message.Raw}
	}
	var parts []string
	for _, text := range []string{content[:turn], content[turn+2:]} {
		raw, err := json.Marshal(apptest.ChatMessage{Role: "user", Content: text}) // in the order of the server
		if err != nil {
			panic(err) // impossible: a string
		}
		parts = append(parts, string(raw))
	}
	return parts
}

// recorded returns the requests so far.
func (m *longModel) recorded() []longRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]longRequest{}, m.requests...)
}

// longAnswer returns the answer to a request, which depends on its turn and the outputs since.
func longAnswer(messages []string) string {
	turn, outputs := 0, 0
	for _, raw := range messages {
		message := gjson.Parse(raw)
		n := 0
		if _, err := fmt.Sscanf(message.Get("content").Str, "Turn %d:", &n); err == nil && message.Get("role").Str == "user" {
			turn, outputs = n, 0
		}
		if message.Get("role").Str == "tool" {
			outputs++
		}
	}
	calls := longCalls(turn)
	for i, call := range calls {
		if i < outputs {
			continue
		}
		batch := calls[i : i+1]
		if call.together {
			batch = calls[i : i+2]
		}
		return callsOf(turn, i, batch)
	}
	text := fmt.Sprintf("Answer %d: ", turn) +
		strings.Repeat("that is what the report says, as far as it goes. ", 1+turn*7%23)
	return apptest.ChatChunk(apptest.Object{"role": "assistant", "content": text}, nil) +
		apptest.ChatChunk(apptest.Object{}, "stop")
}

// longCall is a call of the shell with an output of some lines. If together is set, the next call
// is in the same answer.
type longCall struct {
	lines    int
	together bool
}

// longCalls returns the calls of a turn. A line has about a dozen tokens.
func longCalls(turn int) []longCall {
	switch {
	case turn%50 == 31:
		return []longCall{{lines: 900}, {lines: 20}} // truncated: more than half of a window of 20,000
	case turn%20 == 7:
		return []longCall{{lines: 450}}
	case turn%10 == 3:
		return []longCall{{lines: 30}, {lines: 15, together: true}, {lines: 60}}
	case turn%3 == 0:
		return []longCall{{lines: 10 + turn%5*20}}
	}
	return nil
}

func callsOf(turn, first int, batch []longCall) string {
	var calls []apptest.Object
	for i, c := range batch {
		script := fmt.Sprintf("seq -f 'report %d.%d, line %%g: nothing of note' 1 %d", turn, first+i, c.lines)
		arguments, err := json.Marshal(apptest.Object{"command": script})
		if err != nil {
			panic(err) // impossible: a string
		}
		calls = append(calls, apptest.Object{"index": i, "id": fmt.Sprintf("call_%d_%d", turn, first+i), "type": "function",
			"function": apptest.Object{"name": "shell", "arguments": string(arguments)}})
	}
	return apptest.ChatChunk(apptest.Object{"role": "assistant", "tool_calls": calls}, nil) +
		apptest.ChatChunk(apptest.Object{}, "tool_calls")
}

// countOf returns the counted tokens of a message.
func (m *longModel) countOf(raw string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.meter.count(raw)
}
