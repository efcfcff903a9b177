//go:build reference

package interchange

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// failingStream is an answer of the Responses API to each request of both servers.
type failingStream struct {
	stream string
	// reference is the expected streamSeen of a client of the reference, as text. ours is "" if a
	// client of this server sees the same; otherwise docs/compat.md has the reason.
	reference, ours string
}

func failedEvent(code, message string) string {
	return fmt.Sprintf(`data: {"type":"response.failed","response":{"id":"r","error":{"code":%q,"message":%q}}}`+"\n\n",
		code, message)
}

func incompleteEvent(reason string) string {
	return fmt.Sprintf(`data: {"type":"response.incomplete","response":{"id":"r","incomplete_details":{"reason":%q}}}`+
		"\n\n", reason)
}

const halfText = `data: {"type":"response.output_text.delta","output_index":0,"item_id":"m_1","delta":"half"}` + "\n\n"

// The ends of a turn whose provider always fails, with one retry.
const (
	broken      = `2 requests, retried, failed "other"`
	givenUp     = `1 requests, failed "other"`
	limited     = `2 requests, retried, failed "rateLimitExceeded"`
	withoutRoom = `1 requests, failed "contextWindowExceeded"`
	usedUp      = `1 requests, failed "usageLimitExceeded"`
	keptHalf    = `1 requests, completed`
)

var failingStreams = map[string]failingStream{
	"context_length_exceeded": {stream: failedEvent("context_length_exceeded", "too long"), reference: withoutRoom},
	"rate_limit_exceeded": {stream: failedEvent("rate_limit_exceeded", "Please try again in 0.05s."),
		reference: limited},
	"slow_down":          {stream: failedEvent("slow_down", "slower"), reference: limited},
	"insufficient_quota": {stream: failedEvent("insufficient_quota", "pay"), reference: usedUp},
	"usage_not_included": {stream: failedEvent("usage_not_included", "plan"), reference: usedUp},
	"server_is_overloaded": {stream: failedEvent("server_is_overloaded", "busy"),
		reference: `1 requests, failed "serverOverloaded"`},
	"invalid_prompt":  {stream: failedEvent("invalid_prompt", "no"), reference: givenUp},
	"cyber_policy":    {stream: failedEvent("cyber_policy", "no"), reference: `1 requests, failed "cyberPolicy"`},
	"an unknown code": {stream: failedEvent("whim", "no"), reference: broken},
	"no error": {stream: `data: {"type":"response.failed","response":{"id":"r"}}` + "\n\n",
		reference: broken},
	"error null": {stream: `data: {"type":"response.failed","response":{"id":"r","error":null}}` + "\n\n",
		reference: broken},
	"cut to length": {stream: halfText + incompleteEvent("max_output_tokens"), reference: givenUp,
		ours: keptHalf},
	"filtered":               {stream: halfText + incompleteEvent("content_filter"), reference: broken, ours: keptHalf},
	"nothing, cut to length": {stream: incompleteEvent("max_output_tokens"), reference: givenUp},
	"no end":                 {stream: halfText, reference: broken},
	"nothing":                {stream: "", reference: broken},
	"garbage":                {stream: halfText + "data: {\"type\":\n\n", reference: broken},
	"error event, flat": {stream: `data: {"type":"error","code":"rate_limit_exceeded","message":"slow"}` + "\n\n",
		reference: broken, ours: limited},
	"error event, nested": {stream: `data: {"type":"error","error":{"code":"context_length_exceeded","message":"long"}}` +
		"\n\n", reference: withoutRoom},
}

// TestReferenceFailures compares both servers for each failure of the Responses API: the number of
// requests, the notices of retries, the kinds of errors and the ends of turns.
func TestReferenceFailures(t *testing.T) {
	for name, c := range failingStreams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := runStreams(t, startReference, c.stream)
			require.Equal(t, c.reference, seen.end(), "the reference implementation")
			seen = runStreams(t, startOurs, c.stream)
			require.Equal(t, cmp.Or(c.ours, c.reference), seen.end())
		})
	}
}

func startOurs(t *testing.T, home string) *apptest.Client { return apptest.StartServer(t, home) }

// startReference starts the reference without connections to its vendor.
func startReference(t *testing.T, home string) *apptest.Client {
	t.Helper()
	return apptest.Connect(t, referenceCommand(t, home), nil)
}

