package workbench

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/stretchr/testify/require"
)

// streaming is how long TestHeapOfStreaming streams. 0 skips it.
var streaming = flag.Duration("stream", 0, "stream for this time, and print the heap of the page")

// TestHeapOfStreaming streams turn after turn, each of 1,800 deltas with Markdown in half a minute, and
// prints the heap after each. The budget is 120 MB after an hour.
func TestHeapOfStreaming(t *testing.T) {
	t.Parallel()
	if *streaming == 0 {
		t.Skip("make bench-hour runs it")
	}
	const deltasOfTurn, gapMs = 1800, 16 // shorter than the page shows of a text at first
	home := t.TempDir()
	deltas := make([]string, deltasOfTurn)
	for i := range deltas {
		deltas[i] = fmt.Sprintf("word%d ", i)
		if i%40 == 39 {
			deltas[i] = "`code`\n\n- "
		}
	}
	turns := int(*streaming/(deltasOfTurn*gapMs*time.Millisecond)) + 1
	steps := make([]any, turns)
	for i := range steps {
		text := append(deltas[:deltasOfTurn:deltasOfTurn], fmt.Sprintf("end%d.", i))
		steps[i] = map[string]any{"deltas": text, "gapMs": gapMs}
	}
	w := serve(t, home, "-c", "model_context_window=100000000", "-c", // a compaction would take a step
		"model_providers.offline.script="+writeScript(t, home, map[string]any{"steps": steps})).open(t)
	w.start(t.TempDir())
	began := time.Now()
	var heap float64
	for i := range turns {
		w.send("go")
		require.Eventually(t, func() bool {
			return eval[bool](w, fmt.Sprintf(
				`[...document.querySelectorAll(".message.agent")].some((e) => e.textContent.includes("end%d."))`, i))
		}, 5*time.Minute, time.Second)
		call(w, heapprofiler.CollectGarbage, cdp.Empty{})
		heap = w.metric("JSHeapUsedSize") / 1e6
		t.Logf("%s: %.1f MB, %.0f nodes", time.Since(began).Round(time.Second), heap, w.metric("Nodes"))
	}
	require.Less(t, heap, 120.0)
}
