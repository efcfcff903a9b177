package fleet

import (
	"os/exec"
	"testing"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

func TestMain(m *testing.M) { apptest.Main(tests{m}) }

// tests are the tests of the package with their database server.
type tests struct{ *testing.M }

// Run runs the tests, and stops the database server.
func (t tests) Run() int { return pgtest.Main(t.M) }

// node is a machine with a server.
type node struct {
	*apptest.Client
	home string
}

// command returns the command of a server with a database.
func command(t *testing.T, home, url string, args ...string) *exec.Cmd {
	cmd := apptest.OfflineCommand(t, home, append([]string{"-c", `store.kind="postgres"`,
		"-c", "store.require_sync_standby=false", "-c", "store.timeout_ms=20000", "-c", "fleet.lease_ms=8000"}, args...)...)
	cmd.Env = append(cmd.Env, "APPSERVER_STORE_URL="+url)
	return cmd
}

// newNode starts a server with a home of its own.
func newNode(t *testing.T, url string) *node {
	home := t.TempDir()
	return &node{startNode(t, home, url), home}
}

func startNode(t *testing.T, home, url string) *apptest.Client {
	c := apptest.StartProcess(t, command(t, home, url))
	c.Initialize()
	return c
}
