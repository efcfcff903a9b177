package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// writeThreads writes rollouts with one message of the user and several of the agent. It returns
// their total size in bytes.
func writeThreads(t testing.TB, home string, count, messages int) (size int) {
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2024, 1, 2, 3, 4, 5, 0, time.Local)
	for n := range count {
		at := begin.Add(time.Duration(n) * 12 * time.Minute)
		id := fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n)
		dir := filepath.Join(home, "sessions", at.Format("2006/01/02"))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		text := fmt.Sprintf(`{"timestamp":"","type":"session_meta","payload":{"id":%q,"cwd":"/x","source":"cli","model_provider":"offline","base_instructions":{"text":%q}}}`+"\n", id, apptest.RandomWords(random, 2000))
		text += fmt.Sprintf(`{"timestamp":"","type":"event_msg","payload":{"type":"user_message","message":"question %d: %s"}}`+"\n", n, apptest.RandomWords(random, 20))
		for range messages {
			text += fmt.Sprintf(`{"timestamp":"","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}}`+"\n", apptest.RandomWords(random, 100))
			text += fmt.Sprintf(`{"timestamp":"","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"%s"}}`+"\n", apptest.RandomWords(random, 300))
		}
		size += len(text)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+id+".jsonl"),
			[]byte(text), 0o600))
	}
	return size
}

// TestIndexIsCreatedByLists requires that neither a start nor a turn creates the index, and that a
// list does.
func TestIndexIsCreatedByLists(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesIndex)
	home := t.TempDir()
	c := apptest.StartOffline(t, home)
	thread := c.StartThread(apptest.Object{})
	c.Turn(thread, "a memorable sentence")
	require.NoFileExists(t, filepath.Join(home, "appserver-index.sqlite"))
	c.Call("thread/list", apptest.Object{})
	found := c.Call("thread/search", apptest.Object{"searchTerm": "memorable"})
	require.Equal(t, thread, gjson.GetBytes(found, "data.0.thread.id").Str)
	require.FileExists(t, filepath.Join(home, "appserver-index.sqlite"))
	c.Close()
	require.NoFileExists(t, filepath.Join(home, "appserver-index.sqlite-wal"), "the index was closed")
}

// TestCrashDuringIndexingContinues kills servers while they build the index, until one completes
// it.
func TestCrashDuringIndexingContinues(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesIndex)
	sample.Long(t)
	const count = 600
	home := t.TempDir()
	writeThreads(t, home, count, 4)
	random := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		c := apptest.StartOffline(t, home)
		for range 1 + random.IntN(100) {
			c.Call("thread/list", apptest.Object{"modelProviders": []string{}})
		}
		c.Kill()
	}
	c := apptest.StartOffline(t, home)
	require.Equal(t, apptest.Object{"all": count, "complete": true}, countFound(c, "question"))
	require.NoFileExists(t, filepath.Join(home, "appserver-index.sqlite.damaged"))
	c.Close()
}

// countFound reads pages of a search until it is complete.
func countFound(c *apptest.Client, term string) apptest.Object {
	for {
		all, cursor, complete := 0, "", true
		for {
			p := apptest.Object{"searchTerm": term, "limit": 100}
			if cursor != "" {
				p["cursor"] = cursor
			}
			page := gjson.ParseBytes(c.Call("thread/search", p))
			all += int(page.Get("data.#").Int())
			complete = complete && page.Get("complete").Bool()
			if cursor = page.Get("nextCursor").Str; cursor == "" {
				break
			}
		}
		if complete {
			return apptest.Object{"all": all, "complete": true}
		}
	}
}

// TestIndexEqualsFilesForCorpus compares lists with and without an index over rollouts of all
// released versions, and searches them.
func TestIndexEqualsFilesForCorpus(t *testing.T) {
	home := t.TempDir()
	ids := apptest.PutCorpus(t, home)
	with, without := apptest.StartOffline(t, home), apptest.StartOffline(t, home, "-c", "index.enabled=false")
	all := []string{"cli", "exec", "vscode", "unknown"}
	for _, term := range []string{"[[shell:echo hi]] FIRST", "Fine]] second", "done"} {
		p := apptest.Object{"searchTerm": term, "sourceKinds": all}
		for !gjson.GetBytes(with.Call("thread/search", p), "complete").Bool() {
			continue
		}
		require.Len(t, gjson.GetBytes(with.Call("thread/search", p), "data").Array(), len(ids), term)
	}
	for _, p := range []apptest.Object{
		{"sourceKinds": all}, {}, {"sortKey": "updated_at", "sortDirection": "asc", "limit": 5, "sourceKinds": all},
		{"sourceKinds": []string{"exec"}}, {"cwd": "/work", "sourceKinds": all},
		{"searchTerm": "HI]] f", "sourceKinds": all, "limit": 3},
	} {
		p["modelProviders"] = []string{}
		require.JSONEq(t, string(without.Call("thread/list", p)), string(with.Call("thread/list", p)), "%v", p)
	}
	with.Close()
	without.Close()
}
