package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// listed has the lists whose first page is measured, and the first message in their threads.
var listed = []struct {
	name   string
	params apptest.Object
	term   string
}{
	{"newest", apptest.Object{}, ""},
	{"updated", apptest.Object{"sortKey": "updated_at"}, ""},
	{"term", apptest.Object{"searchTerm": "question 77"}, "question 77"},
}

// BenchmarkList requests the first page over n threads. "cold" is a new process in a home that no
// server used, "spawned" a new process in a used home, and "warm" a process that has read all.
func BenchmarkList(b *testing.B) {
	for _, count := range []int{2000, 10_000, mostThreads} {
		for _, s := range contenders(b) {
			h := newBenchHome(b, count)
			for _, row := range []struct {
				name string
				run  func(s contender, b *testing.B, h *benchHome, list int)
			}{{"cold", contender.cold}, {"spawned", contender.spawned}, {"warm", contender.warm}} {
				for i, l := range listed {
					b.Run(fmt.Sprintf("%s/%d/%s/%s", s.name, count, row.name, l.name), func(b *testing.B) { row.run(s, b, h, i) })
				}
			}
		}
	}
}

// page measures a first page. It returns false if further measurements make no sense.
func (r *row) page(b *testing.B, c *apptest.Client, h *benchHome, list int) bool {
	b.StartTimer()
	answered, right, ok := firstPage(c, listed[list].params, h.newest(listed[list].term))
	b.StopTimer()
	r.answered += answered
	r.right += right
	r.pages++
	r.peak = max(r.peak, peakMB(b, c.Cmd.Process.Pid))
	r.late = r.late || !ok
	return ok
}

// spawn starts and initializes a server. Both are measured, because the reference implementation reads
// all threads before it responds to initialize.
func (r *row) spawn(b *testing.B, s contender, h *benchHome) (c *apptest.Client, ok bool) {
	b.StartTimer()
	began := time.Now()
	c, ok = s.start(b, h.path)
	r.started += time.Since(began)
	b.StopTimer()
	r.late = r.late || !ok
	return c, ok
}

// row is one row of a table of lists.
type row struct {
	// started is from the start of processes to their answers to initialize.
	started         time.Duration
	answered, right time.Duration
	pages           int
	peak            float64
	// late is set where a page did not come, or not with the right threads, in time.
	late bool
}

func (r *row) report(b *testing.B) {
	if r.late {
		b.ReportMetric(1, fmt.Sprintf("not-within-%.0fs", benchPatience.Seconds()))
		return
	}
	each := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(r.pages) }
	if r.started > 0 {
		b.ReportMetric(each(r.started), "ms-start")
	}
	b.ReportMetric(each(r.answered), "ms-answered")
	b.ReportMetric(each(r.right), "ms-right")
	b.ReportMetric(r.peak, "MB-peak")
}

func (s contender) cold(b *testing.B, h *benchHome, list int) {
	b.StopTimer()
	var r row
	for range b.N {
		h.reset(b)
		c, ok := r.spawn(b, s, h)
		ok = ok && r.page(b, c, h, list)
		c.KillGroup()
		if !ok {
			break
		}
	}
	r.report(b)
}

// prepare makes a server read all threads of a home, and leaves the files that it keeps of them.
func (s contender) prepare(b *testing.B, h *benchHome) {
	b.StopTimer()
	if h.ready {
		return
	}
	c, ok := s.start(b, h.path)
	if h.ready = ok && s.await(c, h); h.ready {
		c.Close()
	}
	c.KillGroup()
}

// prepared returns a server that has read all threads.
func (s contender) prepared(b *testing.B, h *benchHome) (c *apptest.Client, r row) {
	s.prepare(b, h)
	c, ok := s.start(b, h.path)
	b.Cleanup(c.KillGroup)
	return c, row{late: !ok || !s.await(c, h)}
}

func (s contender) spawned(b *testing.B, h *benchHome, list int) {
	s.prepare(b, h)
	var r row
	for range b.N {
		c, ok := r.spawn(b, s, h)
		ok = ok && r.page(b, c, h, list)
		c.KillGroup()
		if !ok {
			break
		}
	}
	r.report(b)
}

func (s contender) warm(b *testing.B, h *benchHome, list int) {
	c, r := s.prepared(b, h)
	for range b.N {
		if r.late || !r.page(b, c, h, list) {
			break
		}
	}
	r.report(b)
	b.ReportMetric(5, "budget-ms")
}

// BenchmarkSearch searches all threads for a rare text, one that is in one of a hundred
// threads, one that is in all, and one that is in none.
func BenchmarkSearch(b *testing.B) {
	for _, s := range contenders(b) {
		h := newBenchHome(b, mostThreads)
		for _, term := range []string{"question 7777:", "question 77", "question", "no such text"} {
			b.Run(fmt.Sprintf("%s/%d/%s", s.name, mostThreads, term), func(b *testing.B) { s.search(b, h, term) })
		}
	}
}

func (s contender) search(b *testing.B, h *benchHome, term string) {
	c, r := s.prepared(b, h)
	for range b.N {
		if r.late {
			break
		}
		b.StartTimer()
		began := time.Now()
		found, ok := answerBy(c, began.Add(benchPatience), "thread/search", apptest.Object{"searchTerm": term})
		b.StopTimer()
		r.answered += time.Since(began)
		r.pages++
		r.peak = max(r.peak, peakMB(b, c.Cmd.Process.Pid))
		if r.late = !ok; !ok {
			break
		}
		require.Len(b, gjson.GetBytes(found, "data").Array(), len(h.newest(term)))
	}
	r.right = r.answered
	r.report(b)
}

// BenchmarkIndexBuild reads all threads into an index.
func BenchmarkIndexBuild(b *testing.B) {
	h := newBenchHome(b, mostThreads)
	b.Run(fmt.Sprint(mostThreads), func(b *testing.B) {
		b.StopTimer()
		peak := 0.0
		for range b.N {
			h.reset(b)
			c := apptest.StartBenchServer(b, h.path)
			b.StartTimer()
			apptest.AwaitIndex(c)
			b.StopTimer()
			peak = max(peak, peakMB(b, c.Cmd.Process.Pid))
			c.Close()
		}
		each := b.Elapsed().Seconds() / float64(b.N)
		b.ReportMetric(float64(h.count)/each, "files/s")
		b.ReportMetric(float64(h.size)/1e6/each, "MB/s")
		b.ReportMetric(peak, "MB-peak")
		info, err := os.Stat(filepath.Join(h.path, "appserver-index.sqlite"))
		require.NoError(b, err)
		b.ReportMetric(float64(info.Size())/float64(h.size), "index/rollouts")
	})
}
