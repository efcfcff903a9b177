package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"appserver/core"
	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
	"appserver/rollout/files"
	"appserver/rollout/store"
)

var home = filepath.FromSlash("/home/codex")

const (
	// grace is how long a cancelled effect may take to end.
	grace = 2 * time.Second
	// mailbox is how many requests wait for a thread.
	mailbox = 128
	// urgentRoom is how many that end work wait beyond these.
	urgentRoom = 16
)

// rig is an engine in a bubble, with a disk, clients, a model and a shell that a
// test has in hand.
type rig struct {
	memory *notebook     // nil for none
	tokens engine.Tokens // nil for none
	store  *rollout.Store
	// connections get the notifications that are global.
	connections []uint64
	// changes are applied to the parts of each engine.
	changes []func(*engine.Parts)
	t       *testing.T
	*engine.Engine
	mem     *faultfs.Mem
	disk    *disk
	diary   *diary
	checker *checker
	clients *clients
	agent   *agent
	setup   *setup
	// folder is the worktree of threads, or nil.
	folder *folder
	logs   *observer.ObservedLogs
	gates  []*gate
	floor  time.Duration
	last   atomic.Uint64 // request
}

// bubble runs a test in a bubble with a new rig, closes the engine and lets the
// checker speak.
func bubble(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	bubbleOn(t, faultfs.Fault{}, func(t *testing.T, r *rig, _ *faultfs.Disk) { test(t, r) })
}

// bubbleOn does the same as bubble, with a disk that has a fault.
func bubbleOn(t *testing.T, f faultfs.Fault, test func(t *testing.T, r *rig, faulty *faultfs.Disk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		mem := faultfs.NewMem(home)
		faulty := faultfs.Wrap(mem, f)
		r := newRig(t, mem, faulty)
		t.Cleanup(r.release)
		test(t, r, faulty)
		r.end()
		require.Empty(t, r.checker.problems())
	})
}

func newRig(t *testing.T, mem *faultfs.Mem, below rollout.FS) *rig {
	r := &rig{t: t, mem: mem, diary: &diary{}, checker: newChecker(mem), agent: newAgent(),
		setup: &setup{policy: protocol.ApprovalNever, persist: true}}
	r.disk = &disk{FS: below, diary: r.diary}
	r.clients = &clients{diary: r.diary, checker: r.checker, slow: map[uint64]chan struct{}{},
		awaited: map[protocol.Caller]chan message{}}
	r.restart()
	return r
}

// afterCrash returns another machine with the files that a crash now leaves.
func (r *rig) afterCrash() *rig {
	mem := worstCrash(r.mem)
	crashed := newRig(r.t, mem, mem)
	crashed.setup = r.setup
	crashed.restart()
	r.t.Cleanup(crashed.release)
	return crashed
}

// restart puts a new engine in the place of the old one.
func (r *rig) restart() {
	watched, logs := observer.New(zapcore.DebugLevel)
	r.logs = logs
	var worktrees *engine.Worktrees
	if f := r.folder; f != nil {
		worktrees = &engine.Worktrees{Captures: f, FileDiffs: f, Checkpoints: f}
	}
	var memory *engine.Memory
	if m := r.memory; m != nil {
		memory = &engine.Memory{ThreadMemory: m, MemoryViews: m, MemoryChanges: m}
	}
	r.store = rollout.NewStore(r.disk, home)
	parts := engine.Parts{
		Worktrees: worktrees, Memory: memory, Tokens: r.tokens,
		Threads: r.threads(nil), Model: r.agent, Tools: r.agent, Config: r.setup, Defaults: r.setup,
		Outbox:  engine.Outbox{Answers: r.clients, Messages: r.clients, Pressure: r.clients},
		Log:     zap.New(watched, zap.Hooks(r.checkLog)),
		Version: "0.0.0", CompletedFloor: r.floor,
		Clients: engine.Clients{
			Originator:   func(uint64) string { return "test" },
			All:          func() []uint64 { return r.connections },
			NotifyOthers: r.notifyOthers(func() []uint64 { return r.connections }),
			WantsChanges: func(conn uint64) bool { return conn == mirror },
		},
	}
	for _, change := range r.changes {
		change(&parts)
	}
	r.Engine = engine.New(parts)
	r.checker.restarted()
}

