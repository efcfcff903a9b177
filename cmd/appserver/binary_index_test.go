package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// writeThreads writes rollouts of a message of the user and some of the agent, and gives
// how many bytes they have.
func writeThreads(t testing.TB, home string, count, messages int) (size int) {
	random := rand.New(rand.NewPCG(1, 2))
	begin := time.Date(2024, 1, 2, 3, 4, 5, 0, time.Local)
	for n := range count {
		at := begin.Add(time.Duration(n) * 12 * time.Minute)
		id := fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n)
		dir := filepath.Join(home, "sessions", at.Format("2006/01/02"))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		text := fmt.Sprintf(`{"timestamp":"","type":"session_meta","payload":{"id":%q,"cwd":"/x","source":"cli","model_provider":"offline","base_instructions":{"text":%q}}}`+"\n", id, words(random, 2000))
		text += fmt.Sprintf(`{"timestamp":"","type":"event_msg","payload":{"type":"user_message","message":"question %d: %s"}}`+"\n", n, words(random, 20))
		for range messages {
			text += fmt.Sprintf(`{"timestamp":"","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}}`+"\n", words(random, 100))
			text += fmt.Sprintf(`{"timestamp":"","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"%s"}}`+"\n", words(random, 300))
		}
		size += len(text)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+id+".jsonl"), []byte(text), 0o600))
	}
	return size
}

// words are words of a vocabulary of some thousands.
func words(random *rand.Rand, n int) string {
	text := make([]byte, 0, 8*n)
	for range n {
		for range 2 + random.IntN(2) {
			text = append(text, "bcdfglmnprst"[random.IntN(12)], "aeiou"[random.IntN(5)])
		}
		text = append(text, ' ')
	}
	return string(text)
}

// TestTheIndexIsNotNeededToStart checks that neither starting nor a turn makes the file, and
// that a list does.
func TestTheIndexIsNotNeededToStart(t *testing.T) {
	home := t.TempDir()
	c := startOffline(t, home)
	thread := c.startThread(object{})
	c.turn(thread, "a memorable sentence")
	require.NoFileExists(t, filepath.Join(home, "appserver-index.sqlite"))
	c.call("thread/list", object{})
	found := c.call("thread/search", object{"searchTerm": "memorable"})
	require.Equal(t, thread, gjson.GetBytes(found, "data.0.thread.id").Str)
	require.FileExists(t, filepath.Join(home, "appserver-index.sqlite"))
	c.close()
	require.NoFileExists(t, filepath.Join(home, "appserver-index.sqlite-wal"), "it was closed")
}

// TestCrashWhileTheIndexIsBuilt kills servers while they read, until one has read all.
func TestCrashWhileTheIndexIsBuilt(t *testing.T) {
	const count = 600
	home := t.TempDir()
	writeThreads(t, home, count, 4)
	random := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		c := startOffline(t, home)
		for range 1 + random.IntN(100) {
			c.call("thread/list", object{"modelProviders": []string{}})
		}
		c.kill()
	}
	c := startOffline(t, home)
	require.Equal(t, object{"all": count, "complete": true}, countFound(c, "question"))
	require.NoFileExists(t, filepath.Join(home, "appserver-index.sqlite.damaged"))
	c.close()
}

// countFound pages through a search until its answers are complete.
func countFound(c *client, term string) object {
	for {
		all, cursor, complete := 0, "", true
		for {
			p := object{"searchTerm": term, "limit": 100}
			if cursor != "" {
				p["cursor"] = cursor
			}
			page := gjson.ParseBytes(c.call("thread/search", p))
			all += int(page.Get("data.#").Int())
			complete = complete && page.Get("complete").Bool()
			if cursor = page.Get("nextCursor").Str; cursor == "" {
				break
			}
		}
		if complete {
			return object{"all": all, "complete": true}
		}
	}
}

// TestTheIndexKnowsTheCorpus compares lists of servers with and without an index, over what
// all versions of the reference implementation wrote, and searches that.
func TestTheIndexKnowsTheCorpus(t *testing.T) {
	home := t.TempDir()
	ids := putCorpus(t, home)
	with, without := startOffline(t, home), startOffline(t, home, "-c", "index.enabled=false")
	all := []string{"cli", "exec", "vscode", "unknown"}
	for _, term := range []string{"[[shell:echo hi]] FIRST", "Fine]] second", "done"} {
		p := object{"searchTerm": term, "sourceKinds": all}
		for !gjson.GetBytes(with.call("thread/search", p), "complete").Bool() {
			continue
		}
		require.Len(t, gjson.GetBytes(with.call("thread/search", p), "data").Array(), len(ids), term)
	}
	for _, p := range []object{
		{"sourceKinds": all}, {}, {"sortKey": "updated_at", "sortDirection": "asc", "limit": 5, "sourceKinds": all},
		{"sourceKinds": []string{"exec"}}, {"cwd": "/work", "sourceKinds": all}, {"searchTerm": "HI]] f", "sourceKinds": all, "limit": 3},
	} {
		p["modelProviders"] = []string{}
		require.JSONEq(t, string(without.call("thread/list", p)), string(with.call("thread/list", p)), "%v", p)
	}
	with.close()
	without.close()
}
