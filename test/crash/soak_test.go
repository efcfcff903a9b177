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
	"appserver/test/apptest"
)

var (
	soakKills = flag.Int("soak.kills", 25, "how often TestCrashSoak kills the server")
	soakSeed  = flag.Uint64("soak.seed", 0, "where TestCrashSoak begins to draw; 0 begins elsewhere each time")
)

// siege is a home whose servers are killed at random moments, one after another, and what
// clients were told by all of them.
type siege struct {
	*apptest.Client
	t       *testing.T
	rand    *rand.Rand
	home    string
	project string
	// repository has checkpoints of the threads that begin there.
	repository apptest.Project
	host       *apptest.Daemon // of this server, nil where its client is on standard input
	second     *apptest.Client // of the host, nil where there is none
	threads    []*told
	deleted    []string                         // the threads that were said to be
	waiting    map[string]func(apptest.Message) // what the answer to a request, by its id, says
	refusals   map[string]func()                // what its error says
	files      map[string]*wanting
	setting    wanting
	// forgotten are the memories that were asked to be forgotten, answered or not.
	forgotten map[string]bool
	torn      map[string]bool // the rollouts of which a line was cut off
	marks     int
	count     struct{ answers, items, turns, edits, memories, torn, rewrites, sockets, pairs, backs, deletes, moves int }
}

// TestCrashSoak kills servers at random moments, under whatever clients do with them, in one
// home that lives through all of it. Each next server has what was told, every file can be
// read, nothing of the one before runs, and no lock is held. A failure leaves the home.
func TestCrashSoak(t *testing.T) {
	t.Parallel()
	s := newSiege(t)
	for kill := range sampled(*soakKills) {
		if kill%50 == 49 {
			t.Logf("%d kills, %d threads: %+v", kill+1, len(s.threads), s.count)
		}
		s.start()
		for left := s.rand.IntN(50); left > 0; left-- {
			if s.rand.IntN(3) == 0 || s.quiet() {
				s.act()
			}
			s.listen()
		}
		s.crash()
		s.checkFiles()
	}
	s.start()
	for _, w := range s.threads {
		if !w.archived.value() {
			require.Equal(t, "completed", s.Turn(w.id, "hello").Status)
		}
	}
	s.end()
	s.checkFiles()
	t.Logf("%d kills, %d threads: %+v", *soakKills, len(s.threads), s.count)
	require.Positive(t, s.count.items)
	require.Positive(t, s.count.edits)
}

func newSiege(t *testing.T) *siege {
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
	s := &siege{
		t: t, rand: rand.New(rand.NewPCG(seed, 0)), home: home, project: filepath.Join(home, "project"),
		files: map[string]*wanting{}, forgotten: map[string]bool{}, torn: map[string]bool{},
	}
	require.NoError(t, os.Mkdir(s.project, 0o755))
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	s.repository = apptest.NewRepositoryIn(t, filepath.Join(home, "repository"))
	apptest.WriteConfig(t, home, fmt.Sprintf(soakConfig, soakModel(t))+
		strings.ReplaceAll(apptest.DocsServerConfig, "PROGRAM", program))
	return s
}

// soakConfig keeps threads that nobody follows for no moment, so that files are rewritten.
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

