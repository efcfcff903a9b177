package engine_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// checker receives all messages and records each violation of these rules:
//
//   - Each request has one response.
//   - A fact that a message reports is durable when the message is sent, even in the worst crash.
//   - A client that received the start of a turn receives its end once, and then nothing of that
//     turn. The same holds for items.
//   - A client that received a request of the server receives its resolution once.
//   - All clients have the same list of context items, whether they receive full lists or changes.
type checker struct {
	mem        *faultfs.Mem
	mu         sync.Mutex
	violations []string
	requests   map[protocol.Caller]call
	answers    map[protocol.Caller]int
	turns      map[turnOf]*turnState
	items      map[itemOf]bool // false once completed
	questions  map[serverRequestID]*serverRequestState
	promises   map[string][]string // facts by thread
	memory     map[string]bool     // ephemeral threads
	lists      map[listOf]*contextList
	rounds     map[string]*round // by thread
	own        map[string]bool   // own turns of proxied requests; no rollout contains them
	// listAtRequest is the list that a client had when it sent the request.
	listAtRequest map[protocol.Caller]*contextList
}

type turnOf struct {
	conn uint64
	turn string
}

type itemOf struct {
	conn uint64
	turn string
	item string
}

type serverRequestID struct{ conn, id uint64 }

type serverRequestState struct {
	thread string
	turn   string
	open   bool
}

// turnState is a turn of which a client received the start. It is left if its request is resolved, and nothing
// follows: a turn that waits for an answer only stays open when its thread is closed.
type turnState struct {
	thread string
	open   bool
	left   bool
}

func newChecker(mem *faultfs.Mem) *checker {
	w := &checker{mem: mem, requests: map[protocol.Caller]call{}, answers: map[protocol.Caller]int{},
		promises: map[string][]string{}, memory: map[string]bool{}, own: map[string]bool{}}
	w.restarted()
	return w
}

// restarted drops the state that ends with the process.
func (w *checker) restarted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turns, w.items, w.questions = map[turnOf]*turnState{}, map[itemOf]bool{}, map[serverRequestID]*serverRequestState{}
	w.lists, w.rounds, w.listAtRequest = map[listOf]*contextList{}, map[string]*round{}, map[protocol.Caller]*contextList{}
}

func (w *checker) report(format string, args ...any) {
	w.violations = append(w.violations, fmt.Sprintf(format, args...))
}

// problems returns the violations so far.
func (w *checker) problems() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.violations)
}

func (w *checker) request(to protocol.Caller, c call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests[to] = c
	w.listAtRequest[to] = w.lists[listOf{to.Conn, c.thread}]
}

func (w *checker) methodOf(to protocol.Caller) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests[to].method
}

func (w *checker) check(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.method != "ContextItems" {
		delete(w.rounds, w.requests[m.to].thread)
		delete(w.rounds, m.body.Get("threadId").Str)
	}
	switch m.kind {
	case response:
		w.checkResponse(m)
		w.checkResult(m)
		w.checkContextResult(m)
	case rejection:
		w.checkResponse(m)
		if m.err == nil || m.err.Message == "" || m.err.Code == 0 || m.err.Data == nil || m.err.Data.Kind == "" {
			w.report("%v: the error lacks a code, a message or a kind: %v", m, m.err)
		}
	case serverRequest:
		id := serverRequestID{m.to.Conn, m.id}
		if q := w.questions[id]; q != nil && !q.open {
			w.report("%v: request %d of the server is sent again after it was resolved", m, m.id)
		}
		w.questions[id] = &serverRequestState{m.body.Get("threadId").Str, m.body.Get("turnId").Str, true}
	case notification:
		w.checkNotification(m)
	}
}

func (w *checker) checkResponse(m message) {
	w.answers[m.to]++
	if n := w.answers[m.to]; n > 1 {
		w.report("%v: request %d has %d responses", m, m.to.Request, n)
	}
	if m.method == "" {
		w.report("%v: no client sent request %d", m, m.to.Request)
	}
}

func (w *checker) checkResult(m message) {
	switch m.method {
	case "thread/start", "thread/fork":
		id := m.body.Get("thread.id").Str
		if w.memory[id] = m.body.Get("thread.ephemeral").Bool(); !w.memory[id] && !factsOf(w.mem, id)["begun"] {
			w.report("%v: the thread is not on the disk", m)
		}
	case "thread/resume":
		for _, turn := range m.body.Get("thread.turns").Array() {
			if id := (turnOf{m.to.Conn, turn.Get("id").Str}); turn.Get("status").Str == "inProgress" && w.turns[id] == nil {
				w.turns[id] = &turnState{thread: m.body.Get("thread.id").Str, open: true}
			}
		}
	case "thread/unsubscribe":
		w.unsubscribed(m.to.Conn, w.requests[m.to].thread)
	}
	if strings.HasPrefix(m.method, "proxied ") && m.body.Get("turn.status").Str == "completed" {
		w.own[m.body.Get("turn.id").Str] = true
	}
}

