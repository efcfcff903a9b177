package crash

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

var crashes = flag.Int("crashes", 15, "number of kills in TestCrashKeepsThreads and TestCrashKeepsContextEdits")

// sampled returns n, or a fifth of it with -short.
func sampled(n int) int {
	if testing.Short() {
		return (n + 4) / 5
	}
	return n
}

// crashThread is the state of a thread that the client knows from all servers so far.
type crashThread struct {
	id string
	// items are the completed items in order, and those read after a crash.
	items []string
	// inputs are the texts of acknowledged turn/start and turn/steer requests.
	inputs []string
	// names are the requested names in order. acked is the number of names up to the last acknowledged
	// one.
	names []string
	acked int
	// ended are the statuses of completed turns by id.
	ended map[string]string
	// turn is the active turn, or "".
	turn string
	// rollout is the content of the file after the last crash. torn reports whether a line in it was
	// cut off.
	rollout string
	torn    bool
}

// check requires that a thread read after a crash has all that is known of it.
func (th *crashThread) check(t *testing.T, v apptest.ThreadView) {
	t.Helper()
	items := apptest.ItemsOf(v)
	require.GreaterOrEqual(t, len(items), len(th.items), "items are lost")
	require.Equal(t, th.items, items[:len(th.items)])
	all := strings.Join(items, "\n")
	for _, input := range th.inputs {
		require.Contains(t, all, input)
	}
	if th.acked > 0 || v.Name != "" {
		require.Contains(t, th.names[max(th.acked-1, 0):], v.Name)
	}
	for _, turn := range v.Turns {
		require.NotEqual(t, "inProgress", turn.Status)
		if status := th.ended[turn.ID]; status != "" {
			require.Equal(t, status, turn.Status)
			delete(th.ended, turn.ID)
		}
	}
	require.Empty(t, th.ended, "turns are lost")
	th.items, th.ended, th.turn = items, map[string]string{}, ""
}

// checkRollout requires that the rollout only grew, and that all new lines are whole, except a torn
// tail.
func (th *crashThread) checkRollout(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), th.rollout), "a written line changed")
	fresh := string(text[len(th.rollout):])
	for line := range strings.Lines(fresh) {
		if !th.torn {
			th.torn = !strings.HasSuffix(line, "\n")
			require.True(t, th.torn || json.Valid([]byte(line)), "not a line: %q", line)
		}
	}
	th.rollout = string(text)
}

// crasher is a client whose servers are killed.
type crasher struct {
	*apptest.Client
	t        *testing.T
	rand     *rand.Rand
	home     string
	project  string
	threads  []*crashThread
	handlers map[string]func(json.RawMessage) // handlers of successful responses by request id
	inputs   int
}

func newCrasher(t *testing.T) *crasher {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &crasher{t: t, rand: rand.New(rand.NewPCG(seed, 0)), home: t.TempDir(), project: t.TempDir()}
}

// restart starts a server and requires that it reads and resumes all threads.
func (c *crasher) restart() {
	c.t.Helper()
	c.Client, c.handlers = apptest.StartOffline(c.t, c.home), map[string]func(json.RawMessage){}
	for _, th := range c.threads {
		read := c.ReadThread(th.id)
		th.checkRollout(c.t, read.Path)
		th.check(c.t, read)
		th.check(c.t, c.CallThread("thread/resume", apptest.Object{"threadId": th.id}))
	}
	c.Call("model/list", apptest.Object{}) // the response follows all warnings
	warnings := strings.Join(c.Warnings(), "\n")
	for _, th := range c.threads {
		require.True(c.t, th.torn || !strings.Contains(warnings, th.id), warnings)
	}
	c.Seen = nil
}

// kill kills the server and handles its remaining messages.
func (c *crasher) kill() {
	c.t.Helper()
	c.Signal(syscall.SIGKILL)
	unread := len(c.Seen)
	c.Drain()
	for _, m := range c.Seen[unread:] {
		c.handle(m)
	}
}

// handle records a message.
func (c *crasher) handle(m apptest.Message) {
	c.t.Helper()
	var p struct {
		ThreadID string
		Item     json.RawMessage
		Turn     struct{ ID, Status string }
	}
	if m.Method != "" {
		require.NoError(c.t, json.Unmarshal(m.Params, &p))
	}
	th := c.thread(p.ThreadID)
	switch {
	case m.Method == "":
		acked := c.handlers[string(m.ID)]
		delete(c.handlers, string(m.ID))
		if m.Error == nil {
			acked(m.Result)
		}
	case th == nil:
	case m.Method == "item/completed":
		th.items = append(th.items, string(p.Item))
	case m.Method == "turn/started":
		th.turn = p.Turn.ID
	case m.Method == "turn/completed":
		th.turn, th.ended[p.Turn.ID] = "", p.Turn.Status
	}
}

// handleUntilResponse reads until the response to the last request.
func (c *crasher) handleUntilResponse() {
	c.t.Helper()
	last := fmt.Sprint(c.LastID)
	c.Until(func(m apptest.Message) bool {
		c.handle(m)
		return m.Method == "" && string(m.ID) == last
	})
}

// idle reports whether no response and no turn is pending.
func (c *crasher) idle() bool {
	return len(c.handlers) == 0 && !slices.ContainsFunc(c.threads, func(th *crashThread) bool { return th.turn != "" })
}

func (c *crasher) thread(id string) *crashThread {
	for _, th := range c.threads {
		if th.id == id {
			return th
		}
	}
	return nil
}

