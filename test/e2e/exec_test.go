package e2e

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core"
	"appserver/test/apptest"
	"appserver/test/posix"
	"appserver/test/sample"
)

// unconfinedExec returns the params of a command without a sandbox.
func unconfinedExec(script string, more apptest.Object) apptest.Object {
	params := apptest.Object{"command": []string{"bash", "-c", script},
		"sandboxPolicy": apptest.Object{"type": "dangerFullAccess"}}
	for name, value := range more {
		params[name] = value
	}
	return params
}

// screen is the output of a command without a thread, as far as it was read.
type screen struct {
	c    *apptest.Client
	id   string
	read int // bytes that were matched
}

// until reads until the output contains a text.
func (s *screen) until(text string) {
	s.c.T.Helper()
	for {
		if at := strings.Index(s.text()[s.read:], text); at >= 0 {
			s.read += at + len(text)
			return
		}
		s.c.Until(func(m apptest.Message) bool { return m.Method == "command/exec/outputDelta" })
	}
}

func (s *screen) text() string {
	var output strings.Builder
	for _, m := range s.c.Seen {
		if m.Method == "command/exec/outputDelta" && gjson.GetBytes(m.Params, "processId").Str == s.id {
			piece, err := base64.StdEncoding.DecodeString(gjson.GetBytes(m.Params, "deltaBase64").Str)
			require.NoError(s.c.T, err)
			output.Write(piece)
		}
	}
	return output.String()
}

func TestCommandExecRunsCommands(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	dir := t.TempDir()
	got := c.Call("command/exec",
		unconfinedExec(`pwd; echo "$A" >&2; exit 3`, apptest.Object{"cwd": dir, "env": apptest.Object{"A": "b c"}}))
	require.JSONEq(t, `{"exitCode":3,"stdout":"`+dir+`\n","stderr":"b c\n"}`, string(got))
	got = c.Call("command/exec", unconfinedExec("echo in; sleep 600", apptest.Object{"timeoutMs": 5000}))
	require.JSONEq(t, `{"exitCode":124,"stdout":"in\n","stderr":""}`, string(got))
	require.JSONEq(t, `{"exitCode":0,"stdout":"","stderr":""}`, string(c.Call("command/exec", unconfinedExec("cat", nil))),
		"the command's input is empty")
	fails := c.CallRejected("command/exec",
		apptest.Object{"command": []string{"no-such-program"}, "sandboxPolicy": apptest.Object{"type": "dangerFullAccess"}})
	require.Equal(t, "command", fails.Data.Kind)
	require.Contains(t, fails.Message, "failed to spawn command")
	c.Close()
}

// TestCommandExecOnTerminalIsInteractive types into a shell on a terminal.
func TestCommandExecOnTerminalIsInteractive(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	id := c.SendRequest("command/exec", apptest.Object{
		"command": []string{"bash", "--norc", "--noprofile", "-i"}, "processId": "sh", "tty": true,
		"size":           apptest.Object{"rows": 12, "cols": 34},
		"disableTimeout": true, "sandboxPolicy": apptest.Object{"type": "dangerFullAccess"},
		"env": apptest.Object{"PS1": "ready> "},
	})
	sh := &screen{c: c, id: "sh"}
	sh.until("ready> ")
	write := func(text string) {
		c.Call("command/exec/write",
			apptest.Object{"processId": "sh", "deltaBase64": base64.StdEncoding.EncodeToString([]byte(text))})
	}
	write("stty size; tty | cut -c1-5\n")
	sh.until("12 34\r\n/dev/")
	c.Call("command/exec/resize", apptest.Object{"processId": "sh", "size": apptest.Object{"rows": 20, "cols": 99}})
	write("stty size\n")
	sh.until("20 99\r\n")
	write("echo $((1+1)) winks; cat\n")
	sh.until("2 winks\r\n")
	write("typed\n")
	sh.until("typed\r\ntyped\r\n") // the program reads from now on, so the shell does not get the next input
	write("\x03")
	sh.until("ready> ")
	write("echo back $((40+2))\n")
	sh.until("back 42")
	sh.until("ready> ") // the shell reads the end of input as a line
	c.Call("command/exec/write", apptest.Object{"processId": "sh", "closeStdin": true})
	require.EqualValues(t, 0, gjson.GetBytes(c.UntilResponse(id).Result, "exitCode").Int())
	require.Equal(t, "commandNotFound",
		c.CallRejected("command/exec/write", apptest.Object{"processId": "sh", "closeStdin": true}).Data.Kind)
	c.Close()
}

// TestCommandExecIsSandboxed applies the configured policy, and rejects commands if the kernel
// cannot enforce it.
func TestCommandExecIsSandboxed(t *testing.T) {
	t.Parallel()
	home, dir := t.TempDir(), t.TempDir()
	c := apptest.StartOffline(t, home)
	touch := apptest.Object{"command": []string{"touch", "made"}, "cwd": dir}
	enforced := gjson.GetBytes(c.Call("server/diagnostics", apptest.Object{}), "sandbox.enforced").Bool()
	if !enforced {
		require.Equal(t, "notConfined", c.CallRejected("command/exec", touch).Data.Kind)
		require.NoFileExists(t, filepath.Join(dir, "made"))
		c.Close()
		return
	}
	require.NotZero(t, gjson.GetBytes(c.Call("command/exec", touch), "exitCode").Int(), "read-only is the default")
	require.NoFileExists(t, filepath.Join(dir, "made"))
	touch["sandboxPolicy"] = apptest.Object{"type": "workspaceWrite"}
	require.Zero(t, gjson.GetBytes(c.Call("command/exec", touch), "exitCode").Int())
	require.FileExists(t, filepath.Join(dir, "made"))
	escape := apptest.Object{"command": []string{"touch", filepath.Join(home, "made")}, "cwd": dir,
		"sandboxPolicy": apptest.Object{"type": "workspaceWrite"}}
	require.NotZero(t, gjson.GetBytes(c.Call("command/exec", escape), "exitCode").Int())
	require.NoFileExists(t, filepath.Join(home, "made"))
	c.Close()
}

