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

var crashes = flag.Int("crashes", 15, "how often TestCrashAtAnyMoment kills the server")

// sampled returns n, or a fifth of it with -short.
func sampled(n int) int {
	if testing.Short() {
		return (n + 4) / 5
	}
	return n
}

// witness is what the client was told of a thread, by all servers so far.
type witness struct {
	id string
	// items were said to be complete, in this order, or were read after a crash.
	items []string
	// inputs are the texts of answered turn/start and turn/steer.
	inputs []string
	// names were asked for, in this order; answered counts those up to the last that
	// was answered.
	names    []string
	answered int
	// ended are the turns that were said to have ended, with their status.
	ended map[string]string
	// turn is under way, as far as the client knows.
	turn string
	// rollout is what the file held after the last crash, torn whether a line of it
	// was cut off.
	rollout string
	torn    bool
}

// check compares a thread, as a server shows it after a crash, with what was told.
func (w *witness) check(t *testing.T, v apptest.ThreadView) {
	t.Helper()
	items := apptest.ItemsOf(v)
	require.GreaterOrEqual(t, len(items), len(w.items), "items are lost")
	require.Equal(t, w.items, items[:len(w.items)])
	all := strings.Join(items, "\n")
	for _, input := range w.inputs {
		require.Contains(t, all, input)
	}
	if w.answered > 0 || v.Name != "" {
		require.Contains(t, w.names[max(w.answered-1, 0):], v.Name)
	}
	for _, turn := range v.Turns {
		require.NotEqual(t, "inProgress", turn.Status)
		if status := w.ended[turn.ID]; status != "" {
			require.Equal(t, status, turn.Status)
			delete(w.ended, turn.ID)
		}
	}
	require.Empty(t, w.ended, "turns are lost")
	w.items, w.ended, w.turn = items, map[string]string{}, ""
}

// checkRollout looks at the file that a crash left: what was there before still is,
// and but for a torn end every line is whole.
func (w *witness) checkRollout(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(text), w.rollout), "the file is not only appended to")
	fresh := string(text[len(w.rollout):])
	for line := range strings.Lines(fresh) {
		if !w.torn {
			w.torn = !strings.HasSuffix(line, "\n")
			require.True(t, w.torn || json.Valid([]byte(line)), "no line: %q", line)
		}
	}
	w.rollout = string(text)
}

// crasher is a client whose servers are killed.
type crasher struct {
	*apptest.Client
	t         *testing.T
	rand      *rand.Rand
	home      string
	witnesses []*witness
	waiting   map[string]func(json.RawMessage) // what the answer to a request, by its id, says
	inputs    int
}

func newCrasher(t *testing.T) *crasher {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &crasher{t: t, rand: rand.New(rand.NewPCG(seed, 0)), home: t.TempDir()}
}

// restart starts a server, and checks that it knows and resumes all threads.
func (c *crasher) restart() {
	c.t.Helper()
	c.Client, c.waiting = apptest.StartOffline(c.t, c.home), map[string]func(json.RawMessage){}
	for _, w := range c.witnesses {
		read := c.ReadThread(w.id)
		w.checkRollout(c.t, read.Path)
		w.check(c.t, read)
		w.check(c.t, c.CallThread("thread/resume", apptest.Object{"threadId": w.id}))
	}
	c.Call("model/list", apptest.Object{}) // behind which there are no more warnings
	warnings := strings.Join(c.Warnings(), "\n")
	for _, w := range c.witnesses {
		require.True(c.t, w.torn || !strings.Contains(warnings, w.id), warnings)
	}
	c.Seen = nil
}

// crash kills the server, and takes notice of all that it still said.
func (c *crasher) crash() {
	c.t.Helper()
	c.Signal(syscall.SIGKILL)
	unread := len(c.Seen)
	c.Drain()
	for _, m := range c.Seen[unread:] {
		c.notice(m)
	}
}

// notice remembers what a message says.
func (c *crasher) notice(m apptest.Message) {
	c.t.Helper()
	var p struct {
		ThreadID string
		Item     json.RawMessage
		Turn     struct{ ID, Status string }
	}
	if m.Method != "" {
		require.NoError(c.t, json.Unmarshal(m.Params, &p))
	}
	w := c.witness(p.ThreadID)
	switch {
	case m.Method == "":
		answered := c.waiting[string(m.ID)]
		delete(c.waiting, string(m.ID))
		if m.Error == nil {
			answered(m.Result)
		}
	case w == nil:
	case m.Method == "item/completed":
		w.items = append(w.items, string(p.Item))
	case m.Method == "turn/started":
		w.turn = p.Turn.ID
	case m.Method == "turn/completed":
		w.turn, w.ended[p.Turn.ID] = "", p.Turn.Status
	}
}

// noticeUntilAnswered reads up to the answer to the last request.
func (c *crasher) noticeUntilAnswered() {
	c.t.Helper()
	last := fmt.Sprint(c.LastID)
	c.Until(func(m apptest.Message) bool {
		c.notice(m)
		return m.Method == "" && string(m.ID) == last
	})
}

// quiet is true when the server may have nothing more to say.
func (c *crasher) quiet() bool {
	return len(c.waiting) == 0 && !slices.ContainsFunc(c.witnesses, func(w *witness) bool { return w.turn != "" })
}

func (c *crasher) witness(id string) *witness {
	for _, w := range c.witnesses {
		if w.id == id {
			return w
		}
	}
	return nil
}

