package apptest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// Corpus returns rollouts that released versions of the reference implementation wrote, by version.
// Each has two turns, and the second one is of another process. Long texts of that implementation
// are removed.
func Corpus(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(Root("test/apptest/testdata/corpus/*.jsonl"))
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

// PutCorpus writes the rollouts of Corpus into a home and returns the ids of their threads by
// version.
func PutCorpus(t testing.TB, home string) map[string]string {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/11/21")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	ids := map[string]string{}
	for version, text := range Corpus(t) {
		first, _, _ := strings.Cut(string(text), "\n")
		ids[version] = gjson.Get(first, "payload.id").Str
		path := filepath.Join(dir, "rollout-2026-11-21T18-59-00-"+ids[version]+".jsonl")
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	return ids
}

// Rollouts returns handmade rollouts in the form of released versions of the reference
// implementation. Together they contain every event that it shows and every type of item.
func Rollouts(t testing.TB) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(Root("test/apptest/testdata/rollouts/*.jsonl"))
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

// PutRollouts writes the handmade rollouts into a home and returns the ids of their threads by
// file.
func PutRollouts(t testing.TB, home string) map[string]string {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/11/20")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	ids := map[string]string{}
	for name, text := range Rollouts(t) {
		ids[name] = gjson.Get(text, "payload.id").Str
		path := filepath.Join(dir, "rollout-2026-11-20T10-00-00-"+ids[name]+".jsonl")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return ids
}

// BrokenRollout returns a rollout with invalid UTF-8 and unpaired surrogates in all strings: in
// known members, unknown members and unknown items.
func BrokenRollout(id string) string {
	const bad = "\xff\\ud800"
	return strings.Join([]string{
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"` + id +
			`","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/` + bad +
			`","originator":"` + bad + `","cli_version":"` + bad + `","source":{"custom":"` + bad + `"},"model_provider":"` +
			bad + `","git":{"branch":"` + bad +
			`","commit_hash":"` + bad + `","repository_url":"` + bad + `"},"x` + bad + `":"` + bad + `"}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"turn_context","payload":{"cwd":"/` + bad +
			`","approval_policy":"never","sandbox_policy":{"type":"` + bad + `"},"model":"` + bad + `"}}`,
		`{"timestamp":"` + bad + `","type":"event_msg","payload":{"type":"user_message","message":"` + bad + `","images":["` +
			bad + `"]}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"` + bad + `"},{"type":"x` + bad + `"}]}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"x` + bad + `","y` + bad + `":"` +
			bad + `"}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"function_call","name":"` + bad +
			`","call_id":"` + bad + `","arguments":"{\"a\":\"` + bad + `\"}"}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"event_msg","payload":{"type":"item_completed","thread_id":"t","turn_id":"u","item":{"type":"McpToolCall","id":"` + bad +
			`","server":"` + bad + `","tool":"` + bad + `","arguments":{"` + bad + `":"` + bad +
			`"},"status":"completed","result":{"content":[{"type":"text","text":"` + bad + `"}],"_meta":{"` + bad + `":1}}}}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","type":"event_msg","payload":{"type":"item_completed","thread_id":"t","turn_id":"u","item":{"type":"` + bad + `","id":"z","x":"` + bad + `"}}}`, "",
	}, "\n")
}

// RequireWellFormed requires that each line is JSON in UTF-8 without unpaired surrogates.
func RequireWellFormed(t require.TestingT, lines []string) {
	for _, line := range lines {
		require.True(t, utf8.ValidString(line), "not UTF-8: %q", line)
		require.True(t, json.Valid([]byte(line)), "not JSON: %q", line)
		require.Equal(t, line, string(protocol.ToWellFormed([]byte(line))), "half a surrogate pair")
	}
}

// PutAgents writes rollouts of the reference implementation into a home: of a thread that started agents by their
// paths, and of the first agent. Long texts of that implementation are removed. It returns the ids of both threads.
func PutAgents(t testing.TB, home string) (root, child string) {
	t.Helper()
	dir := filepath.Join(home, "sessions/2026/11/28")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	ids := map[string]string{}
	for _, name := range []string{"root", "child"} {
		text, err := os.ReadFile(Root("test/apptest/testdata/agents/" + name + ".jsonl"))
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		ids[name] = gjson.Get(first, "payload.id").Str
		path := filepath.Join(dir, "rollout-2026-11-28T20-31-18-"+ids[name]+".jsonl")
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	return ids["root"], ids["child"]
}
