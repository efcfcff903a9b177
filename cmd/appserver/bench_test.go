package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The benchmarks run the binary over real pipes. Beside each figure stands its
// budget, as a metric of its own. Shared machines are noisy: compare within a run.

func BenchmarkInitialize(b *testing.B) {
	home := b.TempDir()
	_, err := binary()
	require.NoError(b, err)
	for b.Loop() {
		c := startServer(b, home, "-c", "model_provider=offline")
		c.initialize()
		b.StopTimer()
		c.kill()
		b.StartTimer()
	}
	b.ReportMetric(10, "budget-ms")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

func BenchmarkMemoryAfterThreadStart(b *testing.B) {
	var kib int
	for b.Loop() {
		c := startServer(b, b.TempDir(), "-c", "model_provider=offline")
		c.initialize()
		c.startThread(object{})
		kib = residentKiB(b, c.cmd.Process.Pid)
		c.kill()
	}
	b.ReportMetric(20, "budget-MB")
	b.ReportMetric(float64(kib)/1024, "MB")
}

func BenchmarkThreadStart(b *testing.B) {
	c := benchServer(b, b.TempDir())
	for b.Loop() {
		c.startThread(object{})
	}
	b.ReportMetric(2, "budget-ms")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

func BenchmarkEmptyTurn(b *testing.B) {
	c := benchServer(b, b.TempDir())
	thread := c.startThread(object{})
	c.turn(thread, "warm")
	for b.Loop() {
		c.turn(thread, "hi")
		c.seen = nil
	}
	b.ReportMetric(3, "budget-ms")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

// BenchmarkDeltas streams as fast as the server takes it.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 100_000
	provider := newBenchModel(deltas, 0)
	defer provider.Close()
	c := benchServer(b, providerHome(b, provider.URL))
	thread := c.startThread(object{})
	var cpu time.Duration
	for b.Loop() {
		before := treeTime(b, c.cmd.Process.Pid)
		c.turn(thread, "stream")
		cpu += treeTime(b, c.cmd.Process.Pid) - before
		c.seen = nil
	}
	total := float64(deltas * b.N)
	b.ReportMetric(100_000, "budget-deltas/s")
	b.ReportMetric(total/b.Elapsed().Seconds(), "deltas/s")
	b.ReportMetric(10, "budget-µs-cpu/delta")
	b.ReportMetric(cpu.Seconds()*1e6/total, "µs-cpu/delta")
}

// BenchmarkConcurrentTurns runs 50 turns of 200 deltas at once. Were the server not
// there, they would take as long as one.
func BenchmarkConcurrentTurns(b *testing.B) {
	const turns, deltas, gap = 50, 200, 5 * time.Millisecond
	provider := newBenchModel(deltas, gap)
	defer provider.Close()
	ideal := time.Duration(deltas) * gap
	c := benchServer(b, providerHome(b, provider.URL))
	threads := make([]string, turns)
	for i := range threads {
		threads[i] = c.startThread(object{})
	}
	for b.Loop() {
		for _, thread := range threads {
			c.lastID++
			c.send(object{"id": c.lastID, "method": "turn/start", "params": object{"threadId": thread, "input": textInput("stream")}})
		}
		for range threads {
			c.untilMethod("turn/completed")
		}
		c.seen = nil
	}
	b.ReportMetric(1.3, "budget-×ideal")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/ideal.Seconds(), "×ideal")
}

func benchServer(b testing.TB, home string) *client {
	c := startServer(b, home, "-c", "model_provider="+providerOf(home), "-c", "compat.turn_completed_floor_ms=0")
	c.initialize()
	return c
}

func providerOf(home string) string {
	if _, err := os.Stat(filepath.Join(home, "config.toml")); err == nil {
		return "bench"
	}
	return "offline"
}

func providerHome(b testing.TB, url string) string {
	home := b.TempDir()
	config := fmt.Sprintf("model = \"bench\"\n[model_providers.bench]\nbase_url = %q\nwire_api = \"chat\"\n", url+"/v1")
	require.NoError(b, os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
	return home
}

func residentKiB(b testing.TB, pid int) int { return statusKiB(b, pid, "VmRSS:") }

// beginRollout makes a thread with a turn, whose rollout can be written on.
func beginRollout(b testing.TB, home string) (thread string, rollout *os.File) {
	c := benchServer(b, home)
	thread = c.startThread(object{"sandbox": "danger-full-access", "approvalPolicy": "never"})
	c.turn(thread, "hello")
	c.close()
	paths, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	require.NoError(b, err)
	require.Len(b, paths, 1)
	rollout, err = os.OpenFile(paths[0], os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b, err)
	return thread, rollout
}

// longTurns are the turns of a rollout that is written for a benchmark: each a question, a
// command with an output of so many lines of 56 bytes, and an answer. Every so many turns a
// compaction leaves a summary; 0 is none.
type longTurns struct{ turns, output, compactEvery int }

// writeLongRollout writes a thread of that many turns, each with 4 KB of output: about 9.8 KB a
// turn.
func writeLongRollout(b testing.TB, home string, turns int) string {
	return longTurns{turns: turns, output: 64}.write(b, home)
}

func (l longTurns) write(b testing.TB, home string) string {
	thread, f := beginRollout(b, home)
	defer f.Close()
	begun, err := os.ReadFile(f.Name())
	require.NoError(b, err)
	out, ordinal := bufio.NewWriter(f), bytes.Count(begun, []byte("\n"))
	text := strings.Repeat("All work and no play makes a dull log. ", 12)
	output := strings.Repeat("drwxr-xr-x 2 user user 4096 Nov 21 12:00 some/file.go\\n", l.output)
	line := func(kind, format string, args ...any) {
		_, err := fmt.Fprintf(out, `{"timestamp":"2026-11-21T11:45:07.000Z","ordinal":%d,"type":%q,"payload":%s}`+"\n", ordinal, kind, fmt.Sprintf(format, args...))
		require.NoError(b, err)
		ordinal++
	}
	for i := range l.turns {
		turn := fmt.Sprintf("01a1fdec-a59f-7270-ac57-%012d", i)
		item := func(format string, args ...any) {
			line("event_msg", `{"type":"item_completed","thread_id":%q,"turn_id":%q,"item":%s,"started_at_ms":1795261507011,"completed_at_ms":1795261507011}`,
				thread, turn, fmt.Sprintf(format, args...))
		}
		line("event_msg", `{"type":"task_started","turn_id":%q,"started_at":1795261506,"model_context_window":128000}`, turn)
		line("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"%d %s"}]}`, i, text)
		item(`{"type":"UserMessage","id":"u%d","content":[{"type":"text","text":"%d %s","text_elements":[]}]}`, i, i, text)
		line("response_item", `{"type":"function_call","name":"shell","arguments":"{\"command\":\"ls -l %d\"}","call_id":"call_%d"}`, i, i)
		item(`{"type":"CommandExecution","id":"call_%d","command":["/bin/bash","-lc","ls -l %d"],"cwd":"file:///x","parsed_cmd":[],"source":"agent","status":"completed","aggregated_output":"%s","exit_code":0,"duration":{"secs":0,"nanos":1000000}}`, i, i, output)
		line("response_item", `{"type":"function_call_output","call_id":"call_%d","output":"Exit code: 0\n%s"}`, i, output)
		line("response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"%s"}]}`, text)
		item(`{"type":"AgentMessage","id":"m%d","content":[{"type":"Text","text":"%s"}]}`, i, text)
		line("event_msg", `{"type":"task_complete","turn_id":%q,"last_agent_message":null,"started_at":1795261506,"completed_at":1795261507,"duration_ms":100}`, turn)
		if l.compactEvery > 0 && i%l.compactEvery == l.compactEvery-1 {
			line("compacted", `{"message":"All of it.","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"All of it."}]}]}`)
		}
	}
	require.NoError(b, out.Flush())
	info, err := f.Stat()
	require.NoError(b, err)
	b.Logf("the rollout has %d MB", info.Size()>>20)
	return thread
}
