package workbench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"appserver/test/sample"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// maxRows is the number of rows that a list may mount.
const maxRows = 60

// mounted are the numbers of mounted rows of the timeline and of the context list.
const mounted = `[".timeline .row", ".context-list .row"].map((s) => document.querySelectorAll(s).length)`

// TestLongThreadsMountFewRows opens a thread of 10,000 entries, goes through it, and mounts few rows at
// any time.
func TestLongThreadsMountFewRows(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := openLongThread(t, 2000)
	w.seeText(".message", "1999 All")
	check := func(where string) {
		t.Helper()
		for _, n := range eval[[]int](w, mounted) {
			require.LessOrEqual(t, n, maxRows, where)
			require.NotZero(t, n, where)
		}
	}
	check("at the end")
	w.await(`(document.querySelector(".context-list").scrollTo(0, 1e7), document.querySelector(".context-list").scrollTop > 1e5)`)
	check("at the end of the list")
	for i := range 12 {
		eval[bool](w, `(document.querySelector(".timeline").scrollBy(0, -3000), document.querySelector(".context-list").scrollBy(0, -9000),
			new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
		check(fmt.Sprint("after scroll ", i))
	}
	w.menu("Edit the context", "Show prompts")
	w.see(".prompt-parts article")
	require.LessOrEqual(t, w.count(".prompt-parts .row"), maxRows)
	w.clickIn("dialog button", "Close")
	w.menu("Edit the context", "Compact")
	w.clickIn("label.option", "Your messages only")
	w.clickText("Review the draft")
	w.see(".draft-item")
	require.LessOrEqual(t, w.count(".draft-items .row"), maxRows)
	w.requireNoProblems()
}

// TestOlderPagesDoNotMoveTheText loads older pages while the user reads. What is in view stays in place.
func TestOlderPagesDoNotMoveTheText(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := openLongThread(t, 400)
	w.seeText(".message", "399 All")
	for range 3 {
		moved := eval[float64](w, `(async () => {
			const box = document.querySelector(".timeline");
			const size = () => Number(document.querySelector(".timeline article").getAttribute("aria-setsize"));
			const frame = () => new Promise((done) => requestAnimationFrame(done));
			const before = size();
			const edge = box.getBoundingClientRect().top;
			while (box.scrollTop > 600) { // in steps, so that all heights are known
				box.scrollTop = Math.max(600, box.scrollTop - 400);
				await frame();
				await frame();
			}
			box.scrollTop = 250; // near enough to load an older page
			const first = [...box.querySelectorAll("article")].find((e) => e.getBoundingClientRect().top > edge);
			const [id, top] = [first.id, first.getBoundingClientRect().top];
			while (size() === before) await frame();
			await frame();
			return Math.abs((document.getElementById(id)?.getBoundingClientRect().top ?? 1e6) - top);
		})()`)
		require.Less(t, moved, 3.0)
	}
	w.requireNoProblems()
}

// TestStreamingLaysOutOnceAFrame streams a long answer. The page computes at most two layouts a frame.
func TestStreamingLaysOutOnceAFrame(t *testing.T) {
	sample.Long(t)
	home := t.TempDir()
	deltas := make([]string, 1500)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("word%d ", i)
		if i%60 == 59 {
			deltas[i] += "\n\n"
		}
	}
	w := serve(t, home, "-c", "model_providers.offline.script="+writeScript(t, home, map[string]any{
		"steps": []any{map[string]any{"deltas": deltas, "gapMs": 1}}})).open(t)
	w.start(t.TempDir())
	eval[bool](w, `(window.frames = 0, (function count() { frames++; requestAnimationFrame(count); })(), true)`)
	layouts, frames := w.metric("LayoutCount"), eval[float64](w, "frames")
	w.send("go")
	w.seeText(".message.agent", "word1499")
	w.gone(".composer .stop")
	layouts, frames = w.metric("LayoutCount")-layouts, eval[float64](w, "frames")-frames
	require.Greater(t, frames, 30.0)
	require.LessOrEqual(t, layouts/frames, 2.0, "%v layouts in %v frames", layouts, frames)
	w.requireNoProblems()
}

// TestSwitchingThreadsLeavesNothingBehind opens two threads in turn, a hundred times. The numbers of nodes
// and of event listeners are those of the beginning.
func TestSwitchingThreadsLeavesNothingBehind(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	folder := t.TempDir()
	for _, name := range []string{"one", "two"} {
		w.start(folder)
		w.send(name)
		w.seeText(".message.agent", name)
		w.gone(".composer .stop")
	}
	both := func(times int) {
		for range times {
			for _, name := range []string{"one", "two"} {
				w.await(fmt.Sprintf(`(() => {
					const link = [...document.querySelectorAll("a.thread")].find((a) => a.textContent.includes(%q));
					if (link.getAttribute("aria-current") === null) link.click();
					return document.querySelector(".message.user")?.textContent.includes(%[1]q) &&
						document.querySelector(".context-item") !== null;
				})()`, name))
			}
		}
	}
	measure := func() (nodes, listeners float64) {
		call(w, heapprofiler.CollectGarbage, cdp.Empty{})
		return w.metric("Nodes"), w.metric("JSEventListeners")
	}
	both(5)
	nodes, listeners := measure()
	both(50)
	nodesAfter, listenersAfter := measure()
	require.LessOrEqual(t, nodesAfter, nodes*1.1+50)
	require.LessOrEqual(t, listenersAfter, listeners*1.1+20)
	w.requireNoProblems()
}

// metric returns a number that Chromium counts.
func (w *workbench) metric(name string) float64 {
	w.t.Helper()
	_, err := chromedp.Call(w.ctx, performance.Enable, performance.EnableParams{})
	require.NoError(w.t, err)
	all, err := chromedp.Call(w.ctx, performance.GetMetrics, cdp.Empty{})
	require.NoError(w.t, err)
	for _, m := range all.Metrics {
		if m.Name == name {
			return m.Value
		}
	}
	require.Fail(w.t, "no metric "+name)
	return 0
}

// writeScript writes a script of the offline provider and returns its path.
func writeScript(t *testing.T, home string, script map[string]any) string {
	t.Helper()
	text, err := json.Marshal(script)
	require.NoError(t, err)
	path := filepath.Join(home, "script.json")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}
