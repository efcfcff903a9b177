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
)

const longWindow = 20_000

// The user sets a rule in the first turn, in a message that is too long to stay, and one
// in a later turn.
const (
	firstRule = "Never touch vendor/legacy, whatever happens."
	laterRule = "From now on, always answer in British English."
	laterTurn = 20
)

// longThread is a thread of many turns in a window that holds few of them.
type longThread struct {
	*apptest.Client
	t     *testing.T
	model *longModel
	home  string
	id    string
	turns int
	// said are all messages in the order in which they were first sent.
	said  []string
	known map[string]bool
	// rules are those that a request held.
	rules map[string]bool
	// looked is how many requests were looked at.
	looked int
	// verbatim counts the requests whose last turns were compared.
	verbatim int
}

// newLongThread starts a server with a configuration beside that of the provider.
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

// again kills the server, and has another one resume.
func (l *longThread) again(args ...string) {
	l.Kill()
	l.start(args...)
	l.Call("thread/resume", apptest.Object{"threadId": l.id, "excludeTurns": true})
}

// take takes turns.
func (l *longThread) take(n int) {
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

// check looks at the requests since it was last called.
func (l *longThread) check() {
	l.t.Helper()
	asked := l.model.asked()
	for i, r := range asked[l.looked:] {
		about := fmt.Sprintf("request %d, of %d messages", l.looked+i, len(r.messages))
		if r.refused {
			continue
		}
		require.LessOrEqual(l.t, r.tokens, longWindow, about)
		if r.summary {
			continue
		}
		requirePairs(l.t, r.messages, about)
		l.remind(strings.Join(r.messages, "\n"), about)
		l.listen(r.messages)
		l.compare(r.messages, about)
	}
	l.looked = len(asked)
}

// remind wants a rule in all requests behind the first one that holds it.
func (l *longThread) remind(text, about string) {
	l.t.Helper()
	for _, rule := range []string{firstRule, laterRule} {
		if l.rules[rule] {
			require.Contains(l.t, text, rule, about)
		}
		l.rules[rule] = strings.Contains(text, rule)
	}
}

// requirePairs wants the outputs of all calls right behind them, and no others.
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

// listen adds what is new in a request to what was said.
func (l *longThread) listen(messages []string) {
	for _, raw := range messages {
		if l.known[raw] || isStandIn(raw) {
			continue
		}
		l.known[raw] = true
		l.said = append(l.said, raw)
	}
}

// isStandIn tells whether a message stands for others.
func isStandIn(raw string) bool {
	content := gjson.Get(raw, "content").Str
	return strings.HasPrefix(content, "Summary of the earlier conversation") ||
		strings.HasPrefix(content, "[output excluded from context")
}

// compare wants the last five turns to be sent as they were, where the last ten are small:
// else the target does not leave room for five.
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

// lastTurns are the messages of the last n turns, nil where there are less.
func (l *longThread) lastTurns(n int) []string {
	for i := len(l.said) - 1; i >= 0; i-- {
		if strings.HasPrefix(gjson.Get(l.said[i], "content").Str, "Turn ") {
			if n--; n == 0 {
				return l.said[i:]
			}
		}
	}
	return nil
}

// compacted are the strategies of the compactions that the client was told of.
func (l *longThread) compacted() (strategies []string) {
	for _, m := range l.Seen {
		if m.Method == "thread/compacted" {
			strategies = append(strategies, gjson.GetBytes(m.Params, "strategy").Str)
		}
	}
	return strategies
}

// lastRequest is the newest one for an answer.
func (l *longThread) lastRequest() []string {
	asked := l.model.asked()
	return asked[len(asked)-1].messages
}

// TestBinaryLongThread has 300 turns in a window that holds a dozen.
func TestBinaryLongThread(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	l := newLongThread(t, newLongModel(t), longConfig)
	l.take(300)
	l.check()
	require.Greater(t, len(l.compacted()), 10)
	require.Empty(t, l.Warnings())
	require.Equal(t, map[string]bool{firstRule: true, laterRule: true}, l.rules)
	require.Greater(t, l.verbatim, 30)
	last, five := l.lastRequest(), l.lastTurns(5)
	require.Equal(t, five, last[len(last)-len(five):])
	l.undoLast()
}

// undoLast kills the server twice, and takes back the last compaction between. The window
// is so large then that nothing is compacted again.
func (l *longThread) undoLast() {
	before, behind := l.aroundLast()
	large := []string{"-c", "model_context_window=200000"}
	was := l.lastRequest()
	l.again(large...)
	l.take(1)
	require.Equal(l.t, was, l.lastRequest()[:len(was)], "the same after kill -9")
	require.Len(l.t, l.lastRequest(), len(was)+2)

	l.check()
	l.Call("context/undo", apptest.Object{"threadId": l.id})
	l.take(1)
	l.listen(l.lastRequest())
	want := append(before, l.said[behind:]...)
	require.Equal(l.t, want, l.lastRequest(), "as if the last compaction had not been")
	was = l.lastRequest()
	l.again(large...)
	l.take(1)
	require.Equal(l.t, was, l.lastRequest()[:len(was)], "the same after kill -9")
	l.Close()
}

// aroundLast is the last request before the last compaction, and how much had been said
// up to it.
func (l *longThread) aroundLast() (before []string, said int) {
	asked := l.model.asked()
	last := len(asked) - 1
	for !asked[last].summary {
		last--
	}
	before = slices.Clone(asked[last-1].messages)
	for i, raw := range l.said {
		if slices.Contains(before, raw) {
			said = i + 1
		}
	}
	return before, said
}

// TestBinaryLongThreadGoesOn has less turns, and models and windows that are not as they
// should be.
func TestBinaryLongThreadGoesOn(t *testing.T) {
	apptest.Long(t)
	t.Parallel()
	for name, v := range map[string]struct {
		config    string
		summarise func(k int) (status int, text string)
		window    int
		// told are the strategies that clients are told of.
		told []string
		// asked, warned and refused tell whether the model is asked for summaries, the
		// client warned, and a request refused.
		asked, warned, refused bool
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
			l.take(60)
			l.check()
			told := l.compacted()
			require.GreaterOrEqual(t, len(told), 3)
			require.Subset(t, v.told, told)
			require.Contains(t, told, v.told[0])
			require.Equal(t, map[string]bool{firstRule: true, laterRule: true}, l.rules)
			require.Equal(t, v.warned, len(l.Warnings()) > 0)
			require.Equal(t, v.asked, slices.ContainsFunc(m.asked(), func(r longRequest) bool { return r.summary }))
			require.Equal(t, v.refused, slices.ContainsFunc(m.asked(), func(r longRequest) bool { return r.refused }))
			l.Close()
		})
	}
}
