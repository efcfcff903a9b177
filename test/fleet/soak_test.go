package fleet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/acked"
	"appserver/test/apptest"
	"appserver/test/sample"
)

// soak is a fleet with everything that its servers acknowledged.
type soak struct {
	*rig
	pair *pair
	// files is a folder into which commands write that need an approval.
	files string
	// isOver is set when the workers of a round end.
	isOver atomic.Bool
	all    sync.WaitGroup

	// mu protects the rest.
	mu      sync.Mutex
	threads []*soakThread
	marks   int
	deleted []string
	// asked has the commands by their marks for which an approval was requested, by thread and item.
	asked map[string]map[string]bool
	done  struct {
		requests, unknown, items, turns, edits, trims, names, moves, forks, reads, steers, approvals, reverts, deletes int
	}
}

// soakThread is a thread that clients know.
type soakThread struct {
	*acked.Thread
	// steward is the client that names and archives the thread, because the order of the requests of
	// several clients is not known.
	steward int
	// inDoubt is set until the next check if the steward does not know whether its request was executed.
	inDoubt bool
	// isCautious is set if commands need an approval.
	isCautious bool
	// isDeleting is set from the request of a deletion to the next check.
	isDeleting bool
}

// soakTime returns the duration of the soak: FLEETSOAK, or a short time.
func soakTime(t *testing.T) time.Duration {
	d, err := time.ParseDuration(cmp.Or(os.Getenv("FLEETSOAK"), "20s"))
	require.NoError(t, err, "FLEETSOAK")
	return d
}

const (
	soakClients = 6
	// soakThreads is the number of threads at the start, of which half need approvals, and the smallest one.
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
	// A slow machine may need more time for the first edit.
	goesOn := func() bool { return time.Since(began) < soakTime(t) || s.done.edits == 0 && rounds < 10 }
	for !t.Failed() && goesOn() {
		rounds++
		s.startWorkers(seed, rounds-1)
		s.pause(leaseTime)
		s.fail()
		s.pause(leaseTime)
		s.isOver.Store(true)
		s.all.Wait()
		s.check()
		if rounds%20 == 0 {
			t.Log(s.table(time.Since(began), rounds))
		}
	}
	fmt.Print(s.table(time.Since(began), rounds))
	require.Positive(t, s.done.items)
	require.Positive(t, s.done.edits)
	if soakTime(t) >= 2*time.Minute { // a short time need not meet each kind of request
		require.Positive(t, s.done.approvals)
		require.Positive(t, s.done.steers)
		require.Positive(t, s.done.reverts)
		require.Positive(t, s.done.trims)
		require.Positive(t, s.done.deletes)
	}
}

func newSoak(t *testing.T, seed uint64) *soak {
	p := newPair(t)
	s := &soak{pair: p, files: t.TempDir(), asked: map[string]map[string]bool{}}
	s.rig = newRig(t, seed, true, p.url(), []string{p.servers[0].Socket(), p.servers[1].Socket()},
		"-c", "store.require_sync_standby=true")
	c := newCaller(s.rand, s.handle, s.nodes...)
	defer c.disconnect()
	for i := range soakThreads {
		w := &soaker{soak: s, caller: c, number: i}
		require.NoError(t, w.connect(s.anyNode()))
		require.Equal(t, done, w.start(i%2 == 0))
	}
	return s
}

// add adds a thread.
func (s *soak) add(thread gjson.Result, steward int, isCautious bool) *soakThread {
	var v apptest.ThreadView
	require.NoError(s.t, json.Unmarshal([]byte(thread.Raw), &v))
	s.mu.Lock()
	defer s.mu.Unlock()
	th := &soakThread{Thread: acked.NewThread(v), steward: steward % soakClients, isCautious: isCautious}
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
	s.noteRequest(m)
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

// noteRequest records a request for the approval of a command.
func (s *soak) noteRequest(m apptest.Message) {
	p := gjson.ParseBytes(m.Params)
	mark := markIn.FindString(p.Get("command").Raw)
	if m.Method != approval || mark == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asked[mark] == nil {
		s.asked[mark] = map[string]bool{}
	}
	s.asked[mark][p.Get("threadId").Str+" "+p.Get("itemId").Str] = true
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
		{"requests", d.requests}, {"in doubt", d.unknown}, {"items", d.items}, {"turns", d.turns},
		{"inputs to active turns", d.steers}, {"approvals through another node", d.approvals}, {"edits", d.edits},
		{"trims", d.trims}, {"reverts", d.reverts}, {"names", d.names}, {"archive", d.moves}, {"forks", d.forks},
		{"deletions", d.deletes}, {"reads", d.reads},
		{"lost", map[bool]string{false: "none", true: "some"}[s.t.Failed()]},
	}
	head, rule, row := "|", "|", "|"
	for _, c := range columns {
		head, rule, row = head+" "+c.name+" |", rule+" ---: |", row+fmt.Sprintf(" %v |", c.value)
	}
	return head + "\n" + rule + "\n" + row + "\n"
}