// soakModel is a scripted model that remembers nothing.
func soakModel(t *testing.T) (url string) {
	var asked atomic.Int64
	server := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if acts := apptest.NextCalls(string(body)); len(acts) > 0 {
			apptest.WriteCalls(w, int(asked.Add(1)), acts, apptest.LastSessionID(string(body)))
		} else {
			apptest.TextAnswer("done")(w)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}

// start starts a server, on standard input or on a socket, and checks what it knows.
func (s *siege) start() {
	s.t.Helper()
	s.waiting, s.refusals, s.host, s.second = map[string]func(apptest.Message){}, map[string]func(){}, nil, nil
	if s.rand.IntN(3) == 0 {
		s.host = apptest.LaunchDaemon(s.t, apptest.ServerCommand(s.t, s.home, "--listen",
			"unix://"+filepath.Join(s.home, "s")),
			s.home)
		require.NotEmpty(s.t, s.host.URL, "%v", s.host.Stderr)
		s.Client = s.host.ConnectInitialized().Client
		s.count.sockets++
	} else {
		s.Client = apptest.StartServer(s.t, s.home)
		s.Initialize()
	}
	s.check()
	s.Seen = nil
	if s.host != nil {
		s.join()
	}
}

// crash kills the server, now and then while it ends, and takes notice of all that it said.
func (s *siege) crash() {
	s.t.Helper()
	if s.rand.IntN(4) == 0 {
		s.goodbye()
		s.count.rewrites++
	}
	<-time.After(time.Duration(s.rand.IntN(15_000)) * time.Microsecond) // the moment of the kill
	process := s.Cmd
	if s.host != nil {
		process = s.host.Cmd
	}
	_ = process.Process.Kill() // it may have ended
	s.finish()
}

// goodbye tells the server to end.
func (s *siege) goodbye() {
	s.t.Helper()
	if s.host != nil {
		require.NoError(s.t, s.host.Cmd.Process.Signal(os.Interrupt))
		return
	}
	require.NoError(s.t, s.In.Close())
}

// finish reads what is left of a server, and waits until nothing of it runs.
func (s *siege) finish() {
	s.t.Helper()
	unread := len(s.Seen)
	s.Drain()
	if s.host != nil {
		<-s.host.Exited
	}
	for _, m := range s.Seen[unread:] {
		s.notice(m)
	}
	s.finishSecond()
	require.Eventually(s.t, func() bool { return len(apptest.ProcessTree{Token: s.home}.Alive(s.t)) == 0 },
		apptest.CleanupLimit,
		5*time.Millisecond, "of the server that was killed, this runs still: %v", apptest.ProcessTree{Token: s.home}.Alive(s.t))
}

// end ends the last server as clients do.
func (s *siege) end() {
	s.t.Helper()
	s.goodbye()
	s.finish()
}

// checkFiles reads all rollouts, as appserver rollout verify does. Of what a kill leaves, a
// last line that is cut off is the only fault that there may be.
func (s *siege) checkFiles() {
	s.t.Helper()
	store := rollout.NewStore(rollout.OS(), s.home)
	seen := map[string]string{}
	for _, folder := range []string{"sessions", "archived_sessions"} {
		err := filepath.WalkDir(filepath.Join(s.home, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".jsonl" {
				return nil
			}
			survey := store.Verify(path)
			if in := seen[survey.ThreadID]; in != "" && in != folder {
				s.count.moves++ // cut in two; no list of the next server has it twice
			}
			seen[survey.ThreadID] = folder
			for _, f := range survey.Findings {
				if f.Kind == rollout.FoundTorn && !s.torn[survey.ThreadID] {
					s.torn[survey.ThreadID] = true
					s.count.torn++
				}
				known := f.Kind == rollout.FoundTorn || f.Kind == rollout.FoundDamage && s.torn[survey.ThreadID]
				require.True(s.t, known, "%s: line %d: %s: %s", path, f.Line, f.Kind, f.Message)
			}
			return nil
		})
		require.NoError(s.t, err)
	}
	s.checkRepository()
}

// quiet is true when the server may have nothing more to say.
func (s *siege) quiet() bool {
	if len(s.waiting) > 0 {
		return false
	}
	for _, w := range s.threads {
		if w.turn != "" {
			return false
		}
	}
	return true
}

// notice remembers what a message says.
func (s *siege) notice(m apptest.Message) {
	s.t.Helper()
	if m.Method == "" {
		answered := s.waiting[string(m.ID)]
		delete(s.waiting, string(m.ID))
		if refused := s.refusals[string(m.ID)]; m.Error != nil && refused != nil {
			refused()
		}
		if m.Error != nil {
			require.NotContains(s.t, []string{"storage", "internal", "rolloutUnreadable"}, m.Error.Data.Kind, m.Line)
		} else if answered != nil {
			s.count.answers++
			answered(m)
		}
		return
	}
	var p struct{ ThreadID string }
	require.NoError(s.t, json.Unmarshal(m.Params, &p))
	if w := s.thread(p.ThreadID); w != nil {
		w.hear(s, m)
	}
}

func (s *siege) thread(id string) *told {
	for _, w := range s.threads {
		if w.id == id {
			return w
		}
	}
	return nil
}
