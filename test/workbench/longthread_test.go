package workbench

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// openLongThread opens a thread with a number of turns. The message of turn N begins with "N All work".
func openLongThread(t *testing.T, turns int) *workbench {
	t.Helper()
	needChromium(t)
	home := t.TempDir()
	apptest.LongRollout{Turns: turns, Output: 4}.Write(t, home)
	w := serve(t, home).open(t)
	w.show("hello")
	return w
}

// TestSearchGoesFarBack shows an early message of a long thread. From there the timeline continues to
// later messages, and a key leads back to the end.
func TestSearchGoesFarBack(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := openLongThread(t, 999)
	w.press("f", control)
	w.fill(".find input", "123 All")
	w.seeText(".find-count", "1 of")
	w.seeText(".entry.found", "123 All")
	w.press(kb.Escape)
	w.scrollThrough(".timeline", 500, fmt.Sprintf(seen, "160 All"))
	eval[bool](w, `(document.querySelector(".timeline .entry").focus(), true)`)
	w.press("g")
	w.seeText(".message", "998 All")
	w.requireNoProblems()
}

// seen is an expression that reports whether a message has a text.
const seen = `[...document.querySelectorAll(".message")].some((e) => e.textContent.includes(%q))`

// TestLongTextsAreReadOnDemand shows the end of a long output, and all of it after a click.
func TestLongTextsAreReadOnDemand(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := serve(t, t.TempDir()).open(t)
	w.start(t.TempDir())
	w.send("run: seq 1 9000")
	w.seeText(".message.agent", "9000")
	w.gone(".composer .stop")
	w.reload()
	w.await(`(document.querySelector(".timeline")?.scrollTo(0, 0), document.querySelector(".fold-title")) !== null`)
	w.unfold("seq 1 9000")
	w.seeText("pre.output", "9000")
	require.NotContains(t, eval[string](w, `document.querySelector("pre.output").textContent.slice(0, 5)`), "1\n2")
	eval[bool](w, `(document.querySelector(".command ~ .truncated button").click(), true)`)
	w.await(`document.querySelector("pre.output").textContent.startsWith("1\n2\n")`)
	w.gone(".command ~ .truncated")
	w.requireNoProblems()
}
