package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
	"appserver/test/partition"
)

// TestCommandsEndWithTheLeaseAlthoughAnAppendHangs holds the link of the owner to the database during a turn
// with two commands. The first one ends, so that the thread waits for an append, whose time limit is much
// longer than the lease. The second one must end before another server can take the thread.
func TestCommandsEndWithTheLeaseAlthoughAnAppendHangs(t *testing.T) {
	t.Parallel()
	url, link := pgtest.Database(t), partition.New(t, "unix", pgtest.Shared(t).Socket())
	owner := apptest.StartProcess(t, command(t, t.TempDir(), pgtest.Through(t, url, link.Address()),
		"-c", "store.timeout_ms=30000")) // the default
	owner.Initialize()
	other := newNode(t, url)
	id := owner.StartTrusted()
	owner.BeginTurn(id, "run: echo long; sleep 617")
	owner.UntilOutput("long\n")
	running := apptest.WithDescendants(t, owner.Cmd.Process.Pid)[1:]
	require.NotEmpty(t, running)
	end := filepath.Join(t.TempDir(), "end")
	owner.Call("thread/shellCommand", apptest.Object{"threadId": id,
		"command": "echo short; until test -e " + apptest.ShellQuote(end) + "; do sleep 0.02; done"})
	owner.UntilOutput("short\n")
	link.Hold(partition.Requests)
	link.Hold(partition.Answers)
	require.NoError(t, os.WriteFile(end, nil, 0o644))
	requireEnds(t, running)
	require.Equal(t, "threadLocked", other.CallRejected("thread/resume", apptest.Object{"threadId": id}).Data.Kind,
		"the commands have ended after the lease")
	requireLost(t, owner, id)
	require.Eventually(t, func() bool {
		return other.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	require.Equal(t, "completed", other.Turn(id, "say more").Status)
	link.Heal()
	require.Eventually(t, func() bool {
		m := owner.Request("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
		return gjson.GetBytes(m.Result, "thread.turns.#.status").Raw == `["interrupted","completed"]`
	}, 40*time.Second, 100*time.Millisecond)
}

// requireLost reads until the turn of a thread fails and the thread is closed.
func requireLost(t *testing.T, c *apptest.Client, id string) {
	t.Helper()
	turn := c.AwaitTurn()
	require.Equal(t, "failed", turn.Status)
	require.NotEmpty(t, turn.Error.Message)
	closed := c.UntilMethod("thread/closed")
	require.Equal(t, id, gjson.GetBytes(closed.Params, "threadId").Str)
}

// beginCommand starts a turn with a command, and returns the function that ends the command.
func beginCommand(t *testing.T, c *apptest.Client, id string) (end func()) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "end")
	c.BeginTurn(id, "run: echo began; until test -e "+apptest.ShellQuote(path)+"; do sleep 0.02; done; echo the end")
	c.UntilOutput("began\n")
	running := apptest.WithDescendants(t, c.Cmd.Process.Pid)[1:]
	require.NotEmpty(t, running)
	return func() {
		require.NoError(t, os.WriteFile(path, nil, 0o644))
		requireEnds(t, running)
	}
}

// requireEnds waits until processes have ended.
func requireEnds(t *testing.T, running []int) {
	t.Helper()
	require.Eventually(t, func() bool { return !slices.ContainsFunc(running, isAlive) }, time.Minute,
		10*time.Millisecond)
}

// TestACrashOfTheDatabaseDuringACommandFailsTheTurn starts the database again after the lease has ended.
func TestACrashOfTheDatabaseDuringACommandFailsTheTurn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	n := apptest.StartProcess(t, command(t, t.TempDir(), server.Database(t), "-c", "store.timeout_ms=30000"))
	n.Initialize()
	id := n.StartTrusted()
	end := beginCommand(t, n, id)
	server.Crash(t)
	end()
	requireLost(t, n, id)
	require.Equal(t, "storage", n.CallRejected("thread/read", apptest.Object{"threadId": id}).Data.Kind)
	server.Restart(t)
	require.Eventually(t, func() bool {
		return n.Request("thread/resume", apptest.Object{"threadId": id}).Error == nil
	}, 40*time.Second, 100*time.Millisecond)
	require.Equal(t, "completed", n.Turn(id, "say more").Status)
	turns := n.ReadThread(id).Turns
	require.Equal(t, []string{"interrupted", "completed"}, []string{turns[0].Status, turns[1].Status})
	n.Close()
}

// TestARunningServerReportsThatThePrimaryHasNoStandbys resets synchronous_standby_names during a command. The
// turn completes, though the server requires standbys.
func TestARunningServerReportsThatThePrimaryHasNoStandbys(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	n := apptest.StartProcess(t, command(t, t.TempDir(), p.url(), "-c", "store.require_sync_standby=true"))
	n.Initialize()
	hasStandby := func() bool {
		return gjson.GetBytes(n.Call("server/diagnostics", apptest.Object{}), "fleet.syncStandby").Bool()
	}
	require.True(t, hasStandby())
	id := n.StartTrusted()
	end := beginCommand(t, n, id)
	p.servers[0].Exec(t, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool { return !hasStandby() }, time.Minute, 50*time.Millisecond)
	end()
	require.Equal(t, "completed", n.AwaitTurn().Status)
	p.requireStandby(p.servers[0])
	require.Eventually(t, hasStandby, time.Minute, 50*time.Millisecond)
	n.Close()
	log, err := os.ReadFile(n.Cmd.Stderr.(*os.File).Name())
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(log), "has no synchronous standbys any more"))
}

// TestAShortOutageOfTheDatabaseDelaysTheTurn crashes the database during a command, and starts it again when
// the command has ended. The lease is much longer than that.
func TestAShortOutageOfTheDatabaseDelaysTheTurn(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	n := apptest.StartProcess(t, command(t, t.TempDir(), server.Database(t), "-c", "fleet.lease_ms=60000"))
	n.Initialize()
	id := n.StartTrusted()
	end := beginCommand(t, n, id)
	server.Crash(t)
	end()
	server.Restart(t)
	require.Equal(t, "completed", n.AwaitTurn().Status)
	require.Zero(t, n.Count("thread/closed"))
	turns := n.ReadThread(id).Turns
	require.Len(t, turns, 1)
	require.Equal(t, "completed", turns[0].Status)
	n.Close()
}
