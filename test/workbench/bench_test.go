package workbench

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"text/tabwriter"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/stretchr/testify/require"
)

// budget turns on TestBudget, which make bench-web runs. Its times do not fail a test.
var budget = flag.Bool("budget", false, "measure the page and print a table")

// row is a line of the table. Units are milliseconds, or megabytes of JS heap.
type row struct {
	what  string
	value float64
	limit float64
	unit  string
}

// TestBudget measures the page with a thread of 10,000 entries.
func TestBudget(t *testing.T) {
	t.Parallel()
	if !*budget {
		t.Skip("make bench-web measures the page")
	}
	rows := append(measureLongThread(t), measureStream(t)...)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "thread of 10,000 entries\tmeasured\tlimit\t")
	for _, r := range rows {
		verdict := "ok"
		if r.value > r.limit {
			verdict = "over"
		}
		fmt.Fprintf(table, "%s\t%.1f %s\t%.0f\t%s\n", r.what, r.value, r.unit, r.limit, verdict)
	}
	require.NoError(t, table.Flush())
}

func measureLongThread(t *testing.T) []row {
	w := openLongThread(t, 2000)
	w.seeText(".message", "1999 All")
	eval[bool](w, timings)
	first := eval[float64](w, `(async () => { // the server and the browser are warm
		location.hash = "";
		await until(() => document.querySelector(".timeline") === null);
		const start = performance.now();
		document.querySelector("a.thread").click();
		await until(() => document.querySelector(".timeline article") !== null);
		return performance.now() - start;
	})()`)
	w.see(".context-item")
	sweep := eval[float64](w, `(async () => {
		const box = document.querySelector(".timeline");
		const frames = watchFrames();
		for (let i = 0; i < 120; i++) {
			box.scrollBy(0, -150);
			await frame();
		}
		return p95(frames());
	})()`)
	jump := eval[float64](w, `(async () => {
		const box = document.querySelector(".context-list");
		return medianOfFive(async (i) => {
			box.scrollTop = (box.scrollHeight * (i + 2)) / 8;
			await frame();
			await frame();
		});
	})()`)
	treemap := eval[float64](w, `(async () => {
		const press = (text) => [...document.querySelectorAll(".segments.views button")].find((b) => b.textContent === text).click();
		press("Map");
		await until(() => document.querySelector(".map canvas")?.width > 0);
		const choice = document.querySelector(".segments.views select");
		const taken = await medianOfFive(async (i) => {
			choice.value = i % 2 === 0 ? "turn" : "category";
			choice.dispatchEvent(new Event("change", {bubbles: true}));
			await frame();
			await frame();
		});
		press("List");
		await until(() => document.querySelector(".context-item") !== null);
		return taken;
	})()`)
	toggle := eval[float64](w, `(async () => {
		document.querySelector(".footer .mode input").click(); // each change applies at once
		const off = () => document.querySelector(".context-item .badge.off") !== null;
		return medianOfFive(async (i) => {
			document.querySelector(".context-item [role=checkbox]").click();
			await until(() => off() === (i % 2 === 0));
		});
	})()`)
	call(w, heapprofiler.CollectGarbage, cdp.Empty{})
	heap := w.metric("JSHeapUsedSize") / 1e6
	w.write("x")
	send := eval[float64](w, `(async () => {
		const real = WebSocket.prototype.send;
		let sent = 0;
		WebSocket.prototype.send = function (text) {
			if (!sent && text.includes("turn/start")) sent = performance.now();
			return real.call(this, text);
		};
		const start = performance.now();
		document.querySelector(".composer button[type=submit]").click();
		await until(() => sent > 0);
		return sent - start;
	})()`)
	return []row{
		{"first rows after navigation", first, 500, "ms"},
		{"scroll sweep, p95 frame", sweep, 20, "ms"},
		{"jump in the context list, median of 5", jump, 60, "ms"},
		{"treemap of 10,000 items, median of 5", treemap, 60, "ms"},
		{"toggle to row, median of 5", toggle, 50, "ms"},
		{"Send to the wire", send, 16, "ms"},
		{"JS heap after load", heap, 60, "MB"},
	}
}

// measureStream streams 10,000 deltas, about 1,000 a second.
func measureStream(t *testing.T) []row {
	home := t.TempDir()
	deltas := make([]string, 10_000)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("word%d ", i)
		if i%40 == 39 {
			deltas[i] += "\n\n"
		}
	}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, map[string]any{
		"steps": []any{map[string]any{"deltas": deltas, "gapMs": 1}}})).open(t)
	w.start(t.TempDir())
	eval[bool](w, timings)
	eval[bool](w, `(window.streamed = watchFrames(), window.tasks = [],
		new PerformanceObserver((list) => tasks.push(...list.getEntries().map((e) => e.duration))).observe({entryTypes: ["longtask"]}), true)`)
	w.send("go")
	w.seeText(".message.agent", "word9999")
	return []row{
		{"1,000 deltas/s, p95 frame", eval[float64](w, "p95(streamed())"), 20, "ms"},
		{"1,000 deltas/s, tasks over 50 ms", eval[float64](w, "tasks.length"), 2, ""},
	}
}

// timings defines functions for measurements in the page.
const timings = `{
	window.frame = () => new Promise((done) => requestAnimationFrame(done));
	window.until = async (test) => {
		while (!test()) await new Promise((done) => setTimeout(done, 1));
	};
	window.watchFrames = () => {
		const times = [];
		let last = performance.now(), on = true;
		const tick = (now) => {
			times.push(now - last);
			last = now;
			if (on) requestAnimationFrame(tick);
		};
		requestAnimationFrame(tick);
		return () => { on = false; return times.slice(1); };
	};
	/* medianOfFive runs an action five times, each on a page that has nothing else to do. */
	window.medianOfFive = async (action) => {
		const times = [];
		for (let i = 0; i < 5; i++) {
			await new Promise((done) => requestIdleCallback(done));
			const start = performance.now();
			await action(i);
			times.push(performance.now() - start);
		}
		return times.sort((a, b) => a - b)[2];
	};
	window.p95 = (times) => times.sort((a, b) => a - b)[Math.floor(times.length * 0.95)];
} true`