// later sends a request; answered is called when its answer is noticed.
func (c *crasher) later(method string, params apptest.Object, answered func(json.RawMessage)) {
	c.t.Helper()
	c.waiting[c.SendRequest(method, params)] = answered
}

func (c *crasher) begin() {
	c.t.Helper()
	c.later("thread/start", apptest.Object{"cwd": "/", "sandbox": "danger-full-access", "approvalPolicy": "never"},
		func(result json.RawMessage) {
			var r struct{ Thread apptest.ThreadView }
			require.NoError(c.t, json.Unmarshal(result, &r))
			c.witnesses = append(c.witnesses, &witness{id: r.Thread.ID, items: []string{}, ended: map[string]string{}})
		})
}

// say gives input: a turn, or more of the turn under way.
func (c *crasher) say(w *witness) {
	c.t.Helper()
	c.inputs++
	mark := fmt.Sprintf("input-%d", c.inputs)
	text := []string{"%s", "think of %s", "run: echo %s", "run: head -c 20000 /dev/zero | tr '\\0' x; echo %s",
		"run: sleep 0.02; echo %s"}[c.rand.IntN(5)]
	input := apptest.TextInput(fmt.Sprintf(text, mark))
	answered := func(json.RawMessage) { w.inputs = append(w.inputs, mark) }
	if w.turn != "" && c.rand.IntN(2) == 0 {
		c.later("turn/steer", apptest.Object{"threadId": w.id, "expectedTurnId": w.turn, "input": input}, answered)
		return
	}
	c.later("turn/start", apptest.Object{"threadId": w.id, "input": input}, answered)
}

func (c *crasher) name(w *witness) {
	c.t.Helper()
	w.names = append(w.names, fmt.Sprintf("name %d", len(w.names)))
	n := len(w.names)
	c.later("thread/name/set", apptest.Object{"threadId": w.id, "name": w.names[n-1]},
		func(json.RawMessage) { w.answered = n })
}

func (c *crasher) interrupt(w *witness) {
	c.t.Helper()
	c.later("turn/interrupt", apptest.Object{"threadId": w.id}, func(json.RawMessage) {})
}

// act does something, and does not wait for what it gives.
func (c *crasher) act() {
	c.t.Helper()
	if len(c.witnesses) == 0 || len(c.witnesses) < 4 && c.rand.IntN(10) == 0 {
		c.begin()
		return
	}
	w := c.witnesses[c.rand.IntN(len(c.witnesses))]
	switch c.rand.IntN(6) {
	case 0:
		c.name(w)
	case 1:
		c.interrupt(w)
	default:
		c.say(w)
	}
}

// TestCrashAtAnyMoment kills servers under turns with commands, steering, interrupts
// and names. The next one resumes, and knows all that the client was told.
func TestCrashAtAnyMoment(t *testing.T) {
	t.Parallel()
	c := newCrasher(t)
	for range sampled(*crashes) {
		c.restart()
		for left := c.rand.IntN(60); left > 0; left-- {
			if c.rand.IntN(4) == 0 || c.quiet() {
				c.act()
			}
			c.notice(c.Next())
		}
		c.crash()
	}
	c.restart()
	require.NotEmpty(t, c.witnesses)
	for _, w := range c.witnesses {
		require.Equal(t, "completed", c.Turn(w.id, "hello").Status)
	}
	c.Close()
}

// TestCrashRightAfterTheAnswer kills the server when a request has been answered.
func TestCrashRightAfterTheAnswer(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(c *crasher){
		"thread/start":    func(c *crasher) { c.begin() },
		"turn/start":      func(c *crasher) { c.say(c.witnesses[0]) },
		"thread/name/set": func(c *crasher) { c.name(c.witnesses[0]) },
		"another name": func(c *crasher) {
			c.name(c.witnesses[0])
			c.noticeUntilAnswered()
			c.name(c.witnesses[0])
		},
		"turn/steer": func(c *crasher) {
			w := c.witnesses[0]
			w.turn = c.BeginTurn(w.id, "run: sleep 600")
			c.later("turn/steer",
				apptest.Object{"threadId": w.id, "expectedTurnId": w.turn, "input": apptest.TextInput("the other way")},
				func(json.RawMessage) { w.inputs = append(w.inputs, "the other way") })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCrasher(t)
			c.restart()
			c.begin()
			c.noticeUntilAnswered()
			act(c)
			c.noticeUntilAnswered()
			c.crash()
			c.restart()
			require.Equal(t, "completed", c.Turn(c.witnesses[0].id, "hello").Status)
			c.Close()
		})
	}
}

// TestCrashAfterEachItem kills the server when an item was said to be complete.
func TestCrashAfterEachItem(t *testing.T) {
	t.Parallel()
	c := newCrasher(t)
	c.restart()
	c.begin()
	c.noticeUntilAnswered()
	for range 2 {
		for item := 1; item <= 4; item++ { // user, reasoning, command, answer
			c.later("turn/start",
				apptest.Object{"threadId": c.witnesses[0].id, "input": apptest.TextInput("think, then run: echo hello")},
				func(json.RawMessage) {})
			for completed := 0; completed < item; {
				m := c.Next()
				c.notice(m)
				if m.Method == "item/completed" {
					completed++
				}
			}
			c.crash()
			c.restart()
		}
	}
	require.GreaterOrEqual(t, len(c.witnesses[0].items), 20)
	c.Close()
}
