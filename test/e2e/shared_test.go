package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
	"appserver/test/apptest"
)

// startShared starts a client of the shared server of a home. The server ends a second after its last client.
func startShared(t testing.TB, home, name string, args ...string) *apptest.Client {
	t.Helper()
	return apptest.StartOffline(t, home, append([]string{"--shared", name, "--exit-when-idle", "1"}, args...)...)
}

func serverPid(t testing.TB, c *apptest.Client) int {
	t.Helper()
	var facts protocol.ServerDiagnosticsResponse
	require.NoError(t, protocol.Unmarshal(c.Call("server/diagnostics", apptest.Object{}), &facts))
	return facts.Pid
}

// awaitNoSocket waits until no shared server of a home listens.
func awaitNoSocket(t testing.TB, home string) {
	t.Helper()
	require.Eventually(t, func() bool {
		sockets, err := filepath.Glob(filepath.Join(home, "app-server-control", "shared-*.sock"))
		return err == nil && len(sockets) == 0
	}, apptest.Timeout, 20*time.Millisecond)
}

// TestSharedServerServesClientsOfOneHome starts two clients at once. Both write in one thread, and the server ends
// after them.
func TestSharedServerServesClientsOfOneHome(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	a, b := startShared(t, home, "x"), startShared(t, home, "x")
	require.Equal(t, serverPid(t, a), serverPid(t, b))
	require.NotEqual(t, a.Cmd.Process.Pid, serverPid(t, a))
	thread := a.StartTrusted()
	require.Equal(t, "completed", a.Turn(thread, "hello from a").Status)
	b.Call("thread/resume", apptest.Object{"threadId": thread})
	require.Equal(t, "completed", b.Turn(thread, strings.Repeat("long ", 40_000)).Status)
	a.UntilMethod("turn/completed")
	a.Close()
	a.AwaitExit()
	require.Equal(t, "completed", b.Turn(thread, "hello alone").Status)
	b.Close()
	b.AwaitExit()
	awaitNoSocket(t, home)
}

// TestSharedServerDiffersByNameAndFlags starts clients that must not share a server.
func TestSharedServerDiffersByNameAndFlags(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	pids := map[int]bool{}
	for _, c := range []*apptest.Client{startShared(t, home, "x"), startShared(t, home, "y"),
		startShared(t, home, "x", "-c", "model=\"other\"")} {
		pids[serverPid(t, c)] = true
	}
	require.Len(t, pids, 3)
}

// TestSharedServerContinuesAfterAKilledClient kills a client. Its turn ends, and another client reads it.
func TestSharedServerContinuesAfterAKilledClient(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	a := startShared(t, home, "x")
	thread, pid := a.StartTrusted(), serverPid(t, a)
	a.BeginTurn(thread, "run: sleep 2")
	a.Kill()
	b := startShared(t, home, "x")
	require.Equal(t, pid, serverPid(t, b))
	b.Call("thread/resume", apptest.Object{"threadId": thread})
	require.Equal(t, "completed", b.AwaitTurn().Status)
}

// TestSharedServerIsReplaced starts a client that asks for a new server. The former client loses its connection.
func TestSharedServerIsReplaced(t *testing.T) {
	t.Parallel()
	home := apptest.ShortDir(t)
	a := startShared(t, home, "x")
	pid := serverPid(t, a)
	b := startShared(t, home, "x", "--replace")
	require.NotEqual(t, pid, serverPid(t, b))
	<-a.Exited
	require.Error(t, a.Err)
	require.Equal(t, serverPid(t, b), serverPid(t, startShared(t, home, "x")))
}

// TestSharedServerFallsBackToTheOwnProcess has a home whose path is too long for a socket.
func TestSharedServerFallsBackToTheOwnProcess(t *testing.T) {
	t.Parallel()
	home := filepath.Join(apptest.ShortDir(t), strings.Repeat("long", 30))
	require.NoError(t, os.MkdirAll(home, 0o700))
	c := startShared(t, home, "x")
	require.Equal(t, c.Cmd.Process.Pid, serverPid(t, c))
	require.Equal(t, "completed", c.Turn(c.StartTrusted(), "hello").Status)
}
