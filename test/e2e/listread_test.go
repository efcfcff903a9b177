package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// listedAndRead are the members that a list and a read of a thread must agree on.
var listedAndRead = []string{
	"model", "reasoningEffort", "modelProvider", "cwd", "createdAt", "updatedAt", "recencyAt", "environments", "name",
	"gitInfo", "preview",
}

// requireSame compares the thread in the list with the result of a read, and returns the latter.
func requireSame(t *testing.T, c *apptest.Client, thread, step string) gjson.Result {
	t.Helper()
	read := gjson.GetBytes(c.Call("thread/read", apptest.Object{"threadId": thread}), "thread")
	list := gjson.GetBytes(c.Call("thread/list", apptest.Object{"modelProviders": []string{}, "cwd": read.Get("cwd").Str}),
		`data.#(id=="`+thread+`")`)
	for _, member := range listedAndRead {
		require.Equal(t, read.Get(member).Raw, list.Get(member).Raw, "%s: %s", step, member)
	}
	return read
}

// TestListAndReadAgree compares thread/list with thread/read after each change of a thread, in the
// process that has loaded it and in another, with and without the index.
func TestListAndReadAgree(t *testing.T) {
	for name, args := range map[string][]string{"index": nil, "files": {"-c", "index.enabled=false"}} {
		t.Run(name, func(t *testing.T) { listAndRead(t, args) })
	}
}

func listAndRead(t *testing.T, args []string) {
	args = append(args, "-c", "checkpoints.enabled=false") // their lines come after turn/completed
	home, first, second := t.TempDir(), t.TempDir(), t.TempDir()
	c, other := apptest.StartOffline(t, home, args...), apptest.StartOffline(t, home, args...)
	thread := c.StartThread(apptest.Object{"cwd": first, "model": "one"})
	turn := func(overrides apptest.Object) {
		overrides["threadId"], overrides["input"] = thread, []apptest.Object{{"type": "text", "text": "hello"}}
		c.Call("turn/start", overrides)
		c.AwaitTurn()
	}
	same := func(step, model, cwd string) gjson.Result {
		t.Helper()
		loaded, stored := requireSame(t, c, thread, step), requireSame(t, other, thread, step+", other process")
		for _, read := range []gjson.Result{loaded, stored} {
			require.Equal(t, model, read.Get("model").Str, step)
			require.Equal(t, cwd, read.Get("cwd").Str, step)
		}
		require.Equal(t, loaded.Get("updatedAt").Raw, stored.Get("updatedAt").Raw, step)
		return stored
	}
	turn(apptest.Object{})
	same("turn", "one", first)
	turn(apptest.Object{"model": "two", "cwd": second, "effort": "high"})
	same("turn with another model and folder", "two", second)
	c.Call("thread/name/set", apptest.Object{"threadId": thread, "name": "a name"})
	same("rename", "two", second)
	c.Call("thread/inject_items", apptest.Object{"threadId": thread, "items": []apptest.Object{
		{"type": "message", "role": "user", "content": []apptest.Object{{"type": "input_text", "text": "more"}}},
	}})
	path := same("injected items", "two", second).Get("path").Str
	turn(apptest.Object{"model": "three", "cwd": first})
	before := same("third turn", "three", first)
	c.Close()
	if !apptest.UsesDatabase() {
		require.NoError(t, os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0)))
	}
	c = apptest.StartOffline(t, home, args...)
	require.Equal(t, before.Get("updatedAt").Raw,
		same("unloaded, another time of the file", "three", first).Get("updatedAt").Raw)
	other.Call("thread/name/set", apptest.Object{"threadId": thread, "name": "another"})
	same("rename of an unloaded thread", "three", first)
	c.Call("thread/resume", apptest.Object{"threadId": thread, "model": "four", "cwd": second})
	requireSame(t, c, thread, "resumed")
	turn(apptest.Object{})
	same("turn after resume", "four", second)
	c.Close()
	other.Close()
}

// TestListAndReadAgreeOnForeignRollouts compares both for rollouts without a model, with settings
// far from their ends, and without times.
func TestListAndReadAgreeOnForeignRollouts(t *testing.T) {
	const id = "0190a6f8-1111-7aaa-8bbb-00000000000a"
	meta := `{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"` + id +
		`","timestamp":"2026-01-02T03:04:05Z","cwd":"/","source":"cli","model_provider":"offline"}}` + "\n"
	user := `{"timestamp":"2026-01-02T03:04:06Z","type":"event_msg","payload":{"type":"user_message","message":"hello"}}` +
		"\n"
	context := func(model string) string {
		return `{"timestamp":"2026-01-02T03:04:07Z","type":"turn_context","payload":{"cwd":"/tmp","model":"` + model +
			`","approval_policy":"unknown words"}}` + "\n"
	}
	long := `{"timestamp":"2026-01-02T03:04:08Z","type":"event_msg","payload":{"type":"other","text":"` +
		strings.Repeat("x", 512<<10) + `"}}` + "\n"
	for name, tt := range map[string]struct{ text, model string }{
		"no model":      {meta + user, ""},
		"one":           {meta + user + context("a"), "a"},
		"far from ends": {meta + user + context("a") + long + context("b") + long, "b"},
		"no times": {`{"timestamp":"","type":"session_meta","payload":{"id":"` + id + `","cwd":"/","source":"cli"}}` +
			"\n" + `{"timestamp":"","type":"event_msg","payload":{"type":"user_message","message":"hello"}}` + "\n", ""},
		"torn last line": {meta + user + context("a") + `{"timestamp":"2026-01-02T03:04:09Z","type":"turn_con`, "a"},
	} {
		for _, enabled := range []string{"true", "false"} {
			t.Run(name+", index "+enabled, func(t *testing.T) {
				home := t.TempDir()
				dir := filepath.Join(home, "sessions", "2026", "01", "02")
				require.NoError(t, os.MkdirAll(dir, 0o700))
				path := filepath.Join(dir, "rollout-2026-01-02T03-04-05-"+id+".jsonl")
				require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
				c := apptest.StartOffline(t, home, "-c", "index.enabled="+enabled, "-c", "model=\"configured\"")
				require.Equal(t, tt.model, requireSame(t, c, id, "stored").Get("model").Str)
				c.Call("thread/resume", apptest.Object{"threadId": id})
				model := requireSame(t, c, id, "loaded").Get("model").Str
				require.NotEmpty(t, model)
				c.Close()
			})
		}
	}
}
