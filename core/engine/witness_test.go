package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

// witness hears all messages and notes each rule that was broken:
//
//   - Each request is answered once.
//   - What a message promises to be kept is on the disk when it is said, whatever a
//     crash at that moment would lose.
//   - A client that was told of a turn is told of its end, once, and nothing of the
//     turn after it; likewise items.
//   - A client that was asked something is told that it is resolved, once.
//   - Clients are told of the same context items, whether all of them or the changes.
type witness struct {
	mem       *faultfs.Mem
	mu        sync.Mutex
	broken    []string
	requests  map[protocol.Caller]call
	answers   map[protocol.Caller]int
	turns     map[turnOf]*turnState
	items     map[itemOf]bool // false once completed
	questions map[questionOf]*questionState
	promises  map[string][]string // facts by thread
	memory    map[string]bool     // threads that keep nothing
	lists     map[listOf]*contextList
	rounds    map[string]*round // by thread
	own       map[string]bool   // own turns of proxied requests; no rollout contains them
	// listAtAsking is the list that a client had when it asked.
	listAtAsking map[protocol.Caller]*contextList
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

type questionOf struct{ conn, id uint64 }

type questionState struct {
	thread string
	open   bool
}

type turnState struct {
	thread string
	open   bool
}

func newWitness(mem *faultfs.Mem) *witness {
	w := &witness{mem: mem, requests: map[protocol.Caller]call{}, answers: map[protocol.Caller]int{},
		promises: map[string][]string{}, memory: map[string]bool{}, own: map[string]bool{}}
	w.restarted()
	return w
}

// restarted forgets what ends with the process.
func (w *witness) restarted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turns, w.items, w.questions = map[turnOf]*turnState{}, map[itemOf]bool{}, map[questionOf]*questionState{}
	w.lists, w.rounds, w.listAtAsking = map[listOf]*contextList{}, map[string]*round{}, map[protocol.Caller]*contextList{}
}

func (w *witness) report(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// faults are the rules that were broken so far.
func (w *witness) faults() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.broken)
}

func (w *witness) asked(to protocol.Caller, c call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests[to] = c
	w.listAtAsking[to] = w.lists[listOf{to.Conn, c.thread}]
}

func (w *witness) methodOf(to protocol.Caller) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.requests[to].method
}

func (w *witness) see(m message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.method != "ContextItems" {
		delete(w.rounds, w.requests[m.to].thread)
		delete(w.rounds, m.body.Get("threadId").Str)
	}
	switch m.kind {
	case reply:
		w.seeAnswer(m)
		w.seeReply(m)
		w.seeContextReply(m)
	case refusal:
		w.seeAnswer(m)
		if m.err == nil || m.err.Message == "" || m.err.Code == 0 || m.err.Data == nil || m.err.Data.Kind == "" {
			w.report("%v: a refusal without a reason: %v", m, m.err)
		}
	case question:
		id := questionOf{m.to.Conn, m.id}
		if q := w.questions[id]; q != nil && !q.open {
			w.report("%v: question %d is asked again after it was resolved", m, m.id)
		}
		w.questions[id] = &questionState{m.body.Get("threadId").Str, true}
	case notice:
		w.seeNotice(m)
	}
}

func (w *witness) seeAnswer(m message) {
	w.answers[m.to]++
	if n := w.answers[m.to]; n > 1 {
		w.report("%v: request %d is answered %d times", m, m.to.Request, n)
	}
	if m.method == "" {
		w.report("%v: nobody asked as request %d", m, m.to.Request)
	}
}

