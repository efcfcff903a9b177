package rollout_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/faultfs"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerHome); dir != "" {
		writeForever(dir)
	}
	goleak.VerifyTestMain(m)
}

var home = filepath.FromSlash("/home/codex")

const (
	threadA  = "0190a6f8-1111-7aaa-8bbb-00000000000a"
	threadB  = "0190a6f8-1111-7aaa-8bbb-00000000000b"
	metaLine = `{"timestamp":"2026-01-02T03:04:05.678Z","ordinal":0,"type":"session_meta","payload":{"id":"` + threadA +
		`"}}` + "\n"
)

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)

// line returns a rollout line with a payload that no other line has.
func line(n int) protocol.RolloutLine {
	ordinal := int64(n)
	return protocol.RolloutLine{
		Timestamp: "2026-01-02T03:04:05.678Z",
		Ordinal:   &ordinal,
		Type:      protocol.LineEventMsg,
		Payload: fmt.Appendf(nil, `{"type":"test","n":%d,"text":"%s"}`, n,
			[]string{"", "longer than the others, by far"}[n%2]),
	}
}

func linesFrom(from, to int) []protocol.RolloutLine {
	var all []protocol.RolloutLine
	for n := from; n < to; n++ {
		all = append(all, line(n))
	}
	return all
}

func payloads(lines []protocol.RolloutLine) []string {
	all := []string{}
	for _, l := range lines {
		all = append(all, string(l.Payload))
	}
	return all
}

func ordinals(c *rollout.Contents) []int64 {
	all := []int64{}
	for _, l := range c.Lines {
		all = append(all, *l.Ordinal)
	}
	return all
}

// memStore returns a store on a file system in memory.
func memStore() (*rollout.Store, *faultfs.Mem) {
	mem := faultfs.NewMem(home)
	return rollout.NewStore(mem, home), mem
}

// put writes a file of the store's home, and its folders.
func put(t *testing.T, disk rollout.FS, path, content string) string {
	t.Helper()
	require.NoError(t, disk.MkdirAll(filepath.Dir(path), 0o700))
	f, err := disk.OpenFile(path, createNew, 0o600)
	require.NoError(t, err)
	_, err = f.Write([]byte(content))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path
}

func get(t *testing.T, disk rollout.FS, path string) string {
	t.Helper()
	f, err := disk.OpenFile(path, 0, 0)
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return string(data)
}

func userLine(text string) string {
	quoted, _ := json.Marshal(text)
	return `{"timestamp":"2026-01-02T03:04:06.000Z","ordinal":1,"type":"event_msg",` +
		`"payload":{"type":"user_message","message":` + string(quoted) + "}}\n"
}

func metaWith(members string) string {
	return `{"timestamp":"2026-01-02T03:04:05.678Z","type":"session_meta","payload":{` + members + "}}\n"
}

func idOf(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// pages returns the previews on all pages of a query.
func pages(t *testing.T, store *rollout.Store, q rollout.Query) [][]string {
	t.Helper()
	var all [][]string
	for range 100 {
		page, err := store.List(q)
		require.NoError(t, err)
		previews := []string{}
		for _, h := range page.Heads {
			previews = append(previews, h.Preview)
		}
		all = append(all, previews)
		if q.Cursor = page.NextCursor; q.Cursor == "" {
			return all
		}
	}
	require.Fail(t, "the pages never end")
	return nil
}

const (
	metaOfA = `{"type":"session_meta","payload":{"id":"` + threadA +
		`","timestamp":"2026-01-02T01:02:03.500Z","cwd":"/w","source":"cli","model_provider":"p",` +
		`"base_instructions":{"text":"be brief"}}}` + "\n"
	contextLine = `{"type":"turn_context","payload":{"cwd":"/w","approval_policy":"never",` +
		`"sandbox_policy":{"type":"read-only"},"model":"m","summary":"auto"}}` + "\n"
)
