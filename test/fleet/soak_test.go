package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/acked"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// soak is a fleet with everything that its servers acknowledged.
type soak struct {
	*rig
	pair *pair
	// isOver is set when the workers of a round end.
	isOver atomic.Bool
	all    sync.WaitGroup

	// mu protects the rest.
	mu      sync.Mutex
	threads []*soakThread
	marks   int
	done    struct{ requests, unknown, items, turns, edits, names, moves, forks, reads int }
}

// soakThread is a thread that clients know.
type soakThread struct {
	*acked.Thread
	// steward is the client that names and archives the thread, because the order of the requests of
	// several clients is not known.
	steward int
	// inDoubt is set until the next check if the steward does not know whether its request was executed.
	inDoubt bool
}

// soakTime returns the duration of the soak: FLEETSOAK, or a short time.
func soakTime(t *testing.T) time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("FLEETSOAK"), "20s"))
	require.NoError(t, err, "FLEETSOAK")
	return d
}

const (
	soakClients = 6
	soakThreads = 6
	// maxSoakThreads bounds the forks.
	maxSoakThreads = 12
)

// TestFleetSoak has clients send random requests through three servers, while servers are killed, frozen
// and cut off, and while their database crashes and fails over. After each round, all nodes have
// everything that any node has acknowledged. FLEETSOAK is the duration.
func TestFleetSoak(t *testing.T) {
	sample.Long(t)
	began, seed := time.Now(), cmp.Or(*linearSeed, rand.Uint64())
	t.Logf("-fleet.seed=%d", seed)
	s := newSoak(t, seed)
	rounds := 0
	for duration := soakTime(t); time.Since(began) < duration && !t.Failed(); rounds++ {
		s.startWorkers(seed, rounds)
		s.pause(leaseTime)
		s.fail()
		s.pause(leaseTime)
		s.isOver.Store(true)
		s.all.Wait()
		s.check()
		if rounds%20 == 19 {
			t.Log(s.table(time.Since(began), rounds+1))
		}
	}
	fmt.Print(s.table(time.Since(began), rounds))
	require.Positive(t, s.done.items)
	require.Positive(t, s.done.edits)
}

func newSoak(t *testing.T, seed uint64) *soak {
	p := newPair(t)
	s := &soak{pair: p}
	s.rig = newRig(t, seed, true, p.url(), []string{p.servers[0].Socket(), p.servers[1].Socket()},
		"-c", "store.require_sync_standby=true")
	c := newCaller(s.rand, s.handle, s.nodes...)
	defer c.disconnect()
	for i := range soakThreads {
		require.NoError(t, c.connect(s.anyNode()))
		started, err := c.at.call("thread/start", apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access",
			"approvalPolicy": "never"})
		require.NoError(t, err)
		w := &soaker{soak: s, caller: c, number: i}
		require.Equal(t, done, w.turn(s.add(started.Get("thread"), i)))
	}
	return s
}

// add adds a thread.
func (s *soak) add(thread gjson.Result, steward int) *soakThread {
	var v apptest.ThreadView
	require.NoError(s.t, json.Unmarshal([]byte(thread.Raw), &v))
	s.mu.Lock()
	defer s.mu.Unlock()
	th := &soakThread{Thread: acked.NewThread(v), steward: steward % soakClients}
	s.threads = append(s.threads, th)
	return th
}

func (s *soak) startWorkers(seed uint64, round int) {
	s.isOver.Store(false)
	for i := range soakClients {
		random := rand.New(rand.NewPCG(seed, uint64(1+round*soakClients+i)))
		w := &soaker{soak: s, caller: newCaller(random, s.handle, s.nodes...), number: i}
		s.all.Go(w.work)
	}
}

// handle records a notification. A turn that fails because its node lost the log may have another end
// there.
func (s *soak) handle(m apptest.Message) {
	p := gjson.ParseBytes(m.Params)
	if m.Method == "turn/completed" && p.Get("turn.status").Str == "failed" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, th := range s.threads {
		if th.ID != p.Get("threadId").Str {
			continue
		}
		th.Handle(s.t, m)
		switch m.Method {
		case "item/completed":
			s.done.items++
		case "turn/completed":
			s.done.turns++
		}
	}
}

// fail makes nodes, the database, or both fail.
func (s *soak) fail() {
	switch s.rand.IntN(4) {
	case 0:
		s.failDatabase()
	case 1:
		m := s.anyNode()
		s.count.freezes++
		m.freeze(s.t)
		s.failDatabase()
		m.thaw(s.t)
	default:
		for range 1 + s.rand.IntN(3) {
			s.failNode()
		}
	}
}

// failDatabase crashes the primary or the standby, or fails over.
func (s *soak) failDatabase() {
	pause := func() { s.pause(leaseTime) }
	switch s.rand.IntN(4) {
	case 0:
		s.count.crashes++
		s.pair.restartPrimary(pause)
	case 1:
		s.count.crashes++
		s.pair.restartStandby(pause)
	default:
		s.count.failovers++
		replaced := s.pair.failOver(pause)
		for _, m := range s.nodes {
			m.links[replaced].Retarget("unix", s.pair.servers[replaced].Socket())
		}
	}
}