// factPromisedBy returns the fact that must be durable before a notification is sent, or "".
func factPromisedBy(m message) (fact string) {
	switch m.method {
	case "turn/started":
		return "begin of turn " + m.body.Get("turn.id").Str
	case "turn/completed":
		if strings.Contains(m.body.Get("turn.error.message").Str, "could not be saved") {
			return ""
		}
		return "end of turn " + m.body.Get("turn.id").Str
	case "item/completed":
		return "item " + m.body.Get("item.id").Str
	case "thread/name/updated":
		return "name " + m.body.Get("threadName").Str
	}
	return ""
}

func (w *checker) checkNotification(m message) {
	thread := m.body.Get("threadId").Str
	if !w.own[m.body.Get("turn.id").Str] {
		w.promise(m, thread, factPromisedBy(m))
	}
	switch m.method {
	case "ContextItems":
		w.checkContextItems(m, thread)
	case "thread/closed", "thread/archived":
		delete(w.lists, listOf{m.to.Conn, thread})
		w.closed(m.to.Conn, thread)
	case "thread/status/changed":
		w.goesOn(m, thread)
	}
	turn := m.body.Get("turnId").Str
	if turn == "" {
		turn = m.body.Get("turn.id").Str
	}
	if turn != "" {
		w.checkTurn(m, thread, turn)
	}
	if m.method == "serverRequest/resolved" {
		w.checkResolved(m, serverRequestID{m.to.Conn, m.body.Get("requestId").Uint()})
	}
}

func (w *checker) checkResolved(m message, id serverRequestID) {
	switch q := w.questions[id]; {
	case q == nil:
		w.report("%v: the client did not receive this request of the server", m)
	case !q.open:
		w.report("%v: the request is resolved twice", m)
	default:
		q.open = false
		if state := w.turns[turnOf{m.to.Conn, q.turn}]; state != nil {
			state.left = true
		}
	}
}

// goesOn notes that a turn of the thread is active.
func (w *checker) goesOn(m message, thread string) {
	for key, state := range w.turns {
		if key.conn == m.to.Conn && state.thread == thread && m.body.Get("status.type").Str == "active" {
			state.left = false
		}
	}
}

// closed drops the turns of a closed thread that were left, and their items. They can begin again.
func (w *checker) closed(conn uint64, thread string) {
	for key, state := range w.turns {
		if key.conn != conn || state.thread != thread || !state.left {
			continue
		}
		delete(w.turns, key)
		maps.DeleteFunc(w.items, func(item itemOf, open bool) bool {
			return item.conn == conn && item.turn == key.turn && open
		})
	}
}

func (w *checker) checkTurn(m message, thread, turn string) {
	key := turnOf{m.to.Conn, turn}
	state := w.turns[key]
	if state != nil {
		state.left = false
	}
	switch {
	case m.method == "turn/started":
		if state != nil {
			w.report("%v: the turn is started twice", m)
		}
		w.turns[key] = &turnState{thread: thread, open: true}
	case m.method == "thread/tokenUsage/updated" && (state == nil || !state.open): // also sent on a resume
	case state == nil:
		w.report("%v: the client did not receive the start of this turn", m)
	case !state.open && strings.HasPrefix(m.method, "item/"): // a background command outlives its turn
		if kind := m.body.Get("item.type").Str; kind != "" && kind != "commandExecution" {
			w.report("%v: the turn is completed already", m)
		}
	case !state.open:
		w.report("%v: the turn is completed already", m)
	case m.method == "turn/completed":
		state.open = false
	case strings.HasPrefix(m.method, "item/"):
		w.checkItem(m, itemOf{m.to.Conn, turn, m.body.Get("itemId").Str + m.body.Get("item.id").Str})
	}
}

func (w *checker) checkItem(m message, key itemOf) {
	open, known := w.items[key]
	if known && !open {
		w.report("%v: the item is completed already", m)
	}
	if known && m.method == "item/started" {
		w.report("%v: the item is started twice", m)
	}
	w.items[key] = m.method != "item/completed"
}

// unsubscribed drops the state of a client that unsubscribed from a thread.
func (w *checker) unsubscribed(conn uint64, thread string) {
	for key, state := range w.turns {
		if key.conn == conn && state.thread == thread {
			delete(w.turns, key)
		}
	}
	for key, state := range w.questions {
		if key.conn == conn && state.thread == thread {
			delete(w.questions, key)
		}
	}
}

// ended checks the rules that hold while no work is in progress.
func (w *checker) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for to, c := range w.requests {
		if w.answers[to] == 0 {
			w.report("%s of client %d has no response", c.method, to.Conn)
		}
	}
	for key, state := range w.turns {
		if state.open && !state.left {
			w.report("client %d does not receive the end of turn %s", key.conn, key.turn)
		}
	}
	for key, state := range w.questions {
		if state.open {
			w.report("client %d does not receive the resolution of request %d of the server", key.conn, key.id)
		}
	}
}

// checkDurable checks that a disk has all facts that messages reported.
func (w *checker) checkDurable(disk rollout.FS, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for thread, promised := range w.promises {
		kept := factsOf(disk, thread)
		for _, fact := range promised {
			if !kept[fact] {
				w.report("%s lost the %s", what, fact)
			}
		}
	}
}
