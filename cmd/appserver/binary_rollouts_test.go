package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// rollouts are files in the form of released versions of the reference implementation, made
// by hand: together they have every event that it shows, and every kind of item.
func rollouts(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("testdata/rollouts/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		files[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = string(text)
	}
	return files
}

// putRollouts puts them into a home, and returns the ids of the threads, by file.
func putRollouts(t testing.TB, home string) map[string]string {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/11/20")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	ids := map[string]string{}
	for name, text := range rollouts(t) {
		ids[name] = gjson.Get(text, "payload.id").Str
		path := filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+ids[name]+".jsonl")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return ids
}

// TestBinaryShowsTheHistoryOfEveryVersion reads, lists and resumes the rollouts. What is
// shown of each stands beside it.
func TestBinaryShowsTheHistoryOfEveryVersion(t *testing.T) {
	t.Parallel()
	home := newProvider(t).home(t)
	ids := putRollouts(t, home)
	c := startServer(t, home)
	c.initialize()
	listed := c.get("thread/list", object{"modelProviders": []string{}, "sourceKinds": []string{"cli", "exec", "vscode", "unknown"}})
	for name, id := range ids {
		read := c.get("thread/read", object{"threadId": id, "includeTurns": true}).Get("thread")
		entry := listed.Get(fmt.Sprintf(`data.#(id==%q)`, id))
		require.Equal(t, read.Get("preview").Str, entry.Get("preview").Str, name)
		require.Equal(t, read.Get("gitInfo").Raw, entry.Get("gitInfo").Raw, name)
		compareGolden(t, "testdata/rollouts/"+name+".golden", historyText(read))

		resumed := c.get("thread/resume", object{"threadId": id, "model": "test", "modelProvider": "test"}).Get("thread")
		require.Equal(t, read.Get("turns").Raw, resumed.Get("turns").Raw, name)
		items := c.get("thread/items/list", object{"threadId": id, "limit": 1000}).Get("data.#.item")
		require.ElementsMatch(t, rawItems(read.Get("turns.#.items|@flatten")), rawItems(items), name)
	}
	c.close()
}

func rawItems(list gjson.Result) (raw []string) {
	for _, item := range list.Array() {
		raw = append(raw, item.Raw)
	}
	return raw
}

// historyText is a thread as people can compare it: a line for each turn and item.
func historyText(thread gjson.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "preview %s\ngit %s\n", thread.Get("preview").Raw, thread.Get("gitInfo").Raw)
	for _, turn := range thread.Get("turns").Array() {
		fmt.Fprintf(&b, "turn %s %s %s\n", turn.Get("id").Str, turn.Get("status").Str, turn.Get("error").Raw)
		for _, item := range turn.Get("items").Array() {
			fmt.Fprintf(&b, "  %s\n", item.Raw)
		}
	}
	return b.String()
}

func compareGolden(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, path)
}
