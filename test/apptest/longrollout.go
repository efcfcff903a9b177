package apptest

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// StartBenchServer starts the server with the provider bench of the home, if any, or offline.
func StartBenchServer(b testing.TB, home string) *Client {
	c := StartServer(b, home, "-c", "model_provider="+providerOf(home), "-c", "compat.turn_completed_floor_ms=0")
	c.Initialize()
	return c
}

func providerOf(home string) string {
	if _, err := os.Stat(filepath.Join(home, "config.toml")); err == nil {
		return "bench"
	}
	return "offline"
}

// BeginRollout creates a thread with one turn, and opens its rollout for appends.
func BeginRollout(b testing.TB, home string) (thread string, rollout *os.File) {
	c := StartBenchServer(b, home)
	thread = c.StartThread(Object{"sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.Turn(thread, "hello")
	c.Close()
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(b, err)
	require.Len(b, paths, 1)
	rollout, err = os.OpenFile(paths[0], os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	return thread, rollout
}

// LongRollout describes the turns of a generated rollout. Each turn has a question, a command with
// Output lines of 56 bytes, and an answer. Every CompactEvery turns a compaction adds a summary and the settings of
// the first turn again; 0 disables it.
type LongRollout struct{ Turns, Output, CompactEvery int }

// WriteLongRollout writes a thread with turns of 4 KB of output each, which is about 9.8 KB a turn.
func WriteLongRollout(b testing.TB, home string, turns int) string {
	return LongRollout{Turns: turns, Output: 64}.Write(b, home)
}

// Write writes the rollout into a home and returns the id of its thread.
func (l LongRollout) Write(b testing.TB, home string) string {
	thread, f := BeginRollout(b, home)
	defer f.Close()
	existing, err := os.ReadFile(f.Name())
	require.NoError(b, err)
	out, ordinal := bufio.NewWriter(f), bytes.Count(existing, []byte("\n"))
	text := strings.Repeat("All work and no play makes a dull log. ", 12)
	output := strings.Repeat("drwxr-xr-x 2 user user 4096 Nov 21 12:00 some/file.go\\n", l.Output)
	line := func(kind, format string, args ...any) {
		_, err := fmt.Fprintf(out, `{"timestamp":"2026-11-21T11:45:07.000Z","ordinal":%d,"type":%q,"payload":%s}`+"\n",
			ordinal, kind, fmt.Sprintf(format, args...))
		require.NoError(b, err)
		ordinal++
	}
	settings := gjson.GetBytes(existing, `..#(type=="turn_context").payload`).Raw
	for i := range l.Turns {
		turn := fmt.Sprintf("01a1fdec-a59f-7270-ac57-%012d", i)
		item := func(format string, args ...any) {
			line("event_msg", `{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":%s,"started_at_ms":1795261507011,"completed_at_ms":1795261507011}`,
				thread, turn, fmt.Sprintf(format, args...))
		}
		line("event_msg", `{"type":"task_started","turn_id":%q,"started_at":1795261506,"model_context_window":128000}`, turn)
		line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"%d %s"}]}`, i, text)
		item(`{"type":"UserMessage","id":"u%d","content":[{"type":"text","text":"%d %s","text_elements":[]}]}`, i, i, text)
		line("response_item",
			`{"type":"function_call","name":"shell","arguments":"{\"command\":\"ls -l %d\"}","call_id":"call_%d"}`, i, i)
		item(`{"type":"CommandExecution","id":"call_%d","command":["/bin/bash","-lc","ls -l %d"],"cwd":"file:///x","parsed_cmd":[],"source":"agent","status":"completed","aggregated_output":"%s","exit_code":0,"duration":{"secs":0,"nanos":1000000}}`, i, i, output)
		line("response_item", `{"type":"function_call_output","call_id":"call_%d","output":"Exit code: 0\n%s"}`, i, output)
		line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}`, text)
		item(`{"type":"AgentMessage","id":"m%d","content":[{"type":"Text","text":"%s"}]}`, i, text)
		line("event_msg", `{"type":"task_complete","turn_id":%q,"last_agent_message":null,"started_at":1795261506,"completed_at":1795261507,"duration_ms":100}`, turn)
		if l.CompactEvery > 0 && i%l.CompactEvery == l.CompactEvery-1 {
			line("compacted", `{"message":"All of it.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"All of it."}]}]}`)
			line("turn_context", "%s", settings)
		}
	}
	require.NoError(b, out.Flush())
	info, err := f.Stat()
	require.NoError(b, err)
	b.Logf("the rollout has %d MB", info.Size()>>20)
	return thread
}
