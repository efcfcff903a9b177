package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

const longWindow = 20_000

// The user states one rule in the first turn, in a message that is too long to be kept, and one in
// a later turn.
const (
	firstRule = "Never touch vendor/legacy, whatever happens."
	laterRule = "From now on, always answer in British English."
	laterTurn = 20
)

// longThread is a thread of many turns with a small context window.
type longThread struct {
	*apptest.Client
	t     *testing.T
	model *longModel
	home  string
	id    string
	turns int
	// sent are all messages in the order of their first request.
	sent  []string
	known map[string]bool
	// rules are the rules that a request contained.
	rules map[string]bool
	// checked is the number of checked requests.
	checked int
	// verbatim is the number of requests whose last turns were compared.
	verbatim int
}

// newLongThread starts a server with settings in addition to those of the provider.
func newLongThread(t *testing.T, m *longModel, config string) *longThread {
	l := &longThread{t: t, model: m, home: t.TempDir(), known: map[string]bool{}, rules: map[string]bool{}}
	apptest.WriteConfig(t, l.home, config+fmt.Sprintf(`
model_provider = "test"
compat.turn_completed_floor_ms = 0
[model_providers.test]
base_url = %q
wire_api = "chat"
request_max_retries = 1
stream_max_retries = 0
`, m.server.URL+"/v1"))
	l.start()
	l.id = l.StartTrusted()
	return l
}

const longConfig = `model = "gpt-5"
model_context_window = 20000
`

func (l *longThread) start(args ...string) {
	l.Client = apptest.StartServer(l.t, l.home, args...)
	l.Initialize()
}

// restart kills the server, and resumes the thread in another.
func (l *longThread) restart(args ...string) {
	l.Kill()
	l.start(args...)
	l.Call("thread/resume", apptest.Object{"threadId": l.id, "excludeTurns": true})
}

// runTurns runs the next n turns.
func (l *longThread) runTurns(n int) {
	l.t.Helper()
	for range n {
		l.turns++
		ended := l.Turn(l.id, longMessage(l.turns))
		require.Equal(l.t, "completed", ended.Status, "turn %d: %+v", l.turns, ended.Error)
	}
}

func longMessage(turn int) string {
	text := fmt.Sprintf("Turn %d: what does the report of the day say about item %d?", turn, turn*turn)
	switch turn {
	case 1:
		return text + " " + firstRule + strings.Repeat(" There is a lot of background to this, as it came.", 180)
	case laterTurn:
		return text + " " + laterRule
	}
	return text
}

// check checks the requests since its last call.
func (l *longThread) check() {
	l.t.Helper()
	requests := l.model.recorded()
	for i, r := range requests[l.checked:] {
		about := fmt.Sprintf("request %d, of %d messages", l.checked+i, len(r.messages))
		if r.rejected {
			continue
		}
		require.LessOrEqual(l.t, r.tokens, longWindow, about)
		if r.summary {
			continue
		}
		requirePairs(l.t, r.messages, about)
		l.requireRule(strings.Join(r.messages, "\n"), about)
		l.addSent(r.messages)
		l.compare(r.messages, about)
	}
	l.checked = len(requests)
}

// requireRule requires a rule in all requests after the first one that has it.
func (l *longThread) requireRule(text, about string) {
	l.t.Helper()
	for _, rule := range []string{firstRule, laterRule} {
		if l.rules[rule] {
			require.Contains(l.t, text, rule, about)
		}
		l.rules[rule] = strings.Contains(text, rule)
	}
}

// requirePairs requires that each call is followed by its output, and that there are no other
// outputs.
func requirePairs(t *testing.T, messages []string, about string) {
	t.Helper()
	var open []string
	for _, raw := range messages {
		m := gjson.Parse(raw)
		if m.Get("role").Str == "tool" {
			at := slices.Index(open, m.Get("tool_call_id").Str)
			require.GreaterOrEqual(t, at, 0, "%s: an output without its call: %s", about, raw)
			open = slices.Delete(open, at, at+1)
			continue
		}
		require.Empty(t, open, "%s: calls without outputs", about)
		for _, call := range m.Get("tool_calls").Array() {
			open = append(open, call.Get("id").Str)
		}
	}
	require.Empty(t, open, "%s: calls without outputs", about)
}

// addSent records the new messages of a request.
func (l *longThread) addSent(messages []string) {
	for _, raw := range messages {
		if l.known[raw] || isStandIn(raw) {
			continue
		}
		l.known[raw] = true
		l.sent = append(l.sent, raw)
	}
}

// isStandIn reports whether a message replaces others.
func isStandIn(raw string) bool {
	content := gjson.Get(raw, "content").Str
	return strings.Contains(content, "Summary of the earlier conversation") ||
		strings.HasPrefix(content, "[output excluded from context")
}

// compare requires that the last five turns are sent unchanged if the last ten are small. Otherwise
// the target has no room for five.
func (l *longThread) compare(messages []string, about string) {
	l.t.Helper()
	ten, five := l.lastTurns(10), l.lastTurns(5)
	tokens := 0
	for _, raw := range ten {
		tokens += l.model.countOf(raw)
	}
	if ten == nil || tokens > 5000 {
		return
	}
	require.GreaterOrEqual(l.t, len(messages), len(five), about)
	require.Equal(l.t, five, messages[len(messages)-len(five):], about)
	l.verbatim++
}

