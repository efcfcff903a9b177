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

// corpus are rollouts that released versions of the reference implementation wrote, by
// version: each of two turns, the second one of another process. Long texts of its own are
// cut out of them.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("testdata/corpus/*.jsonl")
	require.NoError(t, err)
	require.Len(t, paths, 12)
	files := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		files[strings.TrimSuffix(filepath.Base(path), ".jsonl")] = text
	}
	return files
}

// putCorpus puts the rollouts into a home, and gives the ids of the threads, by version.
func putCorpus(t testing.TB, home string) map[string]string {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/11/21")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	ids := map[string]string{}
	for version, text := range corpus(t) {
		first, _, _ := strings.Cut(string(text), "\n")
		ids[version] = gjson.Get(first, "payload.id").Str
		path := filepath.Join(dir, "rollout-2026-11-21T18-59-00-"+ids[version]+".jsonl")
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	return ids
}

// TestBinaryReadsTheCorpus lists, reads and resumes what every version wrote, and goes on
// with it.
func TestBinaryReadsTheCorpus(t *testing.T) {
	t.Parallel()
	p := newProvider(t, counting(12)...)
	home := p.home(t)
	ids := putCorpus(t, home)
	c := startServer(t, home)
	c.initialize()
	listed := gjson.GetBytes(c.call("thread/list", object{"modelProviders": []string{}, "sourceKinds": []string{"cli", "exec", "vscode", "unknown"}}), "data.#.id").Array()
	require.Len(t, listed, len(ids))
	for version, id := range ids {
		turns := gjson.GetBytes(c.call("thread/read", object{"threadId": id, "includeTurns": true}), "thread.turns").Array()
		require.Equal(t, []string{"[[shell:echo hi]] first", "done", "[[think:hm]][[say:fine]] second", "fine"}, messagesOf(turns), version)
		for _, turn := range turns {
			require.Equal(t, "completed", turn.Get("status").Str, version)
		}
		c.call("thread/resume", object{"threadId": id, "model": "test", "modelProvider": "test"})
		require.Equal(t, "completed", c.turn(id, "third").Status, version)
		asked := p.asked()
		checkContinued(t, version, asked[len(asked)-1])
	}
	c.close()
}

// messagesOf are the messages of turns.
func messagesOf(turns []gjson.Result) (said []string) {
	for _, turn := range turns {
		for _, item := range turn.Get("items").Array() {
			switch item.Get("type").Str {
			case "userMessage":
				said = append(said, item.Get("content.0.text").Str)
			case "agentMessage":
				said = append(said, item.Get("text").Str)
			}
		}
	}
	return said
}

// checkContinued checks a request that goes on with a conversation of the corpus.
func checkContinued(t *testing.T, version string, request chatRequest) {
	t.Helper()
	var got []string
	for _, raw := range request.Messages {
		m := gjson.ParseBytes(raw)
		text := m.Get("content").Str
		switch {
		case m.Get("tool_calls").Exists():
			got = append(got, "call")
		case m.Get("role").Str == "tool":
			require.Contains(t, text, "hi", version)
			got = append(got, "output")
		case m.Get("role").Str != "system" && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "# AGENTS.md"):
			got = append(got, fmt.Sprintf("%s: %s", m.Get("role").Str, text))
		}
	}
	require.Equal(t, []string{
		"user: [[shell:echo hi]] first", "call", "output", "assistant: done",
		"user: [[think:hm]][[say:fine]] second", "assistant: fine", "user: third",
	}, got, version)
}
