//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// cell is a jail whose commands stay, and run on terminals.
type cell struct {
	*jail
	model apptest.ScriptedModel
}

// cells runs a test in the cells of each user.
func cells(t *testing.T, test func(t *testing.T, c cell)) {
	jails(t, func(t *testing.T, j *jail) {
		plain := j.plain
		j.Close()
		o := apptest.NewScriptedModel(t)
		test(t, cell{newJail(t, plain, "-c", "model_provider=test", "-c", "model=test",
			"-c", "model_providers.test.wire_api=chat", "-c",
			fmt.Sprintf("model_providers.test.base_url=%q", o.Server.URL+"/v1")), o})
	})
}

// exec runs a script to its end.
func (c cell) exec(thread, script string, tty bool) ranCommand {
	c.t.Helper()
	return c.ran(thread, apptest.ScriptText(apptest.ExecCall(script, apptest.Object{"tty": tty})))
}

// execs checks that a script which may do no harm ends as it must.
func (c cell) execs(thread, script, status string) string {
	c.t.Helper()
	for _, tty := range []bool{false, true} {
		ran := c.exec(thread, script, tty)
		if !c.enforced {
			require.Equal(c.t, "declined", ran.Status)
			return ""
		}
		require.Equal(c.t, status, ran.Status, "%s (tty %v): %s", script, tty, ran.AggregatedOutput)
		if tty {
			return ran.AggregatedOutput
		}
	}
	return ""
}

// TestSandboxHoldsTerminals tries each way out through commands that stay, with a terminal and
// without.
func TestSandboxHoldsTerminals(t *testing.T) {
	sample.Long(t)
	cells(t, func(t *testing.T, c cell) {
		id := c.thread("workspace-write")
		for name, interpreter := range interpreters(t) {
			for i, e := range escapes() {
				script, ok := e.scripts[name]
				if !ok {
					continue
				}
				g := newOutside(c.jail)
				tries := interpreter + " " + apptest.ShellQuote(g.words.Replace(script)) + " </dev/null" // or rm and mv ask
				out := c.exec(id, tries, i%2 == 0).AggregatedOutput + c.exec(id, tries, i%2 != 0).AggregatedOutput
				require.NotContains(t, out, "escaped", "%s: %s", name, e.name)
				require.False(t, g.received(), "%s: %s", name, e.name)
			}
		}
		c.Close()
	})
}

// TestSandboxHasNoTerminalButItsOwn: a command cannot type on its terminal, as if the model
// did, and reaches none of the machine.
func TestSandboxHasNoTerminalButItsOwn(t *testing.T) {
	cells(t, func(t *testing.T, c cell) {
		ours, theirs, err := pty.Open()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, ours.Close()) })
		require.NoError(t, theirs.Chmod(0o666))
		id := c.thread("workspace-write")
		ways := map[string][]string{
			"bash": {"echo escaped > " + theirs.Name() + " && echo escaped"},
			"python3": {`import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b"x"); print("esca" + "ped")`,
				`import fcntl; fcntl.ioctl(0, 0x541c, b"\x03"); print("esca" + "ped")`},
			"perl": {`ioctl(STDIN, 0x5412, "x") or die $!; print "escaped"`,
				`open(my $t, "+<", "/dev/tty") or die $!; ioctl($t, 0x5412, "x") or die $!; print "escaped"`},
		}
		for name, interpreter := range interpreters(t) {
			for _, way := range ways[name] {
				ran := c.exec(id, interpreter+" "+apptest.ShellQuote(way), true)
				require.Equal(t, !c.enforced, ran.Status == "declined")
				require.NotContains(t, ran.AggregatedOutput, "escaped", "%s: %s", name, way)
			}
		}
		require.NoError(t, theirs.Close())
		require.NoError(t, ours.SetReadDeadline(time.Now()))
		buf := make([]byte, 64)
		n, _ := ours.Read(buf)
		require.Zero(t, n, "%s", buf)

		if c.enforced {
			out := c.exec(id, "test -t 0 && stty size && echo mine > /dev/tty; (exec script -qc true /dev/null) > /dev/null 2>&1; touch made", true)
			require.Equal(t, "completed", out.Status, out.AggregatedOutput)
			require.Contains(t, out.AggregatedOutput, "24 80\r\nmine")
		}
		c.Close()
	})
}

