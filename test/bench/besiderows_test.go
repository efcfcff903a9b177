//go:build reference

package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// besideGroups are the scripts. APPSERVER_BENCH_ROUNDS bounds how often each is run,
// APPSERVER_BENCH_MB and APPSERVER_BENCH_THREADS name the sizes of what is resumed and listed.
func besideGroups(t testing.TB) []besideGroup {
	most := benchNumbers(t, "APPSERVER_BENCH_ROUNDS", 5)[0]
	few, many := min(3, most), min(5, most)
	groups := []besideGroup{
		{"start", many, besideRun.start},
		{"stream", many, besideRun.stream},
		{"turns50", many, func(r besideRun) { r.concurrent(50) }},
		{"turns200", few, func(r besideRun) { r.concurrent(200) }},
		{"context", many, besideRun.context},
	}
	for _, size := range benchResumed() {
		rounds := many
		if size.megabytes >= 1000 {
			rounds = few
		}
		groups = append(groups,
			besideGroup{fmt.Sprintf("resume%d", size.megabytes), rounds, func(r besideRun) { r.resume(size) }})
	}
	for _, count := range benchNumbers(t, "APPSERVER_BENCH_THREADS", 2000, 10_000, mostThreads) {
		groups = append(groups, besideGroup{fmt.Sprintf("list%d", count), few, func(r besideRun) { r.list(count) }})
	}
	return groups
}

// start measures a server with few threads.
func (r besideRun) start() {
	r.model.deltas, r.model.gap = 1, 0
	c, _ := r.dial() // what a home gets at first is made in no row
	c.close()
	c, started := r.dial()
	r.put(besideRow{name: "spawn → `initialize` answered", unit: "ms", budget: "6"}, ms(started))
	r.put(besideRow{name: "resident after it", unit: "MB"}, r.megabytes(c))
	began := time.Now()
	thread := r.thread(c)
	r.put(besideRow{name: "the first `thread/start`", unit: "ms", budget: "4"}, ms(time.Since(began)))
	r.put(besideRow{name: "resident after `thread/start`", unit: "MB", budget: "20"}, r.megabytes(c))
	r.turns(c, thread)
	r.put(besideRow{name: "resident after a turn", unit: "MB"}, r.megabytes(c))
	const turns = 20
	before := treeTime(r, c.pid)
	for range turns {
		r.put(besideRow{name: "an empty turn, to `turn/completed`", unit: "ms", budget: "2.5"}, ms(r.turns(c, thread)))
	}
	r.put(besideRow{name: "processor time of an empty turn", unit: "ms", budget: "2"}, ms(treeTime(r, c.pid)-before)/turns)
	for range 49 {
		r.put(besideRow{name: "`thread/start`", unit: "ms", budget: "2"}, r.timed(c, "thread/start", "{}"))
	}
	r.put(besideRow{name: "resident with 50 threads", unit: "MB"}, r.megabytes(c))
	c.close()
}

// stream measures a turn of 100,000 deltas that come as fast as they are taken.
func (r besideRun) stream() {
	const deltas = 100_000
	r.model.deltas, r.model.gap = 1, 0
	c, _ := r.dial()
	thread := r.thread(c)
	r.turns(c, thread)
	r.model.deltas = deltas
	before := treeTime(r, c.pid)
	took := r.turns(c, thread)
	r.put(besideRow{name: "deltas a second", budget: "300,000", higher: true}, deltas/took.Seconds())
	r.put(besideRow{name: "processor time of a delta", unit: "µs", budget: "3"},
		(treeTime(r, c.pid)-before).Seconds()*1e6/deltas)
	c.close()
}

// concurrent measures turns of 200 deltas each at once, which the model streams in a second.
func (r besideRun) concurrent(turns int) {
	r.model.deltas, r.model.gap = 200, 5*time.Millisecond
	c, _ := r.dial()
	threads := make([]string, turns)
	for i := range threads {
		threads[i] = r.thread(c)
	}
	name := fmt.Sprintf("%d turns of 200 deltas at once", turns)
	r.put(besideRow{name: name, unit: "ms", budget: "1.3 × the provider"}, ms(r.turns(c, threads...)))
	r.put(besideRow{name: name + ": the provider alone", unit: "ms"}, ms(r.model.alone(r, r.api, turns)))
	c.close()
}

