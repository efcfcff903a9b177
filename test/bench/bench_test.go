package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// The benchmarks run the binary over real pipes. Beside each figure stands its
// budget, as a metric of its own. Shared machines are noisy: compare within a run.

func BenchmarkInitialize(b *testing.B) {
	home := b.TempDir()
	_, err := apptest.Binary()
	require.NoError(b, err)
	for b.Loop() {
		c := apptest.StartServer(b, home, "-c", "model_provider=offline")
		c.Initialize()
		b.StopTimer()
		c.Kill()
		b.StartTimer()
	}
	b.ReportMetric(6, "budget-ms")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

// BenchmarkFirstThreadStart starts a thread in a new process, in a home that another one has used.
func BenchmarkFirstThreadStart(b *testing.B) {
	home := b.TempDir()
	first := apptest.StartServer(b, home, "-c", "model_provider=offline")
	first.Initialize()
	require.NotEmpty(b, first.Diagnostics()) // its probe of the sandbox is kept
	first.Kill()
	var took time.Duration
	rounds := 0
	for b.Loop() {
		c := apptest.StartServer(b, home, "-c", "model_provider=offline")
		c.Initialize()
		began := time.Now()
		c.StartThread(apptest.Object{})
		took += time.Since(began)
		rounds++
		c.Kill()
	}
	b.ReportMetric(4, "budget-ms")
	b.ReportMetric(took.Seconds()*1e3/float64(rounds), "ms")
}

func BenchmarkMemoryAfterThreadStart(b *testing.B) {
	var kib int
	for b.Loop() {
		c := apptest.StartServer(b, b.TempDir(), "-c", "model_provider=offline")
		c.Initialize()
		c.StartThread(apptest.Object{})
		kib = residentKiB(b, c.Cmd.Process.Pid)
		c.Kill()
	}
	b.ReportMetric(20, "budget-MB")
	b.ReportMetric(float64(kib)/1024, "MB")
}

func BenchmarkThreadStart(b *testing.B) {
	c := apptest.StartBenchServer(b, b.TempDir())
	for b.Loop() {
		c.StartThread(apptest.Object{})
	}
	b.ReportMetric(2, "budget-ms")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

func BenchmarkEmptyTurn(b *testing.B) {
	c := apptest.StartBenchServer(b, b.TempDir())
	thread := c.StartThread(apptest.Object{})
	c.Turn(thread, "warm")
	for b.Loop() {
		c.Turn(thread, "hi")
		c.Seen = nil
	}
	b.ReportMetric(3, "budget-ms")
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
}

// BenchmarkDeltas streams as fast as the server takes it.
func BenchmarkDeltas(b *testing.B) {
	const deltas = 100_000
	provider := newBenchModel(deltas, 0)
	defer provider.Close()
	c := apptest.StartBenchServer(b, providerHome(b, provider.URL))
	thread := c.StartThread(apptest.Object{})
	var cpu time.Duration
	for b.Loop() {
		before := treeTime(b, c.Cmd.Process.Pid)
		c.Turn(thread, "stream")
		cpu += treeTime(b, c.Cmd.Process.Pid) - before
		c.Seen = nil
	}
	total := float64(deltas * b.N)
	b.ReportMetric(300_000, "budget-deltas/s")
	b.ReportMetric(total/b.Elapsed().Seconds(), "deltas/s")
	b.ReportMetric(3, "budget-µs-cpu/delta")
	b.ReportMetric(cpu.Seconds()*1e6/total, "µs-cpu/delta")
}

// BenchmarkConcurrentTurns runs 50 turns of 200 deltas at once. Were the server not
// there, they would take as long as one.
func BenchmarkConcurrentTurns(b *testing.B) {
	const turns, deltas, gap = 50, 200, 5 * time.Millisecond
	provider := newBenchModel(deltas, gap)
	defer provider.Close()
	ideal := time.Duration(deltas) * gap
	c := apptest.StartBenchServer(b, providerHome(b, provider.URL))
	threads := make([]string, turns)
	for i := range threads {
		threads[i] = c.StartThread(apptest.Object{})
	}
	for b.Loop() {
		for _, thread := range threads {
			c.LastID++
			c.Send(apptest.Object{"id": c.LastID, "method": "turn/start",
				"params": apptest.Object{"threadId": thread, "input": apptest.TextInput("stream")}})
		}
		for range threads {
			c.UntilMethod("turn/completed")
		}
		c.Seen = nil
	}
	b.ReportMetric(1.3, "budget-×ideal")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/ideal.Seconds(), "×ideal")
}

func providerHome(b testing.TB, url string) string {
	home := b.TempDir()
	config := fmt.Sprintf("model = \"bench\"\n[model_providers.bench]\nbase_url = %q\nwire_api = \"chat\"\n", url+"/v1")
	require.NoError(b, os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600))
	return home
}

func residentKiB(b testing.TB, pid int) int { return apptest.StatusKiB(b, pid, "VmRSS:") }
