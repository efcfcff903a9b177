package main

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
)

// limit changes what the server may have from now on, and gives what it had.
func (c *client) limit(resource int, most uint64) (before uint64) {
	c.t.Helper()
	var old unix.Rlimit
	require.NoError(c.t, unix.Prlimit(c.cmd.Process.Pid, resource, nil, &old))
	before = old.Cur
	old.Cur = most
	require.NoError(c.t, unix.Prlimit(c.cmd.Process.Pid, resource, &old, nil))
	return before
}

// shortage is a lack of something: begin takes it, and end gives it back.
type shortage struct {
	begin func(c *client) (end func())
	// says is in each refusal, helps in those of the server's own files; refuses are the requests
	// of writings that get one.
	says, helps string
	refuses     []string
}

// TestBinaryHealsAfterAShortage takes a running server the room in files, or the descriptors.
// Each request that writes is refused, in words that tell why, and changes nothing, there or on
// the disk; once the shortage is over the same request is served, and another server finds what
// this one has.
func TestBinaryHealsAfterAShortage(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]shortage{
		"room": {func(c *client) func() {
			before := c.limit(unix.RLIMIT_FSIZE, 0)
			return func() { c.limit(unix.RLIMIT_FSIZE, before) }
		}, "file too large", "raise the limit of file sizes (ulimit -f)", []string{"thread/name/set", "turn/start", "context/setInclusion", "thread/context/trim", "thread/fork", "thread/start", "config/value/write", "fs/writeFile"}},
		"descriptors": {func(c *client) func() {
			before := c.limit(unix.RLIMIT_NOFILE, 0) // those that are open stay
			return func() { c.limit(unix.RLIMIT_NOFILE, before) }
		}, "too many open files", "raise the limit of open files (ulimit -n)", []string{"thread/start", "thread/fork", "config/value/write", "fs/writeFile"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			c := startOffline(t, home)
			id := c.startTrusted()
			require.Equal(t, "completed", c.turn(id, "hello").Status)
			require.Equal(t, "completed", c.turn(id, "run: echo hello").Status)
			requests := writings(c, id)
			for _, method := range s.refuses {
				before := c.knows(id)
				end := s.begin(c)
				refusal := c.refused(method, requests[method])
				end()
				require.Contains(t, strings.ToLower(refusal.Message), s.says, "%s: %v", method, refusal)
				if method != "fs/writeFile" {
					require.Contains(t, refusal.Message, s.helps, method)
					require.Equal(t, "storage", refusal.Data.Kind, method)
				}
				c.call("thread/resume", object{"threadId": id}) // it may have been let go
				require.Equal(t, before, c.knows(id), "%s was refused", method)
				require.Equal(t, before, knownAnew(t, home, id), "%s was refused: another server", method)
				c.call(method, requests[method])
				if method == "turn/start" {
					require.Equal(t, "completed", c.awaitTurn().Status)
				}
				require.Equal(t, c.knows(id), knownAnew(t, home, id), "%s was served: another server", method)
			}
			c.close()
			require.Empty(t, startOffline(t, home).warnings())
		})
	}
}

// writings are requests that each write something, by their methods.
func writings(c *client, id string) map[string]object {
	item := c.contextList(id).Items[1].ID
	return map[string]object{
		"thread/name/set":      {"threadId": id, "name": "a name"},
		"turn/start":           {"threadId": id, "input": textInput("more")},
		"context/setInclusion": {"threadId": id, "ids": []string{item}, "included": false},
		"thread/context/trim":  {"threadId": id, "keepLastNTurns": 1},
		"thread/fork":          {"threadId": id},
		"thread/start":         {"cwd": "/"},
		"config/value/write":   {"keyPath": "tui.x", "value": 1, "mergeStrategy": "replace"},
		"fs/writeFile":         {"path": filepath.Join(c.t.TempDir(), "file"), "dataBase64": base64.StdEncoding.EncodeToString([]byte("text"))},
	}
}

// knows is what the server knows of a thread, the list of all, and the configuration.
func (c *client) knows(id string) []string {
	c.t.Helper()
	v := c.readThread(id)
	known := append([]string{v.Name, gjson.GetBytes(c.call("config/read", object{}), "config.tui").Raw}, itemsOf(v)...)
	for _, thread := range gjson.GetBytes(c.call("thread/list", object{}), "data.#.id").Array() {
		known = append(known, thread.Str)
	}
	return known
}