// threads returns the threads of the store, with an index or nil.
func (r *rig) threads(index files.Index) store.Threads {
	return files.New(r.store, index, func(err error) { r.t.Log(err) })
}

// with changes the parts of the engine, and starts a new one.
func (r *rig) with(change func(p *engine.Parts)) {
	r.changes = append(r.changes, change)
	r.restart()
}

// checkLog fails the test after a panic, unless the test has a broken tokenizer.
func (r *rig) checkLog(e zapcore.Entry) error {
	if e.Message == "recovered from a panic" && r.tokens == nil {
		r.t.Errorf("%s\n%s", e.Message, debug.Stack())
	}
	return nil
}

// release opens everything that a test has blocked, so that the bubble can end.
func (r *rig) release() {
	for _, g := range r.gates {
		g.open()
	}
	r.agent.release()
	_ = r.close(time.Minute)
	time.Sleep(2 * grace)
}

func (r *rig) close(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return r.Close(ctx)
}

// end closes the engine and checks what then holds.
func (r *rig) end() {
	r.t.Helper()
	for _, g := range r.gates {
		g.open()
	}
	require.NoError(r.t, r.close(time.Minute))
	r.checker.ended()
	r.checker.checkDurable(r.mem, "the disk")
	require.Empty(r.t, r.mem.Held(), "threads are unlocked")
}

func (r *rig) gate() *gate {
	g := newGate()
	r.gates = append(r.gates, g)
	return g
}

// post hands over a request. Errors become refusals, as in the server.
func (r *rig) post(conn uint64, c call) protocol.Caller {
	to := protocol.Caller{Conn: conn, Request: r.last.Add(1)}
	r.postAs(to, c)
	return to
}

// converse posts a request and waits for its answer.
func (r *rig) converse(conn uint64, c call) message {
	to := protocol.Caller{Conn: conn, Request: r.last.Add(1)}
	answer := r.clients.await(to)
	r.postAs(to, c)
	return <-answer
}

func (r *rig) postAs(to protocol.Caller, c call) {
	r.checker.request(to, c)
	err := c.do(r.Engine, to)
	if err == nil {
		return
	}
	var coded *protocol.Error
	if !errors.As(err, &coded) {
		coded = &protocol.Error{Message: err.Error()}
	}
	r.clients.Refuse(to, coded)
}

// answer returns the response to a request after everything is idle.
func (r *rig) answer(to protocol.Caller) message {
	r.t.Helper()
	got := r.clients.answersTo(to)
	require.Len(r.t, got, 1, "answers to %s", r.checker.methodOf(to))
	return got[0]
}

// ask posts a request that is to succeed, and gives its result.
func (r *rig) ask(conn uint64, c call) gjson.Result {
	r.t.Helper()
	m := r.answer(r.post(conn, c))
	require.Nil(r.t, m.err, "%s is refused", c.method)
	return m.body
}

// rejected posts a request, expects an error, and returns its kind.
func (r *rig) rejected(conn uint64, c call) protocol.Kind {
	r.t.Helper()
	return r.rejection(r.post(conn, c))
}

func (r *rig) rejection(to protocol.Caller) protocol.Kind {
	r.t.Helper()
	m := r.answer(to)
	require.NotNil(r.t, m.err, "%s is not refused: %s", m.method, m.body)
	return m.err.Data.Kind
}

// begin starts a thread for a client.
func (r *rig) begin(conn uint64) string {
	r.t.Helper()
	return r.ask(conn, start()).Get("thread.id").Str
}

// turn gives a thread something to do, and gives the turn's id once all is quiet.
func (r *rig) turn(conn uint64, thread, words string) string {
	r.t.Helper()
	return r.ask(conn, turn(thread, words)).Get("turn.id").Str
}