// referenceCommand returns a command that runs the reference implementation.
func referenceCommand(t *testing.T, home string) *exec.Cmd {
	t.Helper()
	path := os.Getenv("REFERENCE_BINARY")
	require.NotEmpty(t, path, "set REFERENCE_BINARY to the program of the reference implementation")
	return apptest.ProcessCommand(t, home, path, "app-server",
		"-c", "analytics.enabled=false", "-c", "features.apps=false", "-c", "features.plugins=false")
}

// streamSeen are the observations of a turn by a client and a provider.
type streamSeen struct {
	requests int
	retried  bool
	status   string
	kind     json.RawMessage
	items    []string // completed ones
}

func (s streamSeen) end() string {
	text := fmt.Sprintf("%d requests, ", s.requests)
	if s.retried {
		text += "retried, "
	}
	return strings.TrimSpace(fmt.Sprintf("%s%s %s", text, s.status, s.kind))
}

// turnMessage has the members of notifications for streamSeen.
type turnMessage struct {
	WillRetry bool
	Error     struct{ CodexErrorInfo json.RawMessage }
	Item      struct {
		Type, Text, Command string
		Summary             []string
	}
	Turn struct {
		Status string
		Error  *struct{ CodexErrorInfo json.RawMessage }
	}
}

// runStreams runs a turn with a provider that answers the n-th request with the n-th stream, and
// later ones with the last.
func runStreams(t *testing.T, start func(*testing.T, string) *apptest.Client, streams ...string) (seen streamSeen) {
	var requests atomic.Int32
	provider := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		n := int(requests.Add(1)) - 1
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, streams[min(n, len(streams)-1)])
	}))
	t.Cleanup(provider.Close)
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = \"gpt-5\"\nmodel_provider = \"test\"\nsandbox_mode = \"danger-full-access\"\n"+
			"[model_providers.test]\nname = \"test\"\nbase_url = \"%s/v1\"\n"+
			"wire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 1\n", provider.URL))
	c := start(t, home)
	c.Initialize()
	c.BeginTurn(c.StartThread(apptest.Object{"cwd": t.TempDir(), "approvalPolicy": "never"}), "hello")
	c.Until(func(m apptest.Message) bool {
		var p turnMessage
		switch m.Method {
		case "error":
			require.NoError(t, json.Unmarshal(m.Params, &p))
			if p.WillRetry {
				seen.retried = true
				require.JSONEq(t, `{"responseStreamDisconnected":{"httpStatusCode":null}}`, string(p.Error.CodexErrorInfo))
			}
		case "item/completed":
			require.NoError(t, json.Unmarshal(m.Params, &p))
			if p.Item.Type != "userMessage" {
				seen.items = append(seen.items, p.Item.Text+p.Item.Command+strings.Join(p.Item.Summary, ""))
			}
		case "turn/completed":
			require.NoError(t, json.Unmarshal(m.Params, &p))
			seen.status = p.Turn.Status
			if p.Turn.Error != nil {
				seen.kind = p.Turn.Error.CodexErrorInfo
			}
		}
		return m.Method == "turn/completed"
	})
	seen.requests = int(requests.Load())
	return seen
}

// contradictoryStream is a complete answer that contradicts itself.
type contradictoryStream struct {
	stream string
	// reference are the texts and commands of the items that a client of the reference sees. ours is
	// nil if a client of this server sees the same; otherwise docs/compat.md has the reason.
	reference, ours []string
}

