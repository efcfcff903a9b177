package apptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/rollout/postgres/pgtest"
)

// storeVariable is the environment variable that selects the store of the tested servers. With "postgres",
// each home has a database, into which the rollouts of the home are copied.
const storeVariable = "APPSERVER_TEST_STORE"

// UsesDatabase reports whether the tested servers have their threads in a database.
func UsesDatabase() bool { return os.Getenv(storeVariable) == "postgres" }

// Run runs the tests of a package. If they use a database, it stops the database server afterwards, and prints the
// tests that were skipped.
func Run(m goleak.TestingM) (code int) {
	if !UsesDatabase() {
		return m.Run()
	}
	pgtest.Configure("fsync=off", "max_connections=500", "shared_buffers=128MB")
	code = pgtest.Main(m)
	if err := reportSkipped(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// runner runs tests by Run.
type runner struct{ goleak.TestingM }

// Run runs the tests.
func (r runner) Run() int { return Run(r.TestingM) }

// homes are the databases of homes.
var homes struct {
	mu   sync.Mutex
	urls map[string]string
	// template is the name of a database with the tables, or "".
	template string
	// running counts the servers of each database.
	running map[string]int
	// killed are the databases with leases of killed servers.
	killed map[string]bool
	// copied are the rollouts that were copied into the databases.
	copied map[string]bool
}

// databaseArgs returns the arguments that make a server use its database. The lease is long, because the tests
// use all processors.
func databaseArgs() []string {
	return []string{"-c", `store.kind="postgres"`, "-c", "store.require_sync_standby=false",
		"-c", "fleet.lease_ms=20000"}
}

// urlVariable is the environment variable with the URL of the database.
const urlVariable = "APPSERVER_STORE_URL"

// databaseOfCommand returns the URL of the database of a command, or "".
func databaseOfCommand(cmd *exec.Cmd) string {
	for _, v := range cmd.Env {
		if url, found := strings.CutPrefix(v, urlVariable+"="); found && UsesDatabase() {
			return url
		}
	}
	return ""
}

// countServer counts a server that starts or has ended.
func countServer(cmd *exec.Cmd, change int) {
	if url := databaseOfCommand(cmd); url != "" {
		homes.mu.Lock()
		defer homes.mu.Unlock()
		homes.running[url] += change
	}
}

// noteKilled records that a server left its lease behind.
func noteKilled(cmd *exec.Cmd) {
	if url := databaseOfCommand(cmd); url != "" {
		homes.mu.Lock()
		defer homes.mu.Unlock()
		homes.killed[url] = true
	}
}

// endLeases ends the leases of killed servers, unless their database has other servers.
func endLeases(t testing.TB, url string) {
	t.Helper()
	homes.mu.Lock()
	due := homes.killed[url] && homes.running[url] == 0
	if due {
		delete(homes.killed, url)
	}
	homes.mu.Unlock()
	if due {
		pgtest.Exec(t, url, "UPDATE node SET expires_at = now() - interval '1 second'")
	}
}

// StoredLines returns the lines of a thread. A server must be able to read the thread.
func (c *Client) StoredLines(thread string) string {
	c.T.Helper()
	if url := databaseOfCommand(c.Cmd); url != "" {
		return strings.Join(pgtest.Texts(c.T, url,
			"SELECT convert_from(data, 'UTF8') FROM line WHERE thread = $1 ORDER BY ordinal", thread), "\n") + "\n"
	}
	text, err := os.ReadFile(c.ReadThread(thread).Path)
	require.NoError(c.T, err)
	return string(text)
}

// useDatabase makes a command of the server use the database of its home.
func useDatabase(t testing.TB, cmd *exec.Cmd, home string) {
	t.Helper()
	url := DatabaseOf(t, home)
	endLeases(t, url)
	cmd.Args = append(append(cmd.Args[:1:1], databaseArgs()...), cmd.Args[1:]...)
	cmd.Env = append(cmd.Env, urlVariable+"="+url)
	if hasNewRollouts(home) {
		copyRollouts(t, cmd.Path, home, url)
	}
}

// storeConfig are databaseArgs in a configuration file.
const storeConfig = `
[store]
kind = "postgres"
require_sync_standby = false
[fleet]
lease_ms = 20000
`

// ServersUseDatabase makes the servers that a program starts use the database of their home, if the tests use a
// database.
func ServersUseDatabase(t testing.TB, program *exec.Cmd, home string) {
	t.Helper()
	if !UsesDatabase() {
		return
	}
	url := DatabaseOf(t, home)
	endLeases(t, url)
	program.Env = append(program.Env, urlVariable+"="+url)
	path := filepath.Join(home, "config.toml")
	config, err := os.ReadFile(path)
	require.NoError(t, err)
	if !strings.Contains(string(config), storeConfig) {
		require.NoError(t, os.WriteFile(path, append(config, storeConfig...), 0o600))
	}
	if hasNewRollouts(home) {
		server, err := Binary()
		require.NoError(t, err)
		copyRollouts(t, server, home, url)
	}
}

// DatabaseOf returns the URL of the database of a home. The end of the test drops it.
func DatabaseOf(t testing.TB, home string) string {
	t.Helper()
	homes.mu.Lock()
	defer homes.mu.Unlock()
	if url := homes.urls[home]; url != "" {
		return url
	}
	if homes.urls == nil {
		homes.urls, homes.copied = map[string]string{}, map[string]bool{}
		homes.running, homes.killed = map[string]int{}, map[string]bool{}
	}
	if homes.template == "" {
		makeTemplate(t)
	}
	url := pgtest.Shared(t).Clone(t, homes.template)
	homes.urls[home] = url
	t.Cleanup(func() {
		homes.mu.Lock()
		defer homes.mu.Unlock()
		delete(homes.urls, home)
	})
	return url
}

// makeTemplate makes a database with the tables of the server. It is never dropped.
func makeTemplate(t testing.TB) {
	path, err := Binary()
	require.NoError(t, err)
	s := pgtest.Shared(t)
	s.Exec(t, "CREATE DATABASE tables TEMPLATE template0 ENCODING 'UTF8'")
	store(t, path, t.TempDir(), s.URL("postgres", "tables"), "init")
	if os.Geteuid() == 0 {
		s.Admit(t) // tests run servers as other users
	}
	homes.template = "tables"
}

// hasNewRollouts reports whether a home has rollouts that were not copied yet, and notes them.
func hasNewRollouts(home string) (found bool) {
	homes.mu.Lock()
	defer homes.mu.Unlock()
	for _, pattern := range []string{"sessions/*/*/*/*.jsonl", "archived_sessions/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join(home, pattern))
		if err != nil {
			panic(err)
		}
		for _, path := range paths {
			found = found || !homes.copied[path]
			homes.copied[path] = true
		}
	}
	return found
}

// copyRollouts copies the rollouts of a home into its database. Rollouts with damage are not copied.
func copyRollouts(t testing.TB, path, home, url string) {
	t.Helper()
	if out, err := storeCommand(path, home, url, "import").CombinedOutput(); err != nil {
		t.Logf("rollouts are not in the database: %v\n%s", err, out)
	}
}

func store(t testing.TB, path, home, url string, command ...string) {
	t.Helper()
	out, err := storeCommand(path, home, url, command...).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func storeCommand(path, home, url string, command ...string) *exec.Cmd {
	cmd := exec.Command(path, slices.Concat(databaseArgs(), []string{"store"}, command)...)
	cmd.Env = append(os.Environ(), "CODEX_HOME="+home, urlVariable+"="+url)
	return cmd
}
