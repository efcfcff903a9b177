//go:build reference

package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// besideGroups returns the scripts. APPSERVER_BENCH_ROUNDS bounds how often each is run,
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
		{"line", few, besideRun.line},
		{"endless", few, besideRun.endless},
	}
	for _, size := range benchResumed() {
		rounds := many
		if size.megabytes >= 1000 {
			rounds = few
		}
		groups = append(groups,
			besideGroup{fmt.Sprintf("resume%d", size.megabytes), rounds, func(r besideRun) { r.resume(size) }},
			besideGroup{fmt.Sprintf("turns%dMB", size.megabytes), few, func(r besideRun) { r.resumeAll(size) }})
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
	r.thread(c)
	c.close()
	c, started := r.dial()
	r.put(besideRow{name: "spawn → `initialize` answered", unit: "ms", goal: "4"}, ms(started))
	r.put(besideRow{name: "resident after it", unit: "MB", goal: "12"}, r.megabytes(c))
	began := time.Now()
	thread := r.thread(c)
	r.put(besideRow{name: "the first `thread/start`", unit: "ms", goal: "3"}, ms(time.Since(began)))
	r.put(besideRow{name: "resident after `thread/start`", unit: "MB"}, r.megabytes(c))
	r.turns(c, thread)
	r.put(besideRow{name: "resident after a turn", unit: "MB"}, r.megabytes(c))
	const turns = 20
	before := treeTime(r, c.pid)
	for range turns {
		r.put(besideRow{name: "an empty turn, to `turn/completed`", unit: "ms", goal: "2 + syncs"}, ms(r.turns(c, thread)))
	}
	r.put(besideRow{name: "processor time of an empty turn", unit: "ms", goal: "2"}, ms(treeTime(r, c.pid)-before)/turns)
	for range 49 {
		r.put(besideRow{name: "`thread/start`", unit: "ms", goal: "2"}, r.timed(c, "thread/start", "{}"))
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
	r.put(besideRow{name: "deltas a second", goal: "300,000", higher: true}, deltas/took.Seconds())
	r.put(besideRow{name: "processor time of a delta", unit: "µs", goal: "3"},
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
	r.put(besideRow{name: name, unit: "ms", goal: "1.3 × the provider"}, ms(r.turns(c, threads...)))
	r.put(besideRow{name: name + ": the provider alone", unit: "ms"}, ms(r.model.alone(r, r.api, turns)))
	c.close()
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
	r.put(besideRow{name: "`context/getItems` of 10,000, first", unit: "ms", goal: "60"}, r.timed(c, "context/getItems", of("")))
	for range 20 {
		r.put(besideRow{name: "`context/getItems` of 10,000", unit: "ms", goal: "5"},
			r.timed(c, "context/getItems", of("")))
	}
	for n := range 20 {
		took := r.timed(c, "context/setInclusion", of(fmt.Sprintf(`,"indices":[7],"included":%v`, n%2 == 1)))
		c.await(contextItems)
		r.put(besideRow{name: "a toggle among 10,000", unit: "ms", goal: "1"}, took)
	}
	c.close()
}

// line measures what is left of a line of the greatest length. The reference implementation does not answer it.
func (r besideRun) line() {
	if r.name != "ours" {
		return
	}
	c, _ := r.dial()
	before := r.megabytes(c)
	const rest = `{"jsonrpc":"2.0","id":1,"method":"thread/read","params":{"threadId":""}}`
	c.call("thread/read", fmt.Sprintf(`{"threadId":%q}`, strings.Repeat("a", 64<<20-2*len(rest))))
	<-time.After(2 * time.Second) // the time that the goal names
	row := besideRow{name: "2 s after a line of 64 MiB: more memory than before", unit: "MB", goal: "16"}
	r.put(row, r.megabytes(c)-before)
	c.close()
}

// endless measures what a client is sent of a command that prints without end for seven seconds.
func (r besideRun) endless() {
	c, _ := r.dial()
	thread := r.thread(c)
	before := c.received
	r.timed(c, "thread/shellCommand", fmt.Sprintf(`{"threadId":%q,"command":"timeout 7 yes"}`, thread))
	c.await(turnCompleted)
	r.put(besideRow{name: "sent of `yes` in 7 s", unit: "MB", goal: "bounded"}, float64(c.received-before)/1e6)
	c.close()
}