// check requires that all nodes have everything that was acknowledged.
func (s *soak) check() {
	s.t.Helper()
	c := newCaller(s.rand, func(apptest.Message) {}, s.nodes...)
	defer c.disconnect()
	archived := s.checkLists(&c)
	for _, th := range s.threads {
		th.Archived.Check(s.t, "archive of "+th.ID, archived[th.ID])
		th.inDoubt = false
		if !th.Archived.IsTrue() {
			require.NotEqual(s.t, again, c.until(func() outcome { return s.checkOwner(&c, th) }), "thread %s", th.ID)
		}
		for _, m := range s.nodes {
			s.checkView(m, th)
		}
	}
	s.checkSearch(&c, s.threads[s.rand.IntN(soakThreads)]) // forks may have no inputs of their own
}

// checkSearch requires that a word of an acknowledged input leads to its thread. An owner adds the messages
// that a killed one has not added to the index.
func (s *soak) checkSearch(c *caller, th *soakThread) {
	s.t.Helper()
	params := apptest.Object{"searchTerm": th.Marks[s.rand.IntN(len(th.Marks))].Text, "archived": th.Archived.IsTrue(),
		"limit": 100}
	require.NotEqual(s.t, again, c.until(func() outcome {
		found, err := c.at.call("thread/search", params)
		if err != nil || !strings.Contains(found.Get("data.#.thread.id").Raw, th.ID) {
			return again
		}
		return done
	}), "a search for %v does not find thread %s", params, th.ID)
}

// checkOwner loads a thread, and compares it when it is idle.
func (s *soak) checkOwner(c *caller, th *soakThread) outcome {
	resumed, err := c.at.call("thread/resume", apptest.Object{"threadId": th.ID})
	if err != nil {
		return again
	}
	defer func() { _, _ = c.at.call("thread/unsubscribe", apptest.Object{"threadId": th.ID}) }()
	var v apptest.ThreadView
	require.NoError(s.t, json.Unmarshal([]byte(resumed.Get("thread").Raw), &v))
	for _, turn := range v.Turns {
		if turn.Status == "inProgress" {
			return again
		}
	}
	items, err := c.at.call("context/getItems", apptest.Object{"threadId": th.ID})
	if err != nil {
		return again
	}
	var list protocol.ContextGetItemsResponse
	require.NoError(s.t, json.Unmarshal([]byte(items.Raw), &list))
	th.CheckView(s.t, v)
	th.CheckList(s.t, list.Revision, list.Items)
	th.AddView(v)
	return done
}

// checkView compares a thread as a node shows it.
func (s *soak) checkView(m *machine, th *soakThread) {
	s.t.Helper()
	c := newCaller(s.rand, func(apptest.Message) {}, m)
	defer c.disconnect()
	var v apptest.ThreadView
	require.NotEqual(s.t, again, c.until(func() outcome {
		read, err := c.at.call("thread/read", apptest.Object{"threadId": th.ID, "includeTurns": true})
		if err != nil {
			return again
		}
		require.NoError(s.t, json.Unmarshal([]byte(read.Get("thread").Raw), &v))
		return done
	}))
	th.CheckView(s.t, v)
}

// checkLists requires that all nodes list the same threads, and returns "true" for archived ones.
func (s *soak) checkLists(c *caller) map[string]string {
	s.t.Helper()
	archived, first := map[string]string{}, ""
	for i, m := range s.nodes {
		c.nodes = []*machine{m}
		all := ""
		for _, list := range []bool{false, true} {
			require.NotEqual(s.t, again, c.until(func() outcome {
				page, err := c.at.call("thread/list", apptest.Object{"limit": 1000, "archived": list})
				if err != nil {
					return again
				}
				for _, id := range page.Get("data.#.id").Array() {
					archived[id.Str] = map[bool]string{true: "true"}[list]
				}
				all += page.Get("data.#.id").Raw + page.Get("data.#.name").Raw
				return done
			}))
		}
		first = cmp.Or(first, all)
		require.Equal(s.t, first, all, "the lists of node %d differ from those of another node", i)
	}
	c.nodes = s.nodes
	for _, th := range s.threads {
		require.Contains(s.t, archived, th.ID, "the thread is not listed")
	}
	return archived
}

// table describes the run as a row of a table in Markdown.
func (s *soak) table(took time.Duration, rounds int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, d := s.count, s.done
	columns := []struct {
		name  string
		value any
	}{
		{"time", took.Round(time.Second)}, {"rounds", rounds}, {"kills", f.kills}, {"suspensions", f.freezes},
		{"partitions", f.partitions}, {"crashes of the database", f.crashes}, {"failovers", f.failovers},
		{"requests", d.requests}, {"in doubt", d.unknown}, {"items", d.items}, {"turns", d.turns}, {"edits", d.edits},
		{"names", d.names}, {"archive", d.moves}, {"forks", d.forks}, {"reads", d.reads},
		{"lost", map[bool]string{false: "none", true: "some"}[s.t.Failed()]},
	}
	head, rule, row := "|", "|", "|"
	for _, c := range columns {
		head, rule, row = head+" "+c.name+" |", rule+" ---: |", row+fmt.Sprintf(" %v |", c.value)
	}
	return head + "\n" + rule + "\n" + row + "\n"
}
