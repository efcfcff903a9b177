package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBinaryTakesAnyArguments of a model for commands that stay: each call gets an answer that
// says what was wrong, nothing runs that was not understood, and the thread goes on.
func TestBinaryTakesAnyArguments(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	p := newRepository(t)
	id := p.trusting(c)
	c.done(id, runsExec("cat", object{"tty": true, "yield_time_ms": 250}))
	number := json.Number(c.terminals(id)[0].ProcessID)
	for _, one := range []struct {
		act  act
		want string
	}{
		{act{"exec_command", object{}}, "command is missing"},
		{act{"exec_command", object{"cmd": ""}}, "command is missing"},
		{act{"exec_command", object{"cmd": 7}}, "could not be read"},
		{act{"exec_command", object{"cmd": "touch bad", "tty": "yes"}}, "could not be read"},
		{act{"exec_command", object{"cmd": "touch bad", "yield_time_ms": "soon"}}, "could not be read"},
		{act{"exec_command", object{"cmd": "touch bad", "workdir": "nowhere"}}, "does not exist"},
		{act{"exec_command", object{"cmd": "touch bad", "workdir": p.dir + "/doc.txt"}}, "not a directory"},
		{act{"exec_command", object{"cmd": "touch bad", "shell": "/no/such/shell"}}, "cannot start"},
		{act{"exec_command", object{"cmd": "touch bad", "sandbox_permissions": "all"}}, "neither use_default nor require_escalated"},
		{act{"exec_command", object{"cmd": "touch bad\x00x"}}, "NUL"},
		{act{"exec_command", object{"cmd": "echo ok", "yield_time_ms": -5, "max_output_tokens": -1}}, "Wall time"}, // it need not have ended by then
		{act{"exec_command", object{"cmd": "seq 100000", "max_output_tokens": 1}}, "exited with code 0"},
		{act{"write_stdin", object{}}, "There is no session"},
		{act{"write_stdin", object{"session_id": 1e300}}, "There is no session"},
		{act{"write_stdin", object{"session_id": -1}}, "There is no session"},
		{act{"write_stdin", object{"session_id": []int{1}}}, "There is no session"},
		{act{"write_stdin", object{"session_id": nil, "chars": "x"}}, "There is no session"},
		{act{"write_stdin", object{"session_id": number, "chars": 5}}, "could not be read"},
		{act{"write_stdin", object{"session_id": number, "chars": "typed\n", "yield_time_ms": -1}}, "typed\r\ntyped"},
		{act{"write_stdin", object{"session_id": string(number), "chars": "again\n"}}, "again\r\nagain"},
		{act{"view_image", object{"path": 5}}, "could not be read"},
	} {
		c.done(id, []act{one.act})
		require.Contains(t, o.lastOutput(), one.want, "%v", one.act)
		require.Less(t, len(o.lastOutput()), 50_000)
	}
	require.NoFileExists(t, filepath.Join(p.dir, "bad"))
	require.Len(t, c.terminals(id), 1)
	c.close()
}

// TestBinaryTypesMoreThanIsRead: a program that reads nothing holds up neither the turn nor the
// server, and can be ended.
func TestBinaryTypesMoreThanIsRead(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	id := c.startTrusted()
	c.done(id, runsExec("stty raw -echo; echo ready; sleep 600", object{"tty": true, "yield_time_ms": 1000}))
	begin := time.Now()
	for range 6 {
		c.done(id, types(strings.Repeat("0123456789abcde\n", 1<<15)))
	}
	require.Less(t, time.Since(begin), 2*patience)
	require.Contains(t, o.lastOutput(), "session ID")
	c.call("thread/backgroundTerminals/clean", object{"threadId": id})
	c.untilCommand()
	require.Empty(t, c.terminals(id))
	c.close()
}

// TestBinaryFloodsStayCut: what floods in the background is cut for the model, ends when it is
// told to, and leaves a thread that can be read.
func TestBinaryFloodsStayCut(t *testing.T) {
	t.Parallel()
	c, o := startObedient(t)
	id := c.startTrusted()
	c.done(id, runsExec("yes 'a line that comes again and again'", object{"yield_time_ms": 250}), call("write_stdin", object{"session_id": lastSession, "chars": ""}))
	require.Less(t, len(o.lastOutput()), 50_000)
	c.call("thread/backgroundTerminals/clean", object{"threadId": id})
	item := c.untilCommand()
	require.Less(t, len(item.AggregatedOutput), 2<<20)
	require.Len(t, c.readThread(id).Turns, 1)
	c.close()
}

// TestSandboxOfLinkedDirectories: a workspace that is named by a link can be written, and a link in
// it leads nowhere, nor does one that takes its place while a session runs.
func TestSandboxOfLinkedDirectories(t *testing.T) {
	cells(t, func(t *testing.T, c cell) {
		dir := t.TempDir()
		if c.plain {
			give(t, dir)
		}
		link := filepath.Join(dir, "link")
		require.NoError(t, os.Symlink(c.project, link))
		id := c.startThread(object{"cwd": link, "sandbox": "workspace-write", "approvalPolicy": "never"})
		c.execs(id, "echo x > made && cat "+c.project+"/made && mkdir -p d && ln -sfn "+c.outside+" out", "completed")
		c.execs(id, "echo x > out/made", "failed")
		c.execs(id, "cd .. && echo x > made", "failed")
		if c.enforced {
			c.done(id, runsExec("bash --norc --noprofile", object{"tty": true, "yield_time_ms": 250}))
			require.NoError(t, os.Rename(filepath.Join(c.project, "d"), filepath.Join(c.project, "e")))
			require.NoError(t, os.Symlink(c.outside, filepath.Join(c.project, "d")))
			c.done(id, types("echo x > d/made; echo tried | tr a-z A-Z\n"), types(""))
			require.Contains(t, strings.Join(c.model.outputs(), "\n"), "TRIED")
			require.NoError(t, os.Remove(link))
			require.NoError(t, os.Symlink(c.outside, link))
			c.done(id, types("cd "+link+"; echo x > made; echo tried | tr a-z A-Z\n"), types(""))
		}
		require.NoFileExists(t, filepath.Join(c.outside, "made"))
		c.close()
	})
}