func (w *witness) seeReply(m message) {
	switch m.method {
	case "thread/start", "thread/fork":
		id := m.body.Get("thread.id").Str
		if w.memory[id] = m.body.Get("thread.ephemeral").Bool(); !w.memory[id] && !factsOf(w.mem, id)["begun"] {
			w.report("%v: the thread is not on the disk", m)
		}
	case "thread/resume":
		for _, turn := range m.body.Get("thread.turns").Array() {
			if id := (turnOf{m.to.Conn, turn.Get("id").Str}); turn.Get("status").Str == "inProgress" && w.turns[id] == nil {
				w.turns[id] = &turnState{m.body.Get("thread.id").Str, true}
			}
		}
	case "thread/unsubscribe":
		w.left(m.to.Conn, w.requests[m.to].thread)
	}
	if strings.HasPrefix(m.method, "proxied ") && m.body.Get("turn.status").Str == "completed" {
		w.own[m.body.Get("turn.id").Str] = true
	}
}

// promisedBy is what a notice promises to be kept of a thread.
func promisedBy(m message) (fact string) {
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

func (w *witness) seeNotice(m message) {
	thread := m.body.Get("threadId").Str
	if !w.own[m.body.Get("turn.id").Str] {
		w.promise(m, thread, promisedBy(m))
	}
	switch m.method {
	case "ContextItems":
		w.seeItems(m, thread)
	case "thread/closed", "thread/archived":
		delete(w.lists, listOf{m.to.Conn, thread})
	}
	turn := m.body.Get("turnId").Str
	if turn == "" {
		turn = m.body.Get("turn.id").Str
	}
	if turn != "" {
		w.seeTurn(m, thread, turn)
	}
	if m.method == "serverRequest/resolved" {
		w.seeResolved(m, questionOf{m.to.Conn, m.body.Get("requestId").Uint()})
	}
}

func (w *witness) seeResolved(m message, id questionOf) {
	switch q := w.questions[id]; {
	case q == nil:
		w.report("%v: the client was not asked this", m)
	case !q.open:
		w.report("%v: it was told before", m)
	default:
		q.open = false
	}
}

func (w *witness) seeTurn(m message, thread, turn string) {
	key := turnOf{m.to.Conn, turn}
	state := w.turns[key]
	switch {
	case m.method == "turn/started":
		if state != nil {
			w.report("%v: the turn was told before", m)
		}
		w.turns[key] = &turnState{thread, true}
	case m.method == "thread/tokenUsage/updated" && (state == nil || !state.open): // told when a thread is resumed, too
	case state == nil:
		w.report("%v: the client does not know this turn", m)
	case !state.open && strings.HasPrefix(m.method, "item/"): // of a command in the background
		if kind := m.body.Get("item.type").Str; kind != "" && kind != "commandExecution" {
			w.report("%v: the turn was told to be completed before", m)
		}
	case !state.open:
		w.report("%v: the turn was told to be completed before", m)
	case m.method == "turn/completed":
		state.open = false
	case strings.HasPrefix(m.method, "item/"):
		w.seeItem(m, itemOf{m.to.Conn, turn, m.body.Get("itemId").Str + m.body.Get("item.id").Str})
	}
}

func (w *witness) seeItem(m message, key itemOf) {
	open, known := w.items[key]
	if known && !open {
		w.report("%v: the item was completed before", m)
	}
	if known && m.method == "item/started" {
		w.report("%v: the item was told before", m)
	}
	w.items[key] = m.method != "item/completed"
}

// left forgets what a client wants to know no more.
func (w *witness) left(conn uint64, thread string) {
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

// ended checks what holds once nothing is under way any more.
func (w *witness) ended() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for to, c := range w.requests {
		if w.answers[to] == 0 {
			w.report("%s of client %d is never answered", c.method, to.Conn)
		}
	}
	for key, state := range w.turns {
		if state.open {
			w.report("client %d is never told that turn %s is completed", key.conn, key.turn)
		}
	}
	for key, state := range w.questions {
		if state.open {
			w.report("client %d is never told that question %d is resolved", key.conn, key.id)
		}
	}
}

// keeps checks that a disk has everything that was promised.
func (w *witness) keeps(disk rollout.FS, what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for thread, promised := range w.promises {
		kept := factsOf(disk, thread)
		for _, fact := range promised {
			if !kept[fact] {
				w.report("%s has lost the %s", what, fact)
			}
		}
	}
}
