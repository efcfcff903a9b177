package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// promised is how long any end of a turn or the server may take to leave nothing
// behind.
const promised = 2 * time.Second

// brood is a command with children of every kind, all marked by a token.
type brood struct{ token string }

func newBrood() brood { return brood{"brood-" + rand.Text()} }

// script starts the children, says so, and waits. The traps are inherited as ignored
// signals.
func (b brood) script() string {
	return "export BROOD=" + b.token + "; trap '' TERM INT HUP; sleep 600 & setsid sleep 600 & (setsid sleep 600 &); echo hatched; wait"
}

// alive are the processes that carry the token. Zombies carry nothing.
func (b brood) alive(t *testing.T) (list []string) {
	paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, path := range paths {
		arguments, _ := os.ReadFile(path) // of a process that may be gone by now
		environ, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if bytes.Contains(arguments, []byte(b.token)) || bytes.Contains(environ, []byte(b.token)) {
			list = append(list, filepath.Dir(path)+": "+string(bytes.ReplaceAll(arguments, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// hatch starts a turn with a brood, and reads until it is there. What the test
// leaves of it is ended.
func (c *client) hatch(t *testing.T, thread string) (b brood, turn string) {
	b = newBrood()
	turn = c.beginTurn(thread, "run: "+b.script())
	c.untilOutput("hatched\n")
	t.Cleanup(func() { b.end(t) })
	require.Eventually(t, func() bool {
		return strings.Count(strings.Join(b.alive(t), "\n"), ": sleep 600") == 3
	}, patience, 10*time.Millisecond, "three children")
	return b, turn
}

func (b brood) end(t *testing.T) {
	for _, line := range b.alive(t) {
		var pid int
		_, err := fmt.Sscanf(line, "/proc/%d:", &pid)
		require.NoError(t, err)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestBinaryInterruptLeavesNothing has a turn whose children ignore signals and leave
// the session.
func TestBinaryInterruptLeavesNothing(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	id := c.startTrusted()
	b, turn := c.hatch(t, id)
	begin := time.Now()
	c.call("turn/interrupt", object{"threadId": id, "turnId": turn})
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	require.Less(t, time.Since(begin), promised)
	require.Empty(t, b.alive(t))
	require.Equal(t, "completed", c.turn(id, "hello").Status, "the thread goes on")
	c.close()
}

// TestBinaryEndsInOrder ends the server in mid-turn: status 0, nothing left behind,
// and the next process finds the turn interrupted.
func TestBinaryEndsInOrder(t *testing.T) {
	t.Parallel()
	// Who ignores SIGHUP, as under nohup, hands that on to the server, unless it is listened for.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	for name, end := range map[string]func(c *client){
		"end of input": func(c *client) { require.NoError(t, c.in.Close()) },
		"SIGTERM":      func(c *client) { c.signal(syscall.SIGTERM) },
		"SIGINT":       func(c *client) { c.signal(syscall.SIGINT) },
		"SIGHUP":       func(c *client) { c.signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			c := startOffline(t, home)
			id := c.startTrusted()
			b, turn := c.hatch(t, id)
			begin := time.Now()
			end(c)
			require.Equal(t, "interrupted", c.awaitTurn().Status, "the client is told")
			c.awaitExit()
			require.Less(t, time.Since(begin), promised)
			require.Empty(t, b.alive(t))

			c = startOffline(t, home)
			read := c.readThread(id)
			require.Len(t, read.Turns, 1)
			require.Equal(t, turn, read.Turns[0].ID)
			require.Equal(t, "interrupted", read.Turns[0].Status)
			c.call("thread/resume", object{"threadId": id})
			require.Equal(t, "completed", c.turn(id, "go on").Status)
			c.close()
		})
	}
}

// inBackground is a shell that stays the parent of the server, with the same input.
const inBackground = `exec 3<&0; "$@" <&3 3<&- & wait`

// TestBinaryDiesWithItsParent has a parent that is killed, while others, the test
// itself, keep the pipes open.
func TestBinaryDiesWithItsParent(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	cmd := throughShell(offlineCommand(t, home), inBackground)
	c := dial(t, cmd)
	c.initialize()
	id := c.startTrusted()
	b, _ := c.hatch(t, id)
	begin := time.Now()
	require.NoError(t, cmd.Process.Kill())
	require.Equal(t, "interrupted", c.awaitTurn().Status)
	c.drain()
	require.Less(t, time.Since(begin), promised)
	require.Empty(t, b.alive(t))
	require.Empty(t, openersOf(t, home), "the server is gone")
	requireKeptInterrupted(t, home, id)
}

// requireKeptInterrupted: the next server knows the only turn of a thread as interrupted, with all
// that was said, and the thread goes on.
func requireKeptInterrupted(t *testing.T, home, id string) {
	t.Helper()
	c := startOffline(t, home)
	turns := c.readThread(id).Turns
	require.Len(t, turns, 1)
	require.Equal(t, "interrupted", turns[0].Status)
	var command struct{ Type, Status, AggregatedOutput string }
	require.NoError(t, json.Unmarshal(turns[0].Items[len(turns[0].Items)-1], &command))
	require.Equal(t, "commandExecution", command.Type)
	require.Contains(t, command.AggregatedOutput, "hatched\n")
	c.call("thread/resume", object{"threadId": id})
	require.Equal(t, "completed", c.turn(id, "go on").Status)
	c.close()
}

// openersOf are the processes whose environment names a home.
func openersOf(t *testing.T, home string) []string {
	return brood{"CODEX_HOME=" + home}.alive(t)
}

// TestBinaryOutlivesItsParentIfTold keeps the server of a parent that is gone.
func TestBinaryOutlivesItsParentIfTold(t *testing.T) {
	t.Parallel()
	cmd := throughShell(offlineCommand(t, t.TempDir(), "--exit-with-parent=false"), inBackground)
	c := dial(t, cmd)
	c.initialize()
	require.NoError(t, cmd.Process.Kill())
	id := c.startThread(object{})
	require.Equal(t, "completed", c.turn(id, "hello").Status)
	require.NoError(t, c.in.Close())
	c.drain()
}

// TestBinaryEndsWhenNobodyListens closes the server's output in mid-turn, alone, with its input, and
// while a client keeps asking.
func TestBinaryEndsWhenNobodyListens(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *client){
		"a request":    func(c *client) { c.send(object{"id": 99, "method": "model/list"}) },
		"end of input": func(c *client) { require.NoError(t, c.in.Close()) },
		"requests": func(c *client) {
			for i := range 1000 {
				line := fmt.Sprintf(`{"id":%d,"method":"config/read"}`, i)
				if _, err := io.WriteString(c.in, line+"\n"); err != nil {
					return // it has ended
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			c := startOffline(t, home)
			id := c.startTrusted()
			b, _ := c.hatch(t, id)
			require.NoError(t, c.out.Close())
			begin := time.Now()
			end(c)
			c.awaitExit()
			require.Less(t, time.Since(begin), promised)
			require.Empty(t, b.alive(t))
			requireKeptInterrupted(t, home, id)
		})
	}
}

// TestBinaryEndsThoughNobodyReads has a client that ends its input with answers of
// many megabytes unread.
func TestBinaryEndsThoughNobodyReads(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	b, _ := c.hatch(t, c.startTrusted())
	resume := c.stopReading()
	for range 2000 {
		c.ask("config/read", object{})
	}
	require.NoError(t, c.in.Close())
	begin := time.Now()
	state, err := c.cmd.Process.Wait()
	require.NoError(t, err)
	require.Zero(t, state.ExitCode())
	require.Less(t, time.Since(begin), (2500+4000)*time.Millisecond)
	require.Empty(t, b.alive(t))
	resume()
}

// TestBinaryFindsDaemons has a process that leaves the session, its parent and its
// environment behind.
func TestBinaryFindsDaemons(t *testing.T) {
	t.Parallel()
	c := startOffline(t, t.TempDir())
	id := c.startTrusted()
	b := newBrood()
	t.Cleanup(func() { b.end(t) })
	turn := c.beginTurn(id, fmt.Sprintf("run: (setsid env -i bash -c 'exec -a %s sleep 600' > /dev/null 2>&1 &); until pgrep -f '^%s' > /dev/null; do :; done; echo hatched; sleep 600", b.token, b.token))
	c.untilOutput("hatched\n")
	c.call("turn/interrupt", object{"threadId": id, "turnId": turn})
	c.awaitTurn()
	require.Empty(t, b.alive(t), "nothing of the turn is left")
	c.close()
}