// sendAsync sends a request. If it succeeds, handle calls acked with the result.
func (c *crasher) sendAsync(method string, params apptest.Object, acked func(json.RawMessage)) {
	c.t.Helper()
	c.handlers[c.SendRequest(method, params)] = acked
}

func (c *crasher) startThread() {
	c.t.Helper()
	c.sendAsync("thread/start", apptest.Object{"cwd": c.project, "sandbox": "danger-full-access", "approvalPolicy": "never"},
		func(result json.RawMessage) {
			var r struct{ Thread apptest.ThreadView }
			require.NoError(c.t, json.Unmarshal(result, &r))
			c.threads = append(c.threads, &crashThread{id: r.Thread.ID, items: []string{}, ended: map[string]string{}})
		})
}

// sendInput starts a turn, or steers the active one.
func (c *crasher) sendInput(th *crashThread) {
	c.t.Helper()
	c.inputs++
	mark := fmt.Sprintf("input-%d", c.inputs)
	text := []string{"%s", "think of %s", "run: echo %s", "run: head -c 20000 /dev/zero | tr '\\0' x; echo %s",
		"run: sleep 0.02; echo %s"}[c.rand.IntN(5)]
	input := apptest.TextInput(fmt.Sprintf(text, mark))
	acked := func(json.RawMessage) { th.inputs = append(th.inputs, mark) }
	if th.turn != "" && c.rand.IntN(2) == 0 {
		c.sendAsync("turn/steer", apptest.Object{"threadId": th.id, "expectedTurnId": th.turn, "input": input}, acked)
		return
	}
	c.sendAsync("turn/start", apptest.Object{"threadId": th.id, "input": input}, acked)
}

func (c *crasher) rename(th *crashThread) {
	c.t.Helper()
	th.names = append(th.names, fmt.Sprintf("name %d", len(th.names)))
	n := len(th.names)
	c.sendAsync("thread/name/set", apptest.Object{"threadId": th.id, "name": th.names[n-1]},
		func(json.RawMessage) { th.acked = n })
}

func (c *crasher) interrupt(th *crashThread) {
	c.t.Helper()
	c.sendAsync("turn/interrupt", apptest.Object{"threadId": th.id}, func(json.RawMessage) {})
}

// sendRandom sends a random request and does not wait for the response.
func (c *crasher) sendRandom() {
	c.t.Helper()
	if len(c.threads) == 0 || len(c.threads) < 4 && c.rand.IntN(10) == 0 {
		c.startThread()
		return
	}
	th := c.threads[c.rand.IntN(len(c.threads))]
	switch c.rand.IntN(6) {
	case 0:
		c.rename(th)
	case 1:
		c.interrupt(th)
	default:
		c.sendInput(th)
	}
}

// TestCrashKeepsThreads kills servers at random moments while turns run, are steered, interrupted
// and renamed. The next server resumes each thread with everything that the client received.
func TestCrashKeepsThreads(t *testing.T) {
	t.Parallel()
	c := newCrasher(t)
	for range sampled(*crashes) {
		c.restart()
		for left := c.rand.IntN(60); left > 0; left-- {
			if c.rand.IntN(4) == 0 || c.idle() {
				c.sendRandom()
			}
			c.handle(c.Next())
		}
		c.kill()
	}
	c.restart()
	require.NotEmpty(t, c.threads)
	for _, th := range c.threads {
		require.Equal(t, "completed", c.Turn(th.id, "hello").Status)
	}
	c.Close()
}

// TestCrashAfterResponseKeepsRequest kills the server right after a response.
func TestCrashAfterResponseKeepsRequest(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(c *crasher){
		"thread/start":    func(c *crasher) { c.startThread() },
		"turn/start":      func(c *crasher) { c.sendInput(c.threads[0]) },
		"thread/name/set": func(c *crasher) { c.rename(c.threads[0]) },
		"another name": func(c *crasher) {
			c.rename(c.threads[0])
			c.handleUntilResponse()
			c.rename(c.threads[0])
		},
		"turn/steer": func(c *crasher) {
			th := c.threads[0]
			th.turn = c.BeginTurn(th.id, "run: sleep 600")
			c.sendAsync("turn/steer",
				apptest.Object{"threadId": th.id, "expectedTurnId": th.turn, "input": apptest.TextInput("the other way")},
				func(json.RawMessage) { th.inputs = append(th.inputs, "the other way") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrasher(t)
			c.restart()
			c.startThread()
			c.handleUntilResponse()
			act(c)
			c.handleUntilResponse()
			c.kill()
			c.restart()
			require.Equal(t, "completed", c.Turn(c.threads[0].id, "hello").Status)
			c.Close()
		})
	}
}

// TestCrashAfterItemKeepsIt kills the server right after an item completes.
func TestCrashAfterItemKeepsIt(t *testing.T) {
	t.Parallel()
	c := newCrasher(t)
	c.restart()
	c.startThread()
	c.handleUntilResponse()
	for range 2 {
		for item := 1; item <= 4; item++ { // user message, reasoning, command, answer
			c.sendAsync("turn/start",
				apptest.Object{"threadId": c.threads[0].id, "input": apptest.TextInput("think, then run: echo hello")},
				func(json.RawMessage) {})
			for completed := 0; completed < item; {
				m := c.Next()
				c.handle(m)
				if m.Method == "item/completed" {
					completed++
				}
			}
			c.kill()
			c.restart()
		}
	}
	require.GreaterOrEqual(t, len(c.threads[0].items), 20)
	c.Close()
}
