package e2e

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// soakTime returns the duration of the soak: SOAK, or a short time.
func soakTime(t *testing.T) time.Duration {
	text, ok := os.LookupEnv("SOAK")
	if !ok {
		return 20 * time.Second
	}
	d, err := time.ParseDuration(text)
	require.NoError(t, err, "SOAK")
	return d
}

// TestSoak runs clients with random requests and samples the server's resources. They must not grow
// with time, and must be freed when all clients are disconnected. SOAK is the duration. SOAK_DIR is
// a folder for the samples (soak.csv) and their diagram (soak.svg).
func TestSoak(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const clients = 6
	h := newSoakDaemon(t)
	t.Cleanup(func() {
		if t.Failed() {
			_ = h.Cmd.Process.Signal(syscall.SIGQUIT) // prints the stacks of all goroutines
			<-h.Exited
		}
	})
	watcher := h.ConnectInitialized()
	watcher.Call("thread/list", apptest.Object{}) // opens the index
	watcher.Call("memory/search", apptest.Object{"query": "nothing"})
	before := measure(watcher, h, 0)

	start, duration := time.Now(), soakTime(t)
	var all sync.WaitGroup
	for n := range uint64(clients) {
		s := &soaker{WebSocketClient: h.ConnectInitialized(), daemon: h, dir: t.TempDir(), rng: rand.New(rand.NewPCG(n, 9))}
		all.Go(func() {
			defer s.logLast()
			for time.Since(start) < duration && !t.Failed() {
				s.sendRandom()
			}
			s.disconnect()
		})
	}
	var samples []soakSample
	every := time.NewTicker(max(duration/240, 100*time.Millisecond))
	defer every.Stop()
	for time.Since(start) < duration && !t.Failed() {
		<-every.C
		samples = append(samples, measure(watcher, h, time.Since(start)))
		watcher.Seen = nil
	}
	all.Wait()
	if t.Failed() {
		return
	}
	requireFlat(t, samples)
	after := measure(watcher, h, time.Since(start))
	for end := time.Now().Add(apptest.Timeout); time.Now().Before(end) &&
		after.exceeds(before); after = measure(watcher, h, time.Since(start)) {
		watcher.Seen = nil
	}
	t.Logf("before %+v, after %+v", before, after)
	require.False(t, after.exceeds(before), "not freed: before %+v, after %+v\n%s", before, after, openFiles(h))
	if dir := os.Getenv("SOAK_DIR"); dir != "" {
		writeSoak(t, dir, append(samples, after))
	}
	h.Terminate()
}

// openFiles returns the open files of the server.
func openFiles(h *apptest.Daemon) string {
	var list []string
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", h.Cmd.Process.Pid))
	for _, link := range links {
		target, _ := os.Readlink(link) // it may be closed
		list = append(list, target)
	}
	slices.Sort(list)
	return strings.Join(list, "\n")
}

// newSoakDaemon returns a server with a scripted model and an MCP server.
func newSoakDaemon(t *testing.T) *apptest.Daemon {
	model := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is disconnected
		}
		w.Header().Set("Content-Type", "text/event-stream")
		if acts := apptest.NextCalls(string(body)); len(acts) > 0 {
			apptest.WriteCalls(w, rand.Int(), acts, "1")
		} else {
			apptest.TextAnswer("done, as was asked for, in some words")(w)
		}
	}))
	t.Cleanup(model.Close)
	program, err := apptest.MCPProgram()
	require.NoError(t, err)
	home := t.TempDir()
	apptest.WriteConfig(t, home, fmt.Sprintf("model = \"test\"\nmodel_provider = \"test\"\nthread_unload_delay_secs = 1\n"+
		"[memory]\nsummarize_on_prune = true\ninject = true\n[model_providers.test]\nbase_url = %q\nwire_api = \"chat\"\n[mcp_servers.docs]\ncommand = %q\n", model.URL+"/v1", program))
	h := apptest.LaunchDaemon(t,
		apptest.ServerCommand(t, home, "--listen", shortAddress(t, "unix://"), "-c", "compat.turn_completed_floor_ms=0"), home)
	require.NotEmpty(t, h.URL)
	return h
}

// soaker is a client with some threads.
type soaker struct {
	*apptest.WebSocketClient
	daemon  *apptest.Daemon
	dir     string
	rng     *rand.Rand
	threads []string
}

// logLast logs the last messages if the test failed.
func (s *soaker) logLast() {
	for i := max(len(s.Seen)-6, 0); i < len(s.Seen) && s.T.Failed(); i++ {
		s.T.Logf("%s: %.300s", s.dir, s.Seen[i].Line)
	}
}

// soakThreads is the maximum number of threads of a client.
const soakThreads = 4

// sendRandom sends a random request. The thread's state can reject it, but each request gets a
// response.
func (s *soaker) sendRandom() {
	if len(s.threads) == 0 || len(s.threads) < soakThreads && s.rng.IntN(8) == 0 {
		s.threads = append(s.threads,
			s.StartThread(apptest.Object{"cwd": s.dir, "sandbox": "danger-full-access", "approvalPolicy": "never"}))
	}
	id := s.threads[s.rng.IntN(len(s.threads))]
	all := []func(id string){s.runTurn, s.runTurn, s.runTurn, s.interrupt, s.edit, s.prune, s.compact, s.fork,
		s.readThread, s.watch,
		s.unload, s.reconnect, s.remove}
	all[s.rng.IntN(len(all))](id)
	s.Seen = nil
}