// stored makes a thread with a turn that no engine has loaded.
func (r *rig) stored(words string) string {
	r.t.Helper()
	id := r.begin(9)
	r.turn(9, id, words)
	require.NoError(r.t, r.close(time.Minute))
	r.restart()
	r.clients.forget()
	r.diary.read()
	return id
}

// ends returns the statuses of completed turns that a client received.
func (r *rig) ends(conn uint64) []string {
	synctest.Wait()
	statuses := []string{}
	for _, m := range r.clients.notices(conn, "turn/completed") {
		statuses = append(statuses, m.body.Get("turn.status").Str)
	}
	return statuses
}

// loaded returns the ids of the loaded threads.
func (r *rig) loaded() []string {
	r.t.Helper()
	ids := []string{}
	for _, id := range r.ask(99, loadedList(protocol.ThreadLoadedListParams{})).Get("data").Array() {
		ids = append(ids, id.Str)
	}
	return ids
}

// requireKept checks that an idle thread equals its file.
func (r *rig) requireKept(thread string) {
	r.t.Helper()
	require.Empty(r.t, r.difference(thread))
}

// difference returns the difference between an idle thread and its file in thread/read and
// context/getItems, except for the status.
func (r *rig) difference(thread string) string {
	got, listed := r.readable(read(thread)), r.readable(getItems(thread))
	if len(got) != 1 || got[0].err != nil || len(listed) != 1 || listed[0].err != nil {
		return fmt.Sprintf("they are answered with %v and %v", got, listed)
	}
	live := got[0].body.Get("thread")
	path := live.Get("path").Str
	contents, err := rollout.NewStore(r.mem, home).Read(path)
	if err != nil {
		return err.Error()
	}
	names, err := rollout.NewStore(r.mem, home).Names()
	if err != nil {
		return err.Error()
	}
	loaded := core.Load(thread, core.Options{Path: path, Name: names[thread], Capabilities: r.setup.Capabilities},
		r.setup.Settings(), contents.Lines)
	if d := unlike(live, gjson.Parse(encode(loaded.View(true)))); d != "" {
		return d
	}
	return unlike(gjson.Parse(listed[0].body.Get("{revision,items,usage}").Raw),
		gjson.Parse(encode(loaded.ContextItems())))
}

// readable returns the answers to a request, repeated while the disk cannot be read.
func (r *rig) readable(c call) (got []message) {
	for range 4 {
		got = r.clients.answersTo(r.post(99, c))
		if len(got) != 1 || got[0].err == nil || got[0].err.Data == nil || got[0].err.Data.Kind != protocol.KindStorage {
			break
		}
	}
	return got
}

// whileLoaded are the members of a thread that it has, or has otherwise, while it is loaded.
var whileLoaded = []string{"status", "environments", "canAcceptDirectInput"}

// unlike names the members of two threads that differ.
func unlike(live, loaded gjson.Result) string {
	var found []string
	live.ForEach(func(name, value gjson.Result) bool {
		if other := loaded.Get(name.Str); !slices.Contains(whileLoaded, name.Str) &&
			canonical(value.Raw) != canonical(other.Raw) {
			found = append(found, fmt.Sprintf("%s: in memory %s, on the disk %s", name.Str, outline(value), outline(other)))
		}
		return true
	})
	return strings.Join(found, "\n")
}

// outline returns for each turn its end and its number of items.
func outline(v gjson.Result) string {
	if !v.Get("0.items").Exists() {
		return v.Raw
	}
	var turns []string
	for _, turn := range v.Array() {
		turns = append(turns, fmt.Sprintf("%s with %d items", turn.Get("status"), len(turn.Get("items").Array())))
	}
	return fmt.Sprintf("%q", turns)
}

// canonical returns the same JSON for the same value, however its strings are escaped.
func canonical(text string) string {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	return encode(v)
}

// notifyOthers returns engine.Parts.NotifyOthers for connections.
func (r *rig) notifyOthers(conns func() []uint64) func(sent []uint64, n protocol.Notification) {
	return func(sent []uint64, n protocol.Notification) {
		for _, conn := range conns() {
			if !slices.Contains(sent, conn) {
				r.clients.Notify(conn, n)
			}
		}
	}
}