// resume resumes a thread that the home has not opened before, and again in a new process.
func (r besideRun) resume(size resumed) {
	thread := ""
	if sessions := filepath.Join(r.path, "sessions"); !exists(sessions) {
		stock := r.TempDir()
		thread = size.Write(r, stock)
		require.NoError(r, exec.Command("cp", "-a", filepath.Join(stock, "sessions"), sessions).Run())
		require.NoError(r, os.RemoveAll(stock))
		require.NoError(r, os.WriteFile(filepath.Join(r.path, "thread"), []byte(thread), 0o600))
	}
	text, err := os.ReadFile(filepath.Join(r.path, "thread"))
	require.NoError(r, err)
	thread = string(text)
	clearHome(r, r.path, "sessions", "thread")
	r.configure(r, r.path)
	for _, row := range []string{"first", "again"} {
		c, _ := r.dial()
		took := r.timed(c, "thread/resume", fmt.Sprintf(`{"threadId":%q,"excludeTurns":true}`, thread))
		name, budget := fmt.Sprintf("resume of %d MB, %s", size.megabytes, row), [2]string{}
		if size.megabytes == 49 {
			budget = [2]string{"150", "120"}
		}
		r.put(besideRow{name: name, unit: "ms", budget: budget[0]}, took)
		r.put(besideRow{name: name + ": peak memory", unit: "MB", budget: budget[1]}, peakMB(r, c.pid))
		c.close()
	}
}

// list measures the first page of a list, of a home that is new to the server, and warm.
func (r besideRun) list(count int) {
	h := newBenchHome(r, count)
	r.path = h.path
	r.configure(r, r.path)
	name := fmt.Sprintf("first page of %d threads", count)
	c, started := r.dial()
	cold, _ := r.page(c, h, 0)
	r.put(besideRow{name: name + ", from spawn, in a new home", unit: "ms"}, ms(started+cold))
	r.settle(c, h)
	for i, list := range listed {
		row := besideRow{name: name + ", warm, " + list.name, unit: "ms", budget: [...]string{"1.5", "5", "4"}[i]}
		for range 5 {
			_, right := r.page(c, h, i)
			r.put(row, ms(right))
		}
	}
	c.close()
	c, started = r.dial()
	_, right := r.page(c, h, 0)
	r.put(besideRow{name: name + ", from spawn, in a home it knows", unit: "ms", budget: "12"}, ms(started+right))
	c.close()
	require.NoError(r, os.RemoveAll(h.path))
}

// page asks for a first page until it is right.
func (r besideRun) page(c *lineClient, h *benchHome, list int) (answered, right time.Duration) {
	want := h.newest(listed[list].term)
	params := `{"modelProviders":[]`
	for k, v := range listed[list].params {
		params += fmt.Sprintf(`,%q:%q`, k, v)
	}
	began := time.Now()
	for {
		c.call("thread/list", params+"}")
		right = time.Since(began)
		if answered == 0 {
			answered = right
		}
		var ids []string
		for _, id := range gjson.GetBytes(c.head, "result.data.#.id").Array() {
			ids = append(ids, id.Str)
		}
		if fmt.Sprint(ids) == fmt.Sprint(want) {
			return answered, right
		}
		require.Less(r, right, benchPatience, "the list stays wrong: %.300s", c.head)
		<-time.After(10 * time.Millisecond)
	}
}

// settle waits until the server has read all threads. Our server reports it; the reference
// implementation has read them when it responds.
func (r besideRun) settle(c *lineClient, h *benchHome) {
	for r.name == "ours" {
		r.timed(c, "thread/search", `{"searchTerm":"no such text"}`)
		if gjson.GetBytes(c.head, "result.complete").Bool() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
}

// context measures what the reference implementation has not.
func (r besideRun) context() {
	if r.name != "ours" {
		return
	}
	const items = 10_000
	home := r.TempDir()
	thread := writeItems(r, home, items)
	c := newLineClient(r, home)
	of := func(rest string) string { return fmt.Sprintf(`{"threadId":%q%s}`, thread, rest) }
	r.timed(c, "thread/resume", of(`,"excludeTurns":true`))
	r.put(besideRow{name: "`context/getItems` of 10,000, first", unit: "ms"}, r.timed(c, "context/getItems", of("")))
	for range 20 {
		r.put(besideRow{name: "`context/getItems` of 10,000", unit: "ms", budget: "10"},
			r.timed(c, "context/getItems", of("")))
	}
	for n := range 20 {
		took := r.timed(c, "context/setInclusion", of(fmt.Sprintf(`,"indices":[7],"included":%v`, n%2 == 1)))
		c.await(contextItems)
		r.put(besideRow{name: "a toggle among 10,000", unit: "ms", budget: "2"}, took)
	}
	c.close()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// clearHome takes all but some names out of a home.
func clearHome(t testing.TB, home string, keep ...string) {
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	for _, e := range entries {
		if !slices.Contains(keep, e.Name()) {
			require.NoError(t, os.RemoveAll(filepath.Join(home, e.Name())))
		}
	}
}
