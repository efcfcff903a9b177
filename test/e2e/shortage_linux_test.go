package e2e

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// setLimit changes a resource limit of the server and returns the former one.
func setLimit(c *apptest.Client, resource int, most uint64) (before uint64) {
	c.T.Helper()
	var old unix.Rlimit
	require.NoError(c.T, unix.Prlimit(c.Cmd.Process.Pid, resource, nil, &old))
	before = old.Cur
	old.Cur = most
	require.NoError(c.T, unix.Prlimit(c.Cmd.Process.Pid, resource, &old, nil))
	return before
}

// shortage is a missing resource. begin removes it, and end restores it.
type shortage struct {
	begin func(c *apptest.Client) (end func())
	// message is a part of each error, and advice of those for the server's own files. rejected are
	// the writing requests that get an error.
	message, advice string
	rejected        []string
}

// TestShortageRejectsWritesUntilItEnds takes space or descriptors from a running server. Each
// writing request is rejected with the reason and changes nothing, in memory and on disk.
// Afterwards the same requests succeed, and another server reads the same state.
func TestShortageRejectsWritesUntilItEnds(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	for name, s := range map[string]shortage{
		"room": {func(c *apptest.Client) func() {
			before := setLimit(c, unix.RLIMIT_FSIZE, 0)
			return func() { setLimit(c, unix.RLIMIT_FSIZE, before) }
		}, "file too large", "raise the limit of file sizes (ulimit -f)",
			[]string{"thread/name/set", "turn/start", "context/setInclusion", "thread/context/trim", "thread/fork",
				"thread/start", "config/value/write", "fs/writeFile"}},
		"descriptors": {func(c *apptest.Client) func() {
			before := setLimit(c, unix.RLIMIT_NOFILE, 0) // open descriptors stay usable
			return func() { setLimit(c, unix.RLIMIT_NOFILE, before) }
		}, "too many open files", "raise the limit of open files (ulimit -n)",
			[]string{"thread/start", "thread/fork", "config/value/write", "fs/writeFile"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			c := apptest.StartOffline(t, home)
			id := c.StartTrusted()
			require.Equal(t, "completed", c.Turn(id, "hello").Status)
			require.Equal(t, "completed", c.Turn(id, "run: echo hello").Status)
			requests := writings(c, id)
			for _, method := range s.rejected {
				before := stateOf(c, id)
				end := s.begin(c)
				refusal := c.CallRejected(method, requests[method])
				end()
				require.Contains(t, strings.ToLower(refusal.Message), s.message, "%s: %v", method, refusal)
				if method != "fs/writeFile" {
					require.Contains(t, refusal.Message, s.advice, method)
					require.Equal(t, "storage", refusal.Data.Kind, method)
				}
				c.Call("thread/resume", apptest.Object{"threadId": id}) // it may have been unloaded
				require.Equal(t, before, stateOf(c, id), "%s was rejected", method)
				require.Equal(t, before, stateAfterRestart(t, home, id), "%s was rejected: another server", method)
				c.Call(method, requests[method])
				if method == "turn/start" {
					require.Equal(t, "completed", c.AwaitTurn().Status)
				}
				require.Equal(t, stateOf(c, id), stateAfterRestart(t, home, id), "%s was accepted: another server", method)
			}
			c.Close()
			require.Empty(t, apptest.StartOffline(t, home).Warnings())
		})
	}
}

// writings returns the writing requests, by method.
func writings(c *apptest.Client, id string) map[string]apptest.Object {
	item := c.ContextList(id).Items[1].ID
	return map[string]apptest.Object{
		"thread/name/set":      {"threadId": id, "name": "a name"},
		"turn/start":           {"threadId": id, "input": apptest.TextInput("more")},
		"context/setInclusion": {"threadId": id, "ids": []string{item}, "included": false},
		"thread/context/trim":  {"threadId": id, "keepLastNTurns": 1},
		"thread/fork":          {"threadId": id},
		"thread/start":         {"cwd": "/"},
		"config/value/write":   {"keyPath": "tui.x", "value": 1, "mergeStrategy": "replace"},
		"fs/writeFile": {"path": filepath.Join(c.T.TempDir(), "file"),
			"dataBase64": base64.StdEncoding.EncodeToString([]byte("text"))},
	}
}

// stateOf returns a thread, the list of threads and the configuration as the server has them.
func stateOf(c *apptest.Client, id string) []string {
	c.T.Helper()
	v := c.ReadThread(id)
	known := append([]string{v.Name, gjson.GetBytes(c.Call("config/read", apptest.Object{}), "config.tui").Raw},
		apptest.ItemsOf(v)...)
	for _, thread := range gjson.GetBytes(c.Call("thread/list", apptest.Object{}), "data.#.id").Array() {
		known = append(known, thread.Str)
	}
	return known
}