// converse runs a turn, unless it is rejected, and passes its messages to handle.
func (s *soaker) converse(id, text string, handle func(apptest.Message)) {
	started := s.Request("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput(text)})
	if started.Error != nil {
		return
	}
	turn := gjson.GetBytes(started.Result, "turn.id").Str
	s.Until(func(m apptest.Message) bool {
		handle(m)
		return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "turn.id").Str == turn
	})
}

func (s *soaker) runTurn(id string) {
	texts := []string{
		"For the record: the port of the " + fmt.Sprint(s.rng.IntN(1000)) + "th service is 9137. " +
			strings.Repeat("More words. ", s.rng.IntN(500)),
		apptest.ScriptText(apptest.ShellCall("echo one; head -c 20000 /dev/zero | tr '\\0' x; echo")),
		apptest.ScriptText(apptest.ShellCall(apptest.PatchCommand), apptest.ShellCall("rm -f notes/new")),
		apptest.ScriptText(apptest.ExecCall("cat", apptest.Object{"tty": true, "yield_time_ms": 250})),
		apptest.ScriptText(apptest.OneCall("mcp__docs__echo", apptest.Object{"x": s.rng.IntN(10)})),
		apptest.ScriptText(append(apptest.ShellCall("true"), apptest.ShellCall("false")...), apptest.ShellCall("ls")),
	}
	s.converse(id, texts[s.rng.IntN(len(texts))], func(apptest.Message) {})
}

// interrupt uses a command that also ends by itself. If edits delete the call from the context, the
// model makes it again in a later turn.
func (s *soaker) interrupt(id string) {
	s.converse(id, apptest.ScriptText(apptest.ShellCall("sleep 5")), func(m apptest.Message) {
		if m.Method == "item/started" && gjson.GetBytes(m.Params, "item.type").Str == "commandExecution" {
			s.SendRequest("turn/interrupt", apptest.Object{"threadId": id, "turnId": gjson.GetBytes(m.Params, "turnId").Str})
		}
	})
}

func (s *soaker) edit(id string) {
	items := gjson.GetBytes(s.Request("context/getItems", apptest.Object{"threadId": id}).Result, "items.#.id").Array()
	if len(items) == 0 {
		return
	}
	ids := []string{items[s.rng.IntN(len(items))].Str}
	s.Request(apptest.EditParams(s.T, id, sample.RandomOperations(s.rng, ids).Draw(s.T)))
	if s.rng.IntN(2) == 0 {
		s.Request("context/undo", apptest.Object{"threadId": id})
	}
	s.Request("context/getPrompt", apptest.Object{"threadId": id})
}

func (s *soaker) prune(id string) {
	s.Request("context/prune", apptest.Object{"threadId": id, "categories": []string{"tool_output"}})
	s.Request("context/getUsage", apptest.Object{"threadId": id})
}

func (s *soaker) compact(id string) {
	if s.rng.IntN(2) == 0 {
		s.Request("thread/context/trim", apptest.Object{"threadId": id, "keepLastNTurns": 2})
	} else {
		s.Request("thread/compact/start", apptest.Object{"threadId": id})
	}
}

func (s *soaker) fork(id string) {
	forked := s.Request("thread/fork", apptest.Object{"threadId": id})
	if forked.Error == nil {
		s.threads = append(s.threads, gjson.GetBytes(forked.Result, "thread.id").Str)
	}
	if len(s.threads) > soakThreads {
		s.remove(s.threads[0])
	}
}

func (s *soaker) readThread(id string) {
	s.Request("thread/list", apptest.Object{"limit": 10})
	s.Request("thread/search", apptest.Object{"searchTerm": "service"})
	s.Request("memory/search", apptest.Object{"query": "port of a service"})
	s.Request("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
	s.Request("fuzzyFileSearch", apptest.Object{"query": "new", "roots": []string{s.dir}})
}

func (s *soaker) watch(string) {
	s.Request("fs/watch", apptest.Object{"watchId": "w", "path": s.dir})
	require.NoError(s.T, os.WriteFile(filepath.Join(s.dir, "watched"), []byte("x"), 0o600))
	s.Request("fs/unwatch", apptest.Object{"watchId": "w"})
}

func (s *soaker) unload(id string) {
	s.Request("thread/unsubscribe", apptest.Object{"threadId": id})
	s.Request("thread/resume", apptest.Object{"threadId": id})
}

// reconnect connects anew and resumes its threads.
func (s *soaker) reconnect(string) {
	s.Abort()
	s.WebSocketClient = s.daemon.ConnectInitialized()
	for _, id := range s.threads {
		s.Request("thread/resume", apptest.Object{"threadId": id})
	}
}

// remove waits for a running compaction, because a deleted thread would continue until its
// terminals end.
func (s *soaker) remove(id string) {
	for {
		refusal := s.Request("thread/delete", apptest.Object{"threadId": id}).Error
		if refusal == nil {
			break
		}
		turn := refusal.Data.TurnID
		require.NotEmpty(s.T, turn, "%s: %s", id, refusal.Message)
		s.Until(func(m apptest.Message) bool {
			return m.Method == "turn/completed" && gjson.GetBytes(m.Params, "turn.id").Str == turn
		})
	}
	s.threads = slices.DeleteFunc(s.threads, func(own string) bool { return own == id })
}

func (s *soaker) disconnect() {
	for len(s.threads) > 0 {
		s.remove(s.threads[0])
	}
	s.Abort()
}