var contradictoryStreams = map[string]contradictoryStream{
	"done without added": {stream: sseEvent(apptest.ItemDone(apptest.HelloMessage)), reference: []string{"hello"}},
	"other text than the deltas": {stream: messageAdded(0) + textDelta(0, "hullo") + doneAt(0, apptest.HelloMessage),
		reference: []string{"hello"}},
	"deltas of an unknown item": {stream: messageAdded(0) + textDelta(9, "hello") + doneAt(0, apptest.HelloMessage),
		reference: []string{"hello"}},
	"deltas after their item": {stream: messageAdded(0) + doneAt(0, apptest.HelloMessage) + textDelta(0, " late"),
		reference: []string{"hello"}},
	"deltas alone": {stream: messageAdded(0) + textDelta(0, "hello"), ours: []string{"hello"}},
	"deltas of nothing": {stream: textDelta(0, "hello") + doneAt(0, apptest.HelloMessage),
		reference: []string{"hello"}},
	"an item twice": {stream: doneAt(0, apptest.HelloMessage) + doneAt(0, apptest.HelloMessage),
		reference: []string{"hello", "hello"}},
	"messages interleaved": {
		stream: messageAdded(0) + messageAdded(1) + textDelta(0, "hel") + textDelta(1, "the") + textDelta(0, "lo") +
			textDelta(1, "re") +
			doneAt(0, apptest.HelloMessage) + doneAt(1, saidThere),
		reference: []string{"hello", "there"},
	},
	"a call amidst a message": {
		stream: messageAdded(0) + textDelta(0, "hel") + doneAt(1, callOf("c1", "echo once")) + textDelta(0, "lo") +
			doneAt(0, apptest.HelloMessage),
		reference: []string{"hello", "/bin/bash -lc 'echo once'", "there"},
	},
	"a call twice": {
		stream:    doneAt(0, callOf("c1", "echo once")) + doneAt(1, callOf("c1", "echo once")),
		reference: []string{"/bin/bash -lc 'echo once'", "/bin/bash -lc 'echo once'", "there"},
		ours:      []string{"/bin/bash -lc 'echo once'", "there"},
	},
	"other arguments than the deltas": {
		stream: sseEvent(`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"cmd\":\"echo wrong\"}"}`) +
			doneAt(0, callOf("c1", "echo right")),
		reference: []string{"/bin/bash -lc 'echo right'", "there"},
	},
	"other reasoning than the deltas": {
		stream: sseEvent(`{"type":"response.reasoning_summary_part.added","summary_index":0}`) +
			sseEvent(`{"type":"response.reasoning_summary_text.delta","summary_index":0,"delta":"other"}`) +
			sseEvent(apptest.ItemDone(apptest.EncryptedReasoning)) + sseEvent(apptest.ItemDone(apptest.HelloMessage)),
		reference: []string{"Thinking", "hello"},
	},
	"two ends": {stream: doneAt(0, apptest.HelloMessage) + completedEvent, reference: []string{"hello"}},
	"items behind the end": {stream: doneAt(0, apptest.HelloMessage) + completedEvent + doneAt(1, saidThere),
		reference: []string{"hello"}},
	"items in the end alone": {
		stream: sseEvent(`{"type":"response.completed","response":{"id":"r","output":[` + apptest.HelloMessage + `]}}`),
		ours:   []string{"hello"},
	},
}

const saidThere = `{"type":"message","id":"m_2","role":"assistant","content":[{"type":"output_text","text":"there"}]}`

var completedEvent = sseEvent(`{"type":"response.completed","response":{"id":"r"}}`)

func sseEvent(event string) string { return "data: " + event + "\n\n" }

func doneAt(index int, item string) string {
	return sseEvent(fmt.Sprintf(`{"type":"response.output_item.done","output_index":%d,"item":%s}`, index, item))
}

func messageAdded(index int) string {
	return sseEvent(fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"type":"message","id":"m_%d","role":"assistant","content":[]}}`, index, index))
}

func textDelta(index int, text string) string {
	return sseEvent(fmt.Sprintf(`{"type":"response.output_text.delta","item_id":"m_%d","output_index":%d,"content_index":0,"delta":%q}`, index, index, text))
}

func callOf(id, script string) string {
	return fmt.Sprintf(`{"type":"function_call","id":"fc_1","name":"exec_command","arguments":"{\"cmd\":\"%s\"}","call_id":%q}`, script, id)
}

// TestReferenceContradictions compares the items of both servers for answers that contradict
// themselves.
func TestReferenceContradictions(t *testing.T) {
	last := doneAt(0, saidThere) + completedEvent
	for name, c := range contradictoryStreams {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := runStreams(t, startReference, c.stream+completedEvent, last)
			require.Equal(t, "completed", seen.status)
			require.Equal(t, c.reference, seen.items, "the reference implementation")
			seen = runStreams(t, startOurs, c.stream+completedEvent, last)
			require.Equal(t, "completed", seen.status)
			if c.ours == nil {
				c.ours = c.reference
			}
			require.Equal(t, c.ours, seen.items)
		})
	}
}
