//go:build linux

package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestBinaryTakesAnyArguments calls the tools for background commands with arbitrary arguments. Each
// call has an answer that explains the error, an invalid call runs nothing, and the thread takes
// another turn.
func TestBinaryTakesAnyArguments(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, o := apptest.StartScripted(t)
	p := apptest.NewRepository(t)
	id := p.StartTrusted(c)
	c.RunScript(id, apptest.ExecCall("cat", apptest.Object{"tty": true, "yield_time_ms": 250}))
	number := json.Number(c.Terminals(id)[0].ProcessID)
	for _, one := range []struct {
		act  apptest.ToolCall
		want string
	}{
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{}}, "command is missing"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": ""}}, "command is missing"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": 7}}, "failed to parse function arguments"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad", "tty": "yes"}},
			"failed to parse function arguments"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad", "yield_time_ms": "soon"}},
			"failed to parse function arguments"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad", "workdir": "nowhere"}},
			"does not exist"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad", "workdir": p.Dir + "/doc.txt"}},
			"not a directory"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad", "shell": "/no/such/shell"}},
			"cannot start"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad", "sandbox_permissions": "all"}},
			"expected use_default or require_escalated"},
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "touch bad\x00x"}}, "NUL"},
		{apptest.ToolCall{Tool: "exec_command",
			Arguments: apptest.Object{"cmd": "echo ok", "yield_time_ms": -5, "max_output_tokens": -1}},
			"Wall time"}, // it need not have ended by then
		{apptest.ToolCall{Tool: "exec_command", Arguments: apptest.Object{"cmd": "seq 100000", "max_output_tokens": 1}},
			"exited with code 0"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{}}, "session"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{"session_id": 1e300}}, "session"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{"session_id": -1}}, "session"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{"session_id": []int{1}}}, "session"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{"session_id": nil, "chars": "x"}}, "session"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{"session_id": number, "chars": 5}},
			"failed to parse function arguments"},
		{apptest.ToolCall{Tool: "write_stdin",
			Arguments: apptest.Object{"session_id": number, "chars": "typed\n", "yield_time_ms": -1}}, "typed\r\ntyped"},
		{apptest.ToolCall{Tool: "write_stdin", Arguments: apptest.Object{"session_id": string(number), "chars": "again\n"}},
			"again\r\nagain"},
		{apptest.ToolCall{Tool: "view_image", Arguments: apptest.Object{"path": 5}}, "failed to parse function arguments"},
	} {
		c.RunScript(id, []apptest.ToolCall{one.act})
		require.Contains(t, o.LastOutput(), one.want, "%v", one.act)
		require.Less(t, len(o.LastOutput()), 50_000)
	}
	require.NoFileExists(t, filepath.Join(p.Dir, "bad"))
	require.Len(t, c.Terminals(id), 1)
	c.Close()
}

// TestBinaryTypesMoreThanIsRead: a program that reads nothing holds up neither the turn nor the
// server, and can be ended.
func TestBinaryTypesMoreThanIsRead(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, o := apptest.StartScripted(t)
	id := c.StartTrusted()
	c.RunScript(id, apptest.ExecCall("stty raw -echo; echo ready; sleep 600",
		apptest.Object{"tty": true, "yield_time_ms": 1000}))
	begin := time.Now()
	for range 6 {
		c.RunScript(id, apptest.StdinCall(strings.Repeat("0123456789abcde\n", 1<<15)))
	}
	require.Less(t, time.Since(begin), 2*apptest.Timeout)
	require.Contains(t, o.LastOutput(), "session ID")
	c.Call("thread/backgroundTerminals/clean", apptest.Object{"threadId": id})
	c.UntilCommand()
	require.Empty(t, c.Terminals(id))
	c.Close()
}

// TestBinaryFloodsStayCut requires that the output of a background flood is truncated for the model,
// that the command ends on request, and that the thread stays readable.
func TestBinaryFloodsStayCut(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	c, o := apptest.StartScripted(t)
	id := c.StartTrusted()
	c.RunScript(id, apptest.ExecCall("yes 'a line that comes again and again'", apptest.Object{"yield_time_ms": 250}),
		apptest.OneCall("write_stdin", apptest.Object{"session_id": apptest.LastSession, "chars": ""}))
	require.Less(t, len(o.LastOutput()), 50_000)
	c.Call("thread/backgroundTerminals/clean", apptest.Object{"threadId": id})
	item := c.UntilCommand()
	require.Less(t, len(item.AggregatedOutput), 2<<20)
	require.Len(t, c.ReadThread(id).Turns, 1)
	c.Close()
}

// TestSandboxOfLinkedDirectories: a workspace that is named by a link can be written, and a link in
// it leads nowhere, nor does one that takes its place while a session runs.
func TestSandboxOfLinkedDirectories(t *testing.T) {
	sample.Long(t)
	cells(t, func(t *testing.T, c cell) {
		dir := t.TempDir()
		if c.plain {
			apptest.GiveHome(t, dir)
		}
		link := filepath.Join(dir, "link")
		require.NoError(t, os.Symlink(c.project, link))
		id := c.StartThread(apptest.Object{"cwd": link, "sandbox": "workspace-write", "approvalPolicy": "never"})
		c.execs(id, "echo x > made && cat "+c.project+"/made && mkdir -p d && ln -sfn "+c.outside+" out", "completed")
		c.execs(id, "echo x > out/made", "failed")
		c.execs(id, "cd .. && echo x > made", "failed")
		if c.enforced {
			c.RunScript(id, apptest.ExecCall("bash --norc --noprofile", apptest.Object{"tty": true, "yield_time_ms": 250}))
			require.NoError(t, os.Rename(filepath.Join(c.project, "d"), filepath.Join(c.project, "e")))
			require.NoError(t, os.Symlink(c.outside, filepath.Join(c.project, "d")))
			c.RunScript(id, apptest.StdinCall("echo x > d/made; echo tried | tr a-z A-Z\n"), apptest.StdinCall(""))
			require.Contains(t, strings.Join(c.model.Outputs(), "\n"), "TRIED")
			require.NoError(t, os.Remove(link))
			require.NoError(t, os.Symlink(c.outside, link))
			c.RunScript(id, apptest.StdinCall("cd "+link+"; echo x > made; echo tried | tr a-z A-Z\n"), apptest.StdinCall(""))
		}
		require.NoFileExists(t, filepath.Join(c.outside, "made"))
		c.Close()
	})
}
