//go:build reference

package bench

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/posix"
)

// TestBesideTheReference measures us and the reference implementation by the same script, in
// turns, and prints a table. `make bench-peer` runs it; it asserts that all was answered, and
// no times.
func TestBesideTheReference(t *testing.T) {
	model := newBenchModel(1, 0)
	defer model.Close()
	table, ours := &besideTable{}, installed(t)
	for _, group := range besideGroups(t) {
		t.Run(group.name, func(t *testing.T) {
			homes := map[string]string{}
			for round := range group.rounds {
				for _, s := range besides(t, model, ours) {
					if round == 0 {
						homes[s.name] = s.home(t)
					}
					group.run(besideRun{t, s, model, homes[s.name],
						func(row besideRow, value float64) { table.put(row, s.name, value) }})
				}
			}
		})
		fmt.Print(table.finished())
	}
}

// besideGroup is a script, which is run so many times against each server.
type besideGroup struct {
	name   string
	rounds int
	run    func(besideRun)
}

// besideRun is one run of a script.
type besideRun struct {
	*testing.T
	besideServer
	model *benchModel
	// path is the home, which runs of a group share.
	path string
	put  func(row besideRow, value float64)
}

// besideServer is a server that is measured.
type besideServer struct {
	name, program string
	args          []string
	config        string
	api           string // the path of the provider that it asks
}

// besides returns ours and the reference implementation's native program: the script that npm puts
// before it costs it 40 ms.
func besides(t testing.TB, model *benchModel, ours string) []besideServer {
	config := "model = \"bench\"\nmodel_provider = \"bench\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n" +
		"[model_providers.bench]\nname = \"bench\"\nbase_url = \"" + model.URL + "/v1\"\nwire_api = %q\n"
	wire := cmp.Or(os.Getenv("APPSERVER_BENCH_WIRE"), "chat")
	require.Contains(t, benchPaths, wire, "APPSERVER_BENCH_WIRE")
	return []besideServer{
		{"ours", ours, []string{"-c", "compat.turn_completed_floor_ms=0"}, fmt.Sprintf(config, wire), benchPaths[wire]},
		{"reference", nativeReference(t),
			[]string{"app-server", "-c", "analytics.enabled=false", "-c", "features.apps=false", "-c", "features.plugins=false"},
			// Threads of the generated homes are of the provider that only we have.
			fmt.Sprintf(config, "responses") +
				"[model_providers.offline]\nname = \"offline\"\nbase_url = \"http://127.0.0.1:9/v1\"\n", benchPaths["responses"]},
	}
}

// installed returns a copy of our program, since npm has copied the other one. The kernel keeps a
// file that the linker wrote in smaller pages, and a program from it starts later.
func installed(t testing.TB) string {
	built, err := apptest.Binary()
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), filepath.Base(built))
	require.NoError(t, exec.Command("cp", built, program).Run())
	require.NoError(t, exec.Command("sync", program).Run())
	return program
}

// benchPaths are the wires that APPSERVER_BENCH_WIRE has ours speak, chat by default, and the paths of
// the model. The reference implementation speaks responses.
var benchPaths = map[string]string{"chat": "/v1/chat/completions", "responses": "/v1/responses"}

// nativeReference returns the program that REFERENCE_BINARY starts, or that itself.
func nativeReference(t testing.TB) string {
	script := os.Getenv("REFERENCE_BINARY")
	require.NotEmpty(t, script, "set REFERENCE_BINARY to the program of the reference implementation")
	script, err := filepath.EvalSymlinks(script)
	require.NoError(t, err)
	native, err := filepath.Glob(filepath.Join(filepath.Dir(script), "../../codex-*/vendor/*/bin/codex"))
	require.NoError(t, err)
	if len(native) == 1 {
		return native[0]
	}
	return script
}

// home returns a new one, with the configuration.
func (s besideServer) home(t testing.TB) string {
	home := t.TempDir()
	s.configure(t, home)
	return home
}

func (s besideServer) configure(t testing.TB, home string) {
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(s.config), 0o600))
}

// dial starts the server in the home. One that stops answering is ended, so that the test fails.
func (r besideRun) dial() (c *lineClient, started time.Duration) {
	cmd := apptest.ProcessCommand(r, r.path, r.program, r.args...)
	cmd.SysProcAttr = posix.Group()
	cmd.Dir = filepath.Join(r.path, "work") // a turn changes the home, and would change the worktree
	require.NoError(r, os.MkdirAll(cmd.Dir, 0o700))
	began := time.Now()
	c = dialLines(r, cmd)
	started = time.Since(began)
	expire := time.AfterFunc(5*time.Minute, func() { endGroup(cmd) })
	closed := c.close
	c.close = func() {
		expire.Stop()
		endGroup(cmd)
		closed()
	}
	r.Cleanup(c.close)
	return c, started
}

func endGroup(cmd *exec.Cmd) { _ = posix.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// timed returns a call, and how long it took in milliseconds.
func (r besideRun) timed(c *lineClient, method, params string) float64 {
	began := time.Now()
	c.call(method, params)
	require.False(r, gjson.GetBytes(c.head, "error").Exists(), "%s: %.300s", method, c.head)
	return ms(time.Since(began))
}

// thread starts a thread, and gives its id.
func (r besideRun) thread(c *lineClient) string {
	r.timed(c, "thread/start", "{}")
	id := gjson.GetBytes(c.head, "result.thread.id").Str
	require.NotEmpty(r, id)
	return id
}

// turns runs a turn in each of the threads at once, and gives how long they took. Each answer is
// awaited: sent without that, 200 were not finished by the reference implementation.
func (r besideRun) turns(c *lineClient, threads ...string) time.Duration {
	began, all := time.Now(), c.ended+len(threads)
	for _, thread := range threads {
		r.timed(c, "turn/start",
			fmt.Sprintf(`{"threadId":%q,"input":[{"type":"text","text":"hi","text_elements":[]}]}`, thread))
	}
	for c.ended < all {
		c.await(turnCompleted)
	}
	return time.Since(began)
}

// megabytes returns the resident memory of the server's processes.
func (r besideRun) megabytes(c *lineClient) (sum float64) {
	for _, pid := range apptest.WithDescendants(r, c.pid) {
		sum += memberMB(r, pid, "VmRSS:")
	}
	return sum
}
