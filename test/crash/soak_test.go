package crash

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout"
	"appserver/test/acked"
	"appserver/test/apptest"
)

var (
	soakKills = flag.Int("soak.kills", 25, "number of kills in TestCrashSoak")
	soakSeed  = flag.Uint64("soak.seed", 0, "seed of TestCrashSoak; 0 draws one")
)

// soak is a home whose servers are killed at random moments, with everything that clients know from
// all of them.
type soak struct {
	*apptest.Client
	t       *testing.T
	rand    *rand.Rand
	home    string
	project string
	// repository is the project of some threads; they have checkpoints.
	repository    apptest.Project
	daemon        *apptest.Daemon // this server, or nil if the client uses standard input
	second        *apptest.Client // second client of the daemon, or nil
	threads       []*soakThread
	deleted       []string                         // ids of deleted threads
	handlers      map[string]func(apptest.Message) // handlers of successful responses by request id
	errorHandlers map[string]func()                // handlers of errors by request id
	files         map[string]*acked.Value
	setting       acked.Value
	// forgotten are the memories whose deletion was requested.
	forgotten map[string]bool
	torn      map[string]bool // threads with a torn line in their rollout
	marks     int
	count     struct{ answers, items, turns, edits, memories, torn, rewrites, sockets, pairs, reverts, deletes, moves int }
}

// TestCrashSoak kills servers at random moments, during random requests, in one home. The next
// server has everything that was acknowledged, each file can be read, no process of the former
// server runs, and no lock is held. A failure keeps the home.
func TestCrashSoak(t *testing.T) {
	t.Parallel()
	s := newSoak(t)
	for kill := range sampled(*soakKills) {
		if kill%50 == 49 {
			t.Logf("%d kills, %d threads: %+v", kill+1, len(s.threads), s.count)
		}
		s.start()
		for left := s.rand.IntN(50); left > 0; left-- {
			if s.rand.IntN(3) == 0 || s.idle() {
				s.sendRandom()
			}
			s.receive()
		}
		s.kill()
		s.checkFiles()
	}
	s.start()
	for _, th := range s.threads {
		if !th.Archived.IsTrue() {
			require.Equal(t, "completed", s.Turn(th.ID, "hello").Status)
		}
	}
	s.shutDown()
	s.checkFiles()
	t.Logf("%d kills, %d threads: %+v", *soakKills, len(s.threads), s.count)
	if !testing.Short() { // a few kills need not meet each kind of request
		require.Positive(t, s.count.items)
		require.Positive(t, s.count.edits)
	}
}

func newSoak(t *testing.T) *soak {
	seed := *soakSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	home, err := os.MkdirTemp("", "soak")
	require.NoError(t, err)
	t.Logf("-soak.seed=%d, home %s", seed, home)
	t.Cleanup(func() {
		if !t.Failed() {
			_ = os.RemoveAll(home)
		}
	})
	s := &soak{
		t: t, rand: rand.New(rand.NewPCG(seed, 0)), home: home, project: filepath.Join(home, "project"),
		files: map[string]*acked.Value{}, forgotten: map[string]bool{}, torn: map[string]bool{},
	}
	require.NoError(t, os.Mkdir(s.project, 0o755))
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	s.repository = apptest.NewRepositoryIn(t, filepath.Join(home, "repository"))
	apptest.WriteConfig(t, home, fmt.Sprintf(soakConfig, soakModel(t))+
		strings.ReplaceAll(apptest.DocsServerConfig, "PROGRAM", program))
	return s
}

// soakConfig unloads threads without subscribers at once, so that files are rewritten.
const soakConfig = `model = "test"
model_provider = "test"
thread_unload_delay_secs = 0
[memory]
summarize_on_prune = true
inject = true
recall_tool = true
[compat]
turn_completed_floor_ms = 0
[model_providers.test]
base_url = %q
wire_api = "chat"
`