// stateAfterRestart returns the state in a new server of the home.
func stateAfterRestart(t *testing.T, home, id string) []string {
	t.Helper()
	c := apptest.StartOffline(t, home)
	known := stateOf(c, id)
	c.Close()
	return known
}

// TestListenServesWithFewDescriptors uses 32 descriptors for clients, watches, an index and turns.
func TestListenServesWithFewDescriptors(t *testing.T) {
	t.Parallel()
	h := apptest.LaunchDaemon(t,
		apptest.ThroughShell(apptest.OfflineCommand(t, t.TempDir(), "--listen", shortAddress(t, "unix://")),
			`ulimit -n 32; exec "$@"`), "")
	a, b := h.ConnectInitialized(), h.ConnectInitialized()
	dir := t.TempDir()
	a.Call("fs/watch", apptest.Object{"watchId": "w", "path": dir})
	id := a.StartTrusted()
	b.Call("thread/resume", apptest.Object{"threadId": id})
	for i := range 3 {
		a.BeginTurn(id, fmt.Sprintf("run: echo %d > %s", i, filepath.Join(dir, "f")))
		require.Equal(t, "completed", a.AwaitTurn().Status)
		require.Equal(t, "completed", b.AwaitTurn().Status)
	}
	if !slices.Contains(a.Methods(), "fs/changed") {
		a.UntilMethod("fs/changed")
	}
	a.Call("thread/list", apptest.Object{})
	b.Call("thread/search", apptest.Object{"searchTerm": "echo"})
	h.Terminate()
}

// TestWatchLimitIsExplained requires a message about watches. The system's error is the one of a
// full disk or of too many files.
func TestWatchLimitIsExplained(t *testing.T) {
	t.Parallel()
	for setting, message := range map[string]string{
		"watches":   "No space left on device (os error 28): the system watches no more for this user: end other watches, or raise fs.inotify.max_user_watches",
		"instances": "Too many open files (os error 24): the system watches no more for this user: end other watchers, or raise fs.inotify.max_user_instances or the limit of open files (ulimit -n)",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			script := fmt.Sprintf(`unshare --user --map-root-user sh -c 'echo 0 > /proc/sys/user/max_inotify_%s; exec "$@"' sh "$@"`, setting)
			c := apptest.StartProcess(t, apptest.ThroughShell(apptest.OfflineCommand(t, t.TempDir()), script))
			c.Initialize()
			dir := t.TempDir()
			require.Equal(t, dir+": "+message, c.CallRejected("fs/watch", apptest.Object{"watchId": "w", "path": dir}).Message)
			c.Call("fs/readDirectory", apptest.Object{"path": dir})
			c.Close()
		})
	}
}

// TestIdleThreadsFreeDescriptors runs ten turns at once with few descriptors. New threads
// start afterwards, older ones still take turns and edits, and a kill loses nothing.
func TestIdleThreadsFreeDescriptors(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := apptest.StartProcess(t, apptest.ThroughShell(apptest.OfflineCommand(t, home), fewDescriptors()))
	c.Initialize()
	var old, ids []string
	for range 10 {
		old = append(old, c.StartTrusted())
	}
	for _, id := range old {
		c.BeginTurn(id, "one of ten")
	}
	for c.Count("turn/completed") < len(old) {
		require.Equal(t, "completed", c.AwaitTurn().Status)
	}
	for i := range 6 {
		id := c.StartTrusted()
		ids = append(ids, id)
		require.Equal(t, "completed", c.Turn(id, fmt.Sprintf("run: echo new %d", i)).Status)
	}
	for _, id := range old {
		require.Equal(t, "completed", c.Turn(id, "again").Status)
		item := c.ContextList(id).Items[1].ID
		c.Call("context/setInclusion", apptest.Object{"threadId": id, "ids": []string{item}, "included": false})
	}
	require.NotContains(t, c.Methods(), "thread/closed")
	before := map[string]any{}
	for _, id := range append(ids, old...) {
		before[id] = []any{apptest.ItemsOf(c.ReadThread(id)), c.ContextList(id).Items}
	}
	c.Kill()
	after := apptest.StartOffline(t, home)
	for id, known := range before {
		after.Call("thread/resume", apptest.Object{"threadId": id})
		require.Equal(t, known, []any{apptest.ItemsOf(after.ReadThread(id)), after.ContextList(id).Items})
	}
	require.Empty(t, after.Warnings())
}
