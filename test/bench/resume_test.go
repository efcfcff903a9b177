package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// BenchmarkResume resumes a thread of 5,000 turns, 49 MB, in a new process. The client does not decode the response.
func BenchmarkResume(b *testing.B) {
	for _, exclude := range []bool{true, false} {
		b.Run(fmt.Sprintf("excludeTurns=%v", exclude), func(b *testing.B) {
			home := b.TempDir()
			thread := apptest.WriteLongRollout(b, home, 5000)
			var kib int
			for b.Loop() {
				b.StopTimer()
				c := newLineClient(b, home)
				b.StartTimer()
				c.call("thread/resume", fmt.Sprintf(`{"threadId":%q,"excludeTurns":%v}`, thread, exclude))
				b.StopTimer()
				kib = residentKiB(b, c.pid)
				c.close()
				b.StartTimer()
			}
			budget := map[bool][2]float64{true: {150, 120}, false: {120, 60}}[exclude]
			b.ReportMetric(budget[0], "budget-ms")
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
			b.ReportMetric(budget[1], "budget-MB")
			b.ReportMetric(float64(kib)/1024, "MB")
		})
	}
}

// BenchmarkAllTurns reads threads with all their turns, in new processes of a home that has opened them before.
func BenchmarkAllTurns(b *testing.B) {
	for _, size := range benchResumed() {
		b.Run(fmt.Sprintf("%d MB", size.megabytes), func(b *testing.B) {
			home := b.TempDir()
			params := fmt.Sprintf(`{"threadId":%q,"includeTurns":true}`, size.Write(b, home))
			c := newLineClient(b, home)
			c.call("thread/read", params)
			c.close()
			var first, busy time.Duration
			var peak float64
			for b.Loop() {
				b.StopTimer()
				c := newLineClient(b, home)
				before := treeTime(b, c.pid)
				b.StartTimer()
				began := time.Now()
				id := c.send("thread/read", params)
				_, err := c.out.Peek(1)
				first += time.Since(began)
				require.NoError(b, err)
				b.SetBytes(int64(c.await(fmt.Sprintf(`"id":%d,`, id))))
				b.StopTimer()
				busy += treeTime(b, c.pid) - before
				peak = max(peak, peakMB(b, c.pid))
				c.close()
				b.StartTimer()
			}
			b.ReportMetric(150, "budget-first-byte-ms")
			b.ReportMetric(first.Seconds()*1e3/float64(b.N), "first-byte-ms")
			b.ReportMetric(busy.Seconds()*1e3/float64(b.N), "CPU-ms")
			b.ReportMetric(peak, "peak-MB")
			milliseconds(b, 0)
		})
	}
}

// BenchmarkMemoryOfALongSession has turns with an output of 80 KB each, and compactions.
func BenchmarkMemoryOfALongSession(b *testing.B) {
	for b.Loop() {
		c := apptest.StartServer(b, b.TempDir(), "-c", "model_provider=offline", "-c", "compat.turn_completed_floor_ms=0",
			"-c", "model_auto_compact_token_limit=60000")
		c.Initialize()
		thread := c.StartThread(apptest.Object{"sandbox": "danger-full-access", "approvalPolicy": "never"})
		for n := range 150 {
			require.Equal(b, "completed", c.Turn(thread, "run: head -c 60000 /dev/urandom | base64 -w 100").Status)
			if c.Seen = nil; n == 49 {
				b.ReportMetric(float64(residentKiB(b, c.Cmd.Process.Pid))/1024, "MB-after-50")
			}
		}
		b.ReportMetric(float64(residentKiB(b, c.Cmd.Process.Pid))/1024, "MB-after-150")
		c.Close()
	}
}

// resumed is a rollout of about that many megabytes.
type resumed struct {
	megabytes int
	apptest.LongRollout
}

// benchResumed returns the rollouts that are resumed: those whose sizes APPSERVER_BENCH_MB
// names, else all but the largest, which takes a minute to write. A compaction comes every
// 50 turns.
func benchResumed() (chosen []resumed) {
	want := os.Getenv("APPSERVER_BENCH_MB")
	if want == "" {
		want = "5,49,1000"
	}
	for _, r := range []resumed{
		{5, apptest.LongRollout{Turns: 510, Output: 64, CompactEvery: 50}},
		{49, apptest.LongRollout{Turns: 5000, Output: 64, CompactEvery: 50}},
		{1000, apptest.LongRollout{Turns: 8600, Output: 1024, CompactEvery: 50}},
		{10000, apptest.LongRollout{Turns: 21800, Output: 4096, CompactEvery: 50}},
	} {
		for _, size := range strings.Split(want, ",") {
			if size == strconv.Itoa(r.megabytes) {
				chosen = append(chosen, r)
			}
		}
	}
	return chosen
}

// BenchmarkResumeSize resumes threads, without their turns, in new processes: one that the
// home has not opened before, and again.
func BenchmarkResumeSize(b *testing.B) {
	for _, size := range benchResumed() {
		stock := b.TempDir()
		thread := size.Write(b, stock)
		for _, server := range contenders(b) {
			home := b.TempDir()
			require.NoError(b, exec.Command("cp", "-a", filepath.Join(stock, "sessions"), home).Run())
			if server.name != "ours" { // which has the provider that the thread is of
				config := "[model_providers.offline]\nname = \"offline\"\nbase_url = \"http://127.0.0.1:9/v1\"\n"
				require.NoError(b, os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
			}
			for _, row := range []string{"first", "again"} {
				b.Run(fmt.Sprintf("%s/%d MB/%s", server.name, size.megabytes, row), func(b *testing.B) {
					resumeOnce(b, server, home, thread, row == "first")
				})
			}
			require.NoError(b, os.RemoveAll(home))
		}
		require.NoError(b, os.RemoveAll(stock))
	}
}

// resumeOnce resumes a thread as often as it takes, each time in a new process.
func resumeOnce(b *testing.B, server contender, home, thread string, first bool) {
	var took, busy time.Duration
	var peak float64
	for range b.N {
		if first {
			require.NoError(b, os.RemoveAll(filepath.Join(home, "appserver-cache")))
		}
		c, ok := server.start(b, home)
		began := time.Now()
		if ok {
			_, ok = answerBy(c, began.Add(benchPatience), "thread/resume",
				apptest.Object{"threadId": thread, "excludeTurns": true})
		}
		took += time.Since(began)
		peak = max(peak, peakMB(b, c.Cmd.Process.Pid))
		busy += treeTime(b, c.Cmd.Process.Pid)
		c.KillGroup()
		if !ok {
			b.ReportMetric(1, "not-within-120s")
		}
	}
	b.ReportMetric(took.Seconds()*1e3/float64(b.N), "ms")
	b.ReportMetric(busy.Seconds()*1e3/float64(b.N), "CPU-ms")
	b.ReportMetric(peak, "peak-MB")
}
