package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// children returns the command lines of all descendants of a process.
func children(t *testing.T, pid int) (found []string) {
	t.Helper()
	for _, child := range apptest.WithDescendants(t, pid)[1:] {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // it may have exited
		found = append(found, fmt.Sprint(child, " ", strings.ReplaceAll(string(line), "\x00", " ")))
	}
	return found
}

// inotifyWatches returns the number of folders that a process watches.
func inotifyWatches(t *testing.T, pid int) (n int) {
	t.Helper()
	infos, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	require.NoError(t, err)
	for _, info := range infos {
		text, _ := os.ReadFile(info) // the file may be closed
		n += strings.Count(string(text), "inotify wd:")
	}
	return n
}

// TestDisconnectReleasesClientResources connects clients that start commands, watches, searches and
// copies with equal names, and disconnects them at several moments. Nothing of them is left, and
// the remaining client misses none of its messages.
func TestDisconnectReleasesClientResources(t *testing.T) {
	t.Parallel()
	h := apptest.StartDaemon(t, apptest.ShortDir(t), "unix://")
	pid := h.Cmd.Process.Pid
	dir := t.TempDir()
	for i := range 50 {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, fmt.Sprint("sub", i)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprint("sub", i), "file"), []byte("text"), 0o600))
	}
	stays := h.ConnectInitialized()
	stays.Call("fs/watch", apptest.Object{"watchId": "w", "path": dir})
	own := stays.SendRequest("command/exec",
		unconfinedExec("cat", apptest.Object{"processId": "p", "tty": true, "disableTimeout": true}))
	stays.Call("command/exec/write", apptest.Object{"processId": "p", "deltaBase64": in64("begun\n")})
	(&screen{c: stays.Client, id: "p"}).until("begun\r\nbegun") // echo of the terminal, and output of the command
	count := func() (files, watches int) {
		open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		require.NoError(t, err)
		return len(open), inotifyWatches(t, pid)
	}
	files, watches := count()
	commands := len(children(t, pid))
	require.NotZero(t, watches)
	require.NotZero(t, commands)

	for i := range 12 {
		g := h.ConnectInitialized()
		if i%4 == 1 {
			g.StopReading()
		}
		g.SendRequest("command/exec",
			unconfinedExec("trap '' TERM HUP; setsid sleep 600 & seq 1 300000; sleep 600",
				apptest.Object{"processId": "p", "tty": i%3 == 0, "streamStdoutStderr": true, "disableOutputCap": true,
					"disableTimeout": true}))
		g.SendRequest("command/exec",
			unconfinedExec("cat; sleep 600", apptest.Object{"processId": "q", "streamStdin": true, "disableTimeout": true}))
		g.SendRequest("command/exec/write", apptest.Object{"processId": "q", "deltaBase64": in64(strings.Repeat("x", 1<<20))})
		g.SendRequest("fs/copy", apptest.Object{"sourcePath": dir, "destinationPath": filepath.Join(t.TempDir(), "copy"),
			"recursive": true})
		for w := range 50 {
			g.SendRequest("fs/watch", apptest.Object{"watchId": fmt.Sprint("w", w),
				"path": filepath.Join(dir, fmt.Sprint("sub", w))})
		}
		last := g.SendRequest("fs/watch", apptest.Object{"watchId": "w", "path": dir})
		g.SendRequest("fuzzyFileSearch/sessionStart", apptest.Object{"sessionId": "s", "roots": []string{dir}})
		g.SendRequest("fuzzyFileSearch/sessionUpdate", apptest.Object{"sessionId": "s", "query": "file"})
		switch i % 4 {
		case 2:
			g.UntilResponse(last)
		case 3:
			require.NoError(t, g.In.Close())
			continue
		}
		_ = g.Conn.CloseNow()
	}
	state := ""
	defer func() {
		if t.Failed() {
			t.Log(state)
		}
	}()
	require.Eventually(t, func() bool {
		nowFiles, nowWatches := count()
		left := children(t, pid)
		state = fmt.Sprintf("%d files of %d, %d watches of %d, %q", nowFiles, files, nowWatches, watches, left)
		return nowFiles <= files && nowWatches == watches && len(left) == commands
	}, apptest.Timeout, 20*time.Millisecond)

	path := filepath.Join(dir, "new")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	stays.Until(func(m apptest.Message) bool {
		return m.Method == "fs/changed" && strings.Contains(string(m.Params), path)
	})
	stays.Call("command/exec/write",
		apptest.Object{"processId": "p", "deltaBase64": in64("still there\n"), "closeStdin": false})
	(&screen{c: stays.Client, id: "p"}).until("still there")
	stays.Call("command/exec/terminate", apptest.Object{"processId": "p"})
	require.True(t, gjson.GetBytes(stays.UntilResponse(own).Result, "exitCode").Exists())
	var d struct{ Connections []struct{} }
	require.NoError(t, json.Unmarshal(stays.Call("server/diagnostics", apptest.Object{}), &d))
	require.Len(t, d.Connections, 1)
	h.Terminate()
}