// knownAnew is what a new server of the home knows.
func knownAnew(t *testing.T, home, id string) []string {
	t.Helper()
	c := startOffline(t, home)
	known := c.knows(id)
	c.close()
	return known
}

// TestBinaryNeedsFewDescriptorsOnASocket has 32 of them for clients, watches, an index and turns.
func TestBinaryNeedsFewDescriptorsOnASocket(t *testing.T) {
	t.Parallel()
	h := launchHost(t, throughShell(offlineCommand(t, t.TempDir(), "--listen", short(t, "unix://")), `ulimit -n 32; exec "$@"`), "")
	a, b := h.welcome(), h.welcome()
	dir := t.TempDir()
	a.call("fs/watch", object{"watchId": "w", "path": dir})
	id := a.startTrusted()
	b.call("thread/resume", object{"threadId": id})
	for i := range 3 {
		a.beginTurn(id, fmt.Sprintf("run: echo %d > %s", i, filepath.Join(dir, "f")))
		require.Equal(t, "completed", a.awaitTurn().Status)
		require.Equal(t, "completed", b.awaitTurn().Status)
	}
	if !slices.Contains(a.methods(), "fs/changed") {
		a.untilMethod("fs/changed")
	}
	a.call("thread/list", object{})
	b.call("thread/search", object{"searchTerm": "echo"})
	h.end()
}

// TestBinaryTellsThatNoMoreCanBeWatched: the system's words for it are those for a full disk, and
// for too many files.
func TestBinaryTellsThatNoMoreCanBeWatched(t *testing.T) {
	t.Parallel()
	for setting, says := range map[string]string{
		"watches":   "No space left on device (os error 28): the system watches no more for this user: end other watches, or raise fs.inotify.max_user_watches",
		"instances": "Too many open files (os error 24): the system watches no more for this user: end other watchers, or raise fs.inotify.max_user_instances or the limit of open files (ulimit -n)",
	} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			script := fmt.Sprintf(`unshare --user --map-root-user sh -c 'echo 0 > /proc/sys/user/max_inotify_%s; exec "$@"' sh "$@"`, setting)
			c := dial(t, throughShell(offlineCommand(t, t.TempDir()), script))
			c.initialize()
			dir := t.TempDir()
			require.Equal(t, dir+": "+says, c.refused("fs/watch", object{"watchId": "w", "path": dir}).Message)
			c.call("fs/readDirectory", object{"path": dir})
			c.close()
		})
	}
}

// count is how many notifications of a method the client has read.
func (c *client) count(method string) (n int) {
	for _, m := range c.methods() {
		if m == method {
			n++
		}
	}
	return n
}

// TestBinaryFreesDescriptorsOfIdleThreads has ten turns at once under a limit of 32 open files.
// New threads start afterwards, and the older ones still take turns and edits. A kill loses none of it.
func TestBinaryFreesDescriptorsOfIdleThreads(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	c := dial(t, throughShell(offlineCommand(t, home), `ulimit -n 32; exec "$@"`))
	c.initialize()
	var old, ids []string
	for range 10 {
		old = append(old, c.startTrusted())
	}
	for _, id := range old {
		c.beginTurn(id, "one of ten")
	}
	for c.count("turn/completed") < len(old) {
		require.Equal(t, "completed", c.awaitTurn().Status)
	}
	for i := range 6 {
		id := c.startTrusted()
		ids = append(ids, id)
		require.Equal(t, "completed", c.turn(id, fmt.Sprintf("run: echo new %d", i)).Status)
	}
	for _, id := range old {
		require.Equal(t, "completed", c.turn(id, "again").Status)
		item := c.contextList(id).Items[1].ID
		c.call("context/setInclusion", object{"threadId": id, "ids": []string{item}, "included": false})
	}
	require.NotContains(t, c.methods(), "thread/closed")
	before := map[string]any{}
	for _, id := range append(ids, old...) {
		before[id] = []any{itemsOf(c.readThread(id)), c.contextList(id).Items}
	}
	c.kill()
	after := startOffline(t, home)
	for id, known := range before {
		after.call("thread/resume", object{"threadId": id})
		require.Equal(t, known, []any{itemsOf(after.readThread(id)), after.contextList(id).Items})
	}
	require.Empty(t, after.warnings())
}