// soakModel returns the URL of a scripted model that records no requests.
func soakModel(t *testing.T) (url string) {
	var requests atomic.Int64
	server := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if calls := apptest.NextCalls(string(body)); len(calls) > 0 {
			apptest.WriteCalls(w, int(requests.Add(1)), calls, apptest.LastSessionID(string(body)))
		} else {
			apptest.TextAnswer("done")(w)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// start starts a server, on standard input or on a socket, and checks its state.
func (s *soak) start() {
	s.t.Helper()
	s.handlers, s.errorHandlers, s.daemon, s.second = map[string]func(apptest.Message){}, map[string]func(){}, nil, nil
	if s.rand.IntN(3) == 0 {
		s.daemon = apptest.LaunchDaemon(s.t, apptest.ServerCommand(s.t, s.home, "--listen",
			"unix://"+filepath.Join(s.home, "s")),
			s.home)
		require.NotEmpty(s.t, s.daemon.URL, "%v", s.daemon.Stderr)
		s.Client = s.daemon.ConnectInitialized().Client
		s.count.sockets++
	} else {
		s.Client = apptest.StartServer(s.t, s.home)
		s.Initialize()
	}
	s.check()
	s.Seen = nil
	if s.daemon != nil {
		s.connectSecond()
	}
}

// kill kills the server, sometimes during its shutdown, and handles all messages.
func (s *soak) kill() {
	s.t.Helper()
	if s.rand.IntN(4) == 0 {
		s.requestShutdown()
		s.count.rewrites++
	}
	<-time.After(time.Duration(s.rand.IntN(15_000)) * time.Microsecond) // a chosen moment of the kill
	process := s.Cmd
	if s.daemon != nil {
		process = s.daemon.Cmd
	}
	_ = process.Process.Kill() // it may have exited
	s.drain()
}

// requestShutdown starts the shutdown of the server.
func (s *soak) requestShutdown() {
	s.t.Helper()
	if s.daemon != nil {
		require.NoError(s.t, s.daemon.Cmd.Process.Signal(os.Interrupt))
		return
	}
	require.NoError(s.t, s.In.Close())
}

// drain handles the remaining messages of a server and waits until none of its processes runs.
func (s *soak) drain() {
	s.t.Helper()
	unread := len(s.Seen)
	s.Drain()
	if s.daemon != nil {
		<-s.daemon.Exited
	}
	for _, m := range s.Seen[unread:] {
		s.handle(m)
	}
	s.drainSecond()
	require.Eventually(s.t, func() bool { return len(apptest.ProcessTree{Token: s.home}.Alive(s.t)) == 0 },
		apptest.CleanupLimit,
		5*time.Millisecond, "processes of the killed server: %v", apptest.ProcessTree{Token: s.home}.Alive(s.t))
}

// shutDown shuts the last server down.
func (s *soak) shutDown() {
	s.t.Helper()
	s.requestShutdown()
	s.drain()
}

// checkFiles verifies all rollouts, as appserver rollout verify does. The only permitted fault is a
// torn line.
func (s *soak) checkFiles() {
	s.t.Helper()
	store := rollout.NewStore(rollout.OS(), s.home)
	seen := map[string]string{}
	for _, folder := range []string{"sessions", "archived_sessions"} {
		err := filepath.WalkDir(filepath.Join(s.home, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".jsonl" {
				return nil
			}
			verified := store.Verify(path)
			if in := seen[verified.ThreadID]; in != "" && in != folder {
				s.count.moves++ // killed between the steps of a move; the next list contains it once
			}
			seen[verified.ThreadID] = folder
			for _, f := range verified.Findings {
				if f.Kind == rollout.FoundTorn && !s.torn[verified.ThreadID] {
					s.torn[verified.ThreadID] = true
					s.count.torn++
				}
				known := f.Kind == rollout.FoundTorn || f.Kind == rollout.FoundDamage && s.torn[verified.ThreadID]
				require.True(s.t, known, "%s: line %d: %s: %s", path, f.Line, f.Kind, f.Message)
			}
			return nil
		})
		require.NoError(s.t, err)
	}
	s.checkRepository()
}

// idle reports whether no response and no turn is pending.
func (s *soak) idle() bool {
	if len(s.handlers) > 0 {
		return false
	}
	for _, th := range s.threads {
		if th.Turn != "" {
			return false
		}
	}
	return true
}

// handle records a message.
func (s *soak) handle(m apptest.Message) {
	s.t.Helper()
	if m.Method == "" {
		acked := s.handlers[string(m.ID)]
		delete(s.handlers, string(m.ID))
		if failed := s.errorHandlers[string(m.ID)]; m.Error != nil && failed != nil {
			failed()
		}
		if m.Error != nil {
			require.NotContains(s.t, []string{"storage", "internal", "rolloutUnreadable"}, m.Error.Data.Kind, m.Line)
		} else if acked != nil {
			s.count.answers++
			acked(m)
		}
		return
	}
	var p struct{ ThreadID string }
	require.NoError(s.t, json.Unmarshal(m.Params, &p))
	if th := s.thread(p.ThreadID); th != nil {
		th.handle(s, m)
	}
}

func (s *soak) thread(id string) *soakThread {
	for _, th := range s.threads {
		if th.ID == id {
			return th
		}
	}
	return nil
}