// TestSandboxGuardsTheServerFromTerminals requires that a command cannot signal the processes above
// it.
func TestSandboxGuardsTheServerFromTerminals(t *testing.T) {
	cells(t, func(t *testing.T, c cell) {
		id := c.thread("workspace-write")
		server := fmt.Sprint(c.Cmd.Process.Pid)
		c.execs(id, "touch x; kill -KILL "+server, "failed")
		c.execs(id, "touch x; head -c1 /proc/"+server+"/environ", "failed")
		c.execs(id, "touch x; kill -KILL $PPID; kill -STOP 1; kill -HUP 0; echo goes on", "failed")
		c.execs(id, "touch x; trap '' HUP; kill -KILL $PPID; kill -STOP 1; kill -HUP 0; kill -HUP -1; echo goes on",
			"completed")
		c.execs(id, "cat "+c.home+"/secret; touch "+c.home+"/x", "failed")
		c.Close()
	})
}

// TestSandboxLeavesNothingOfTerminals: what a command on a terminal starts ends with it, however
// it hides, and with the server.
func TestSandboxLeavesNothingOfTerminals(t *testing.T) {
	sample.Long(t)
	cells(t, func(t *testing.T, c cell) {
		id := c.thread("workspace-write")
		b := apptest.NewProcessTree()
		t.Cleanup(func() { b.Kill(t) })
		c.execs(id, "export TREE_TOKEN="+b.Token+
			"; trap '' TERM HUP INT; nohup sleep 600 >/dev/null 2>&1 & (setsid sleep 600 >/dev/null 2>&1 &); touch left",
			"completed")
		require.Empty(t, b.Alive(t))
		if !c.enforced {
			c.Close()
			return
		}
		stays := apptest.ExecCall(b.Script(), apptest.Object{"tty": true, "yield_time_ms": 250})
		c.RunScript(id, stays)
		require.NotEmpty(t, b.Alive(t))
		c.RunScript(id, apptest.StdinCall("\x03\x04\x1a\x1c"), apptest.StdinCall("exit\n"))
		require.Len(t, c.Terminals(id), 1, "it ignores all that")
		c.Call("thread/backgroundTerminals/clean", apptest.Object{"threadId": id})
		apptest.UntilItem[apptest.PatchItem](c.Client, "commandExecution")
		require.Empty(t, b.Alive(t))
		c.RunScript(id, stays)
		require.NotEmpty(t, b.Alive(t))
		c.Kill()
		require.Eventually(t, func() bool { return len(b.Alive(t)) == 0 }, apptest.Timeout, 10*time.Millisecond)
	})
}

// TestSandboxOfSessionsStays requires that a running session keeps its sandbox, and confines its
// input, after a turn with a wider policy.
func TestSandboxOfSessionsStays(t *testing.T) {
	sample.Long(t)
	cells(t, func(t *testing.T, c cell) {
		if !c.enforced {
			c.Close()
			return
		}
		id := c.thread("workspace-write")
		c.RunScript(id, apptest.ExecCall("bash --norc --noprofile", apptest.Object{"tty": true, "yield_time_ms": 250}))
		made := filepath.Join(c.outside, "made")
		c.Call("turn/start",
			apptest.Object{"threadId": id,
				"input": apptest.TextInput(apptest.ScriptText(apptest.StdinCall("echo x > "+made+"; echo tried | tr a-z A-Z\n"),
					apptest.StdinCall(""))),
				"sandboxPolicy": apptest.Object{"type": "dangerFullAccess"}})
		c.AwaitTurn()
		require.Contains(t, strings.Join(c.model.Outputs(), "\n"), "TRIED")
		require.NoFileExists(t, made)
		require.Equal(t, "completed", c.exec(id, "echo x > "+made, false).Status, "what begins now is free")
		require.FileExists(t, made)
		require.NoError(t, os.Remove(made))
		c.Close()
	})
}