// pidOf waits until a script has written its process id.
func pidOf(t *testing.T, file string) int {
	t.Helper()
	var pid int
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err = strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil
	}, apptest.Timeout, 10*time.Millisecond)
	return pid
}

// TestCommandExecEndsWithClient disconnects in several ways. No process of the client's commands is
// left.
func TestCommandExecEndsWithClient(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*apptest.Client){
		"end of input": func(c *apptest.Client) { c.Close() },
		"signal":       func(c *apptest.Client) { c.Signal(syscall.SIGTERM); c.AwaitExit() },
		"kill":         func(c *apptest.Client) { c.Kill() },
		"terminate": func(c *apptest.Client) {
			c.Call("command/exec/terminate", apptest.Object{"processId": "p"})
			c.Until(func(m apptest.Message) bool { return gjson.GetBytes(m.Result, "exitCode").Exists() })
			c.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			c := apptest.StartOffline(t, t.TempDir())
			c.SendRequest("command/exec",
				unconfinedExec("setsid sleep 600 & echo $! >"+file+"; trap '' TERM; sleep 600",
					apptest.Object{"processId": "p", "disableTimeout": true}))
			pid := pidOf(t, file)
			end(c)
			require.Eventually(t, func() bool { return posix.Kill(pid, 0) != nil }, apptest.Timeout, 10*time.Millisecond)
		})
	}
}

// TestCommandExecOutputIsNotLost runs a command that writes more than the client reads. The command
// blocks, the server buffers little, and all output arrives in order before the response.
func TestCommandExecOutputIsNotLost(t *testing.T) {
	t.Parallel()
	c := apptest.StartOffline(t, t.TempDir())
	resume := c.StopReading()
	id := c.SendRequest("command/exec",
		unconfinedExec("seq 1 3000000",
			apptest.Object{"processId": "p", "streamStdoutStderr": true, "disableOutputCap": true, "disableTimeout": true}))
	resume()
	var out strings.Builder
	answer := c.Until(func(m apptest.Message) bool {
		if m.Method == "command/exec/outputDelta" {
			piece, err := base64.StdEncoding.DecodeString(gjson.GetBytes(m.Params, "deltaBase64").Str)
			require.NoError(t, err)
			out.Write(piece)
		}
		return string(m.ID) == id && m.Method == ""
	})
	require.JSONEq(t, `{"exitCode":0,"stdout":"","stderr":""}`, string(answer.Result))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	require.Len(t, lines, 3_000_000)
	for i, line := range lines {
		if line != strconv.Itoa(i+1) {
			require.Fail(t, "out of order", "line %d is %q", i+1, line)
		}
	}
	c.Close()
}

// TestCommandOutputDeltasAreBounded runs commands with endless output. Clients get a bounded part
// and a notice, and the item has the head and the tail.
func TestCommandOutputDeltasAreBounded(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, _ := apptest.StartScripted(t)
	id := c.StartThread(apptest.Object{"cwd": t.TempDir(), "sandbox": "danger-full-access", "approvalPolicy": "never"})
	const flood = "echo first; yes 0123456789012345678901234567890123456789 | head -c 50000000; echo last"
	for name, begin := range map[string]func(){
		"shell": func() { c.BeginTurn(id, apptest.ScriptText(apptest.ShellCall(flood))) },
		"exec_command": func() {
			c.BeginTurn(id,
				apptest.ScriptText(apptest.ExecCall(flood, apptest.Object{"yield_time_ms": 30000})))
		},
		"thread/shellCommand": func() { c.Call("thread/shellCommand", apptest.Object{"threadId": id, "command": flood}) },
	} {
		seen := len(c.Seen)
		begin()
		item := c.UntilCommand()
		c.AwaitTurn()
		bytes, pieces, last := 0, 0, ""
		for _, m := range c.Seen[seen:] {
			if m.Method == "item/commandExecution/outputDelta" {
				last = gjson.GetBytes(m.Params, "delta").Str
				pieces, bytes = pieces+1, bytes+len(last)
			}
		}
		require.Equal(t, "completed", item.Status, name)
		require.LessOrEqual(t, pieces, core.MaxOutputPieces+1, name)
		require.LessOrEqual(t, bytes, core.MaxOutputBytes+len(core.MoreOutput), name)
		require.Greater(t, bytes, core.MaxOutputBytes/2, name)
		require.True(t, strings.HasSuffix(last, core.MoreOutput), name)
		require.True(t, strings.HasPrefix(item.AggregatedOutput, "first\n"), name)
		require.True(t, strings.HasSuffix(item.AggregatedOutput, "last\n"), name)
		require.Less(t, len(item.AggregatedOutput), 50_000, name)
	}
	c.Close()
}
