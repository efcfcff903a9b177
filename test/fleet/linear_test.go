package fleet

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/sample"
)

var (
	linearSeed = flag.Uint64("fleet.seed", 0, "seed of the faults and requests of TestThreadsAreLinearizable; 0 draws one")
	linearTime = flag.Duration("fleet.time", 8*time.Second, "time of the faults of TestThreadsAreLinearizable")
)

// TestThreadsAreLinearizable has clients use the same threads through all nodes, while nodes are killed,
// frozen and cut off from the database and from each other. There is an order of all operations that
// explains each response, and an operation takes its place in it between its request and its response.
func TestThreadsAreLinearizable(t *testing.T) {
	sample.Long(t)
	for name, isLinked := range map[string]bool{"nodes that forward requests": true, "nodes without links": false} {
		t.Run(name, func(t *testing.T) {
			seed := cmp.Or(*linearSeed, rand.Uint64())
			t.Logf("-fleet.seed=%d", seed)
			checkLinearizable(t, seed, newRig(t, seed, isLinked, pgtest.Database(t), []string{pgtest.Shared(t).Socket()}))
		})
	}
}

func checkLinearizable(t *testing.T, seed uint64, r *rig) {
	h := &history{start: time.Now()}
	h.begin(t, r, 3)
	var all sync.WaitGroup
	for n := range uint64(6) {
		w := newWorker(h, rand.New(rand.NewPCG(seed, n+1)), r.nodes...)
		all.Go(w.work)
	}
	for end := time.Now().Add(*linearTime); time.Now().Before(end); {
		r.pause(leaseTime)
		r.failNode()
	}
	h.isOver.Store(true)
	all.Wait()
	h.finish(r)
	t.Logf("%+v; %d operations, %d of them without a response: %v", r.count, len(h.operations), h.unknown, h.answered)
	h.check(t)
	require.Greater(t, h.answered[beginTurn], 5)
	require.Greater(t, h.answered[readThread], 5)
	require.Greater(t, h.answered[readItems], 5)
	require.Positive(t, h.answered[rename])
	require.Positive(t, h.answered[exclude]+h.answered[include])
}

// history has the operations of all clients.
type history struct {
	start   time.Time
	threads []string
	isOver  atomic.Bool

	mu         sync.Mutex
	operations []porcupine.Operation
	clients    int
	unknown    int
	answered   map[action]int
}

// begin starts threads, with a first turn each.
func (h *history) begin(t *testing.T, r *rig, threads int) {
	t.Helper()
	h.answered = map[action]int{}
	w := newWorker(h, r.rand, r.nodes...)
	defer w.disconnect()
	for range threads {
		require.NoError(t, w.connect(r.anyNode()))
		started, err := w.at.call("thread/start", apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access",
			"approvalPolicy": "never"})
		require.NoError(t, err)
		id := started.Get("thread.id").Str
		h.threads = append(h.threads, id)
		require.Equal(t, done, w.turn(id))
	}
}

// now returns the time of the history.
func (h *history) now() int64 { return int64(time.Since(h.start)) }

// client returns the number of a new client. A client whose operation has no response makes no other
// ones, because they would overlap.
func (h *history) client() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients++
	return h.clients - 1
}

// record adds an operation.
func (h *history) record(client int, s step, called int64, got result) {
	returned := h.now()
	h.mu.Lock()
	defer h.mu.Unlock()
	if got.isUnknown {
		returned = math.MaxInt64
		h.unknown++
	} else {
		h.answered[s.do]++
	}
	h.operations = append(h.operations, porcupine.Operation{ClientId: client, Input: s, Call: called, Output: got,
		Return: returned})
}

// finish reads all threads through each node, after all faults.
func (h *history) finish(r *rig) {
	for _, node := range r.nodes {
		w := newWorker(h, r.rand, node)
		for _, id := range h.threads {
			for _, request := range []func(string) outcome{w.read, w.items, w.turn} {
				require.NotEqual(r.t, again, w.until(func() outcome { return request(id) }), "a healthy node refuses requests")
			}
		}
		w.disconnect()
	}
}

// check requires that the history is linearizable. It draws a history that is not.
func (h *history) check(t *testing.T) {
	t.Helper()
	verdict, info := porcupine.CheckOperationsVerbose(threadModel(), h.operations, time.Minute)
	if verdict == porcupine.Ok {
		return
	}
	file, err := os.CreateTemp("", "history*.html")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	require.NoError(t, porcupine.Visualize(threadModel(), info, file))
	require.Equal(t, porcupine.Ok, verdict, "no order explains the responses: %s\n%s", file.Name(),
		h.unexplained(info))
}

// unexplained describes, for each thread that has no order, the end of the longest one, and the next
// operations.
func (h *history) unexplained(info porcupine.LinearizationInfo) string {
	var all strings.Builder
	for i, part := range byThread(h.operations) {
		longest := slices.MaxFunc(info.PartialLinearizationsOperations()[i], func(a, b []porcupine.Operation) int {
			return len(a) - len(b)
		})
		if len(longest) == len(part) {
			continue
		}
		rest := slices.DeleteFunc(part, func(op porcupine.Operation) bool { return slices.Contains(longest, op) })
		slices.SortFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
		fmt.Fprintf(&all, "%d of %d operations have an order, which ends with\n%s\nand then comes one of\n%s\n",
			len(longest), len(part), describe(longest[max(len(longest)-8, 0):]), describe(rest[:min(8, len(rest))]))
	}
	return all.String()
}

func describe(operations []porcupine.Operation) string {
	var all strings.Builder
	for _, op := range operations {
		fmt.Fprintf(&all, "%.3f to %.3f s, client %d: %s\n", float64(op.Call)/1e9, float64(op.Return)/1e9, op.ClientId,
			threadModel().DescribeOperation(op.Input, op.Output))
	}
	return all.String()
}