// lastTurns returns the messages of the last n turns, or nil if there are fewer.
func (l *longThread) lastTurns(n int) []string {
	for i := len(l.sent) - 1; i >= 0; i-- {
		if strings.HasPrefix(gjson.Get(l.sent[i], "content").Str, "Turn ") {
			if n--; n == 0 {
				return l.sent[i:]
			}
		}
	}
	return nil
}

// compacted returns the strategies of the notified compactions.
func (l *longThread) compacted() (strategies []string) {
	for _, m := range l.Seen {
		if m.Method == "thread/compacted" {
			strategies = append(strategies, gjson.GetBytes(m.Params, "strategy").Str)
		}
	}
	return strategies
}

// lastRequest returns the last request for an answer.
func (l *longThread) lastRequest() []string {
	requests := l.model.recorded()
	return requests[len(requests)-1].messages
}

// TestLongThreadStaysInWindow runs 300 turns in a window for a dozen.
func TestLongThreadStaysInWindow(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	l := newLongThread(t, newLongModel(t), longConfig)
	l.runTurns(300)
	l.check()
	require.Greater(t, len(l.compacted()), 10)
	require.Empty(t, l.Warnings())
	require.Equal(t, map[string]bool{firstRule: true, laterRule: true}, l.rules)
	require.Greater(t, l.verbatim, 15)
	last, five := l.lastRequest(), l.lastTurns(5)
	require.Equal(t, five, last[len(last)-len(five):])
	l.undoLast()
}

// undoLast kills the server twice, and undoes the last compaction in between. The window is large
// enough then that no other compaction runs.
func (l *longThread) undoLast() {
	before, sentBefore := l.aroundLast()
	large := []string{"-c", "model_context_window=200000"}
	was := l.lastRequest()
	l.restart(large...)
	l.runTurns(1)
	require.Equal(l.t, was, l.lastRequest()[:len(was)], "the request after a kill is equal")
	require.Len(l.t, l.lastRequest(), len(was)+2)

	l.check()
	l.Call("context/undo", apptest.Object{"threadId": l.id})
	l.runTurns(1)
	l.addSent(l.lastRequest())
	want := append(before, l.sent[sentBefore:]...)
	require.Equal(l.t, want, l.lastRequest(), "the last compaction is undone")
	was = l.lastRequest()
	l.restart(large...)
	l.runTurns(1)
	require.Equal(l.t, was, l.lastRequest()[:len(was)], "the request after a kill is equal")
	l.Close()
}

// aroundLast returns the last request before the last compaction, and the number of messages sent
// up to it.
func (l *longThread) aroundLast() (before []string, sent int) {
	requests := l.model.recorded()
	last := len(requests) - 1
	for !requests[last].summary {
		last--
	}
	before = slices.Clone(requests[last-1].messages)
	for i, raw := range l.sent {
		if slices.Contains(before, raw) {
			sent = i + 1
		}
	}
	return before, sent
}

// TestLongThreadSurvivesFailures runs fewer turns with failing models, other strategies and an
// unknown window.
func TestLongThreadSurvivesFailures(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for name, v := range map[string]struct {
		config    string
		summarise func(k int) (status int, text string)
		window    int
		// strategies are those of the notified compactions.
		strategies []string
		// summarized, warned and refused report whether the model is asked for summaries, the client is
		// warned, and a request is rejected as too long.
		summarized, warned, refused bool
	}{
		"rubbish": {longConfig, func(int) (int, string) { return http.StatusOK, "ok" }, 0, []string{"summary"}, true,
			false, false},
		"failing": {longConfig, func(int) (int, string) { return http.StatusInternalServerError, "no" }, 0,
			[]string{"local"}, true, true, false},
		"local": {longConfig + "compaction.strategy = \"local\"\n", nil, 0, []string{"local"}, false, false, false},
		"userMessages": {longConfig + "compaction.strategy = \"userMessages\"\n", nil, 0, []string{"userMessages"}, false,
			false, false},
		"mask": {longConfig + "compaction.strategy = \"mask\"\n", nil, 0, []string{"mask", "local"}, false, false,
			false},
		"no window": {"model = \"local-model\"\n", fairSummary, longWindow, []string{"summary"}, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newLongModel(t)
			m.window, m.summarise = v.window, v.summarise
			l := newLongThread(t, m, v.config)
			l.runTurns(60)
			l.check()
			strategies := l.compacted()
			require.GreaterOrEqual(t, len(strategies), 3)
			require.Subset(t, v.strategies, strategies)
			require.Contains(t, strategies, v.strategies[0])
			require.Equal(t, map[string]bool{firstRule: true, laterRule: true}, l.rules)
			require.Equal(t, v.warned, len(l.Warnings()) > 0)
			require.Equal(t, v.summarized, slices.ContainsFunc(m.recorded(), func(r longRequest) bool { return r.summary }))
			require.Equal(t, v.refused, slices.ContainsFunc(m.recorded(), func(r longRequest) bool { return r.rejected }))
			l.Close()
		})
	}
}
