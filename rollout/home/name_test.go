package home

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/platform/disk"
)

const name = "rollout-2026-01-02T03-04-05-0190a6f8-1111-7aaa-8bbb-00000000000a.jsonl"

func TestPathIsByLocalTime(t *testing.T) {
	h := New(disk.OS(), "/h/", nil)
	at := time.Date(2026, 12, 31, 23, 59, 58, 0, time.Local)
	want := filepath.FromSlash("/h/sessions/2026/12/31/rollout-2026-12-31T23-59-58-" + ThreadID(name) + ".jsonl")
	require.Equal(t, want, h.PathFor(ThreadID(name), at))
	require.Equal(t, want, h.PathFor(ThreadID(name), at.UTC()), "in any time zone")
	back, ok := TimeOf(want)
	require.True(t, ok)
	require.True(t, at.Equal(back))
}

func TestThreadIDOfAPath(t *testing.T) {
	const id = "0190a6f8-1111-7aaa-8bbb-00000000000a"
	for path, want := range map[string]string{
		"rollout-2026-01-02T03-04-05-" + id + ".jsonl":            id,
		"/any/where/rollout-2026-01-02T03-04-05-" + id + ".jsonl": id,
		"rollout-whenever-" + id + ".jsonl":                       id,
		"rollout-" + id + ".jsonl":                                "",
		"rollout-x" + id + ".jsonl":                               "",
		id + ".jsonl":                                             "",
		"rollout-2026-01-02T03-04-05-" + id:                       "",
		"rollout-2026-01-02T03-04-05-" + id + ".jsonl.bak":        "",
		"rollout-2026-01-02T03-04-05-" + id[:35] + ".jsonl":       "",
		"rollout-2026-01-02T03-04-05-" + id[:35] + "g.jsonl":      "",
		"rollout-x-{0190a6f8-1111-7aaa-8bbb-0000000000}.jsonl":    "",
		"rollout-x-0190a6f81111-7aaa-8bbb-00000000000a0.jsonl":    "",
		"rollout-2026-01-02T03-04-05-" + id + ".jsonl/x":          "",
		"":               "",
		"rollout-.jsonl": "",
		"rollout-2026-01-02T03-04-05-urn:uuid:0190a6f8-1111-7aaa-8.jsonl": "",
	} {
		require.Equal(t, want, ThreadID(path), path)
	}
}

func TestTimeOfAName(t *testing.T) {
	for _, path := range []string{
		"", "rollout-.jsonl", "rollout-2026-13-02T03-04-05-x.jsonl", "rollout-2026-01-02.jsonl",
		"x-2026-01-02T03-04-05-x.jsonl",
	} {
		_, ok := TimeOf(path)
		require.False(t, ok, path)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{
		"", "\n", `{"id":"a","thread_name":"b","updated_at":"c"}` + "\n", "\ufeff{\n",
		`{"id":1}` + "\n" + `{"thread_name":"b"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		names := parseNames(data)
		require.LessOrEqual(t, len(names), bytes.Count(data, []byte{'\n'})+1)
		require.NotContains(t, names, "")
	})
}
