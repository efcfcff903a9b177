package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestInterruptKillsAllChildren interrupts a turn whose children ignore signals and leave the
// session.
func TestInterruptKillsAllChildren(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartTrusted()
	b, turn := c.StartProcessTree(t, id)
	begin := time.Now()
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	require.Less(t, time.Since(begin), apptest.CleanupLimit)
	require.Empty(t, b.Alive(t))
	require.Equal(t, "completed", c.Turn(id, "hello").Status, "the thread continues")
	c.Close()
}

// TestShutdownDuringTurnLeavesNothing shuts down during a turn, in several ways. The status is 0,
// no process is left, and the next server shows the turn as interrupted.
func TestShutdownDuringTurnLeavesNothing(t *testing.T) {
	t.Parallel()
	// A process that ignores SIGHUP, as under nohup, passes that on to its children. A handler
	// prevents it.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	for name, end := range map[string]func(c *apptest.Client){
		"end of input": func(c *apptest.Client) { require.NoError(t, c.In.Close()) },
		"SIGTERM":      func(c *apptest.Client) { c.Signal(syscall.SIGTERM) },
		"SIGINT":       func(c *apptest.Client) { c.Signal(syscall.SIGINT) },
		"SIGHUP":       func(c *apptest.Client) { c.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			c := apptest.StartOffline(t, home)
			id := c.StartTrusted()
			b, turn := c.StartProcessTree(t, id)
			begin := time.Now()
			end(c)
			require.Equal(t, "interrupted", c.AwaitTurn().Status, "the client was not notified")
			c.AwaitExit()
			require.Less(t, time.Since(begin), apptest.CleanupLimit)
			require.Empty(t, b.Alive(t))

			c = apptest.StartOffline(t, home)
			read := c.ReadThread(id)
			require.Len(t, read.Turns, 1)
			require.Equal(t, turn, read.Turns[0].ID)
			require.Equal(t, "interrupted", read.Turns[0].Status)
			c.Call("thread/resume", apptest.Object{"threadId": id})
			require.Equal(t, "completed", c.Turn(id, "go on").Status)
			c.Close()
		})
	}
}

// inBackground is a shell that remains the parent of the server, with the same input.
const inBackground = `exec 3<&0; "$@" <&3 3<&- & wait`

// TestParentDeathEndsServer kills the parent while other processes keep the pipes open.
func TestParentDeathEndsServer(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := apptest.ThroughShell(apptest.OfflineCommand(t, home), inBackground)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	id := c.StartTrusted()
	b, _ := c.StartProcessTree(t, id)
	begin := time.Now()
	require.NoError(t, cmd.Process.Kill())
	require.Equal(t, "interrupted", c.AwaitTurn().Status)
	c.Drain()
	require.Less(t, time.Since(begin), apptest.CleanupLimit)
	require.Empty(t, b.Alive(t))
	require.Empty(t, openersOf(t, home), "the server still runs")
	requireKeptInterrupted(t, home, id)
}

// requireKeptInterrupted requires that the next server shows the only turn as interrupted with all
// its items, and that the thread continues.
func requireKeptInterrupted(t *testing.T, home, id string) {
	t.Helper()
	c := apptest.StartOffline(t, home)
	turns := c.ReadThread(id).Turns
	require.Len(t, turns, 1)
	require.Equal(t, "interrupted", turns[0].Status)
	var command struct{ Type, Status, AggregatedOutput string }
	require.NoError(t, json.Unmarshal(turns[0].Items[len(turns[0].Items)-1], &command))
	require.Equal(t, "commandExecution", command.Type)
	require.Contains(t, command.AggregatedOutput, "children started\n")
	c.Call("thread/resume", apptest.Object{"threadId": id})
	require.Equal(t, "completed", c.Turn(id, "go on").Status)
	c.Close()
}

// openersOf returns the processes whose environment names a home.
func openersOf(t *testing.T, home string) []string {
	return apptest.ProcessTree{Token: "CODEX_HOME=" + home}.Alive(t)
}

// TestDetachedServerSurvivesParent starts a server with the option to survive its parent.
func TestDetachedServerSurvivesParent(t *testing.T) {
	t.Parallel()
	cmd := apptest.ThroughShell(apptest.OfflineCommand(t, t.TempDir(), "--exit-with-parent=false"), inBackground)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	require.NoError(t, cmd.Process.Kill())
	id := c.StartThread(apptest.Object{})
	require.Equal(t, "completed", c.Turn(id, "hello").Status)
	require.NoError(t, c.In.Close())
	c.Drain()
}

// TestClosedOutputEndsServer closes the server's output during a turn: alone, with its input, and
// while a client sends requests.
func TestClosedOutputEndsServer(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *apptest.Client){
		"a request":    func(c *apptest.Client) { c.Send(apptest.Object{"id": 99, "method": "model/list"}) },
		"end of input": func(c *apptest.Client) { require.NoError(t, c.In.Close()) },
		"requests": func(c *apptest.Client) {
			for i := range 1000 {
				line := fmt.Sprintf(`{"id":%d,"method":"config/read"}`, i)
				if _, err := io.WriteString(c.In, line+"\n"); err != nil {
					return // it exited
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			c := apptest.StartOffline(t, home)
			id := c.StartTrusted()
			b, _ := c.StartProcessTree(t, id)
			require.NoError(t, c.Out.Close())
			begin := time.Now()
			end(c)
			c.AwaitExit()
			require.Less(t, time.Since(begin), apptest.CleanupLimit)
			require.Empty(t, b.Alive(t))
			requireKeptInterrupted(t, home, id)
		})
	}
}

// TestShutdownWithUnreadOutput closes the input while megabytes of responses are unread.
func TestShutdownWithUnreadOutput(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	b, _ := c.StartProcessTree(t, c.StartTrusted())
	resume := c.StopReading()
	for range 2000 {
		c.SendRequest("config/read", apptest.Object{})
	}
	require.NoError(t, c.In.Close())
	begin := time.Now()
	state, err := c.Cmd.Process.Wait()
	require.NoError(t, err)
	require.Zero(t, state.ExitCode())
	require.Less(t, time.Since(begin), apptest.Timeout)
	require.Empty(t, b.Alive(t))
	resume()
}

// TestInterruptKillsDaemonizedChildren starts a process that leaves its session, parent and
// environment.
func TestInterruptKillsDaemonizedChildren(t *testing.T) {
	sample.NotPosix(t)
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.StartTrusted()
	b := apptest.NewProcessTree()
	t.Cleanup(func() { b.Kill(t) })
	turn := c.BeginTurn(id,
		fmt.Sprintf("run: (setsid env -i bash -c 'exec -a %s sleep 600' > /dev/null 2>&1 &); until pgrep -f '^%s' > /dev/null; do :; done; echo children started; sleep 600", b.Token, b.Token))
	c.UntilOutput("children started\n")
	c.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turn})
	c.AwaitTurn()
	require.Empty(t, b.Alive(t), "a process of the turn is left")
	c.Close()
}
