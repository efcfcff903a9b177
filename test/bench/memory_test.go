package bench

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/core/effects/memory"
	"appserver/test/apptest"
)

// remembered fills a home with memories of a directory.
func remembered(b *testing.B, home, dir string, n int) {
	b.Helper()
	store := memory.Open(memory.Options{Home: home})
	rows := make([]memory.Row, n)
	for i := range rows {
		rows[i] = memory.Row{RepoKey: dir, SessionID: fmt.Sprintf("session-%d", i/10), TS: time.Now().UnixMilli(),
			Kind:  memory.Summary,
			Title: fmt.Sprintf("Work on part %d of the parser", i),
			Text: fmt.Sprintf("The user asked for part %d. The port of service %d is %d. Tests of package p%d failed at first, and the lock in file%d.go was the reason.",
				i, i, 1024+i, i%97, i)}
	}
	require.NoError(b, store.Append(b.Context(), rows))
	require.NoError(b, store.Close())
}

// BenchmarkReminder measures what reminding costs a turn: the time of a turn that does
// nothing without and with it, and how long the message is.
func BenchmarkReminder(b *testing.B) {
	for _, n := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("memories=%d", n), func(b *testing.B) {
			home := b.TempDir()
			var args []string
			if n > 0 {
				remembered(b, home, "/", n)
				args = []string{"-c", "memory.inject=true"}
			}
			c := apptest.StartOffline(b, home, args...)
			thread := c.StartThread(apptest.Object{"cwd": "/"})
			c.Turn(thread, "warm")
			i := 0
			for b.Loop() {
				i++
				c.Turn(thread, fmt.Sprintf("Which port has service %d, and why did its tests fail?", i%max(n, 1)))
				c.Seen = nil
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N), "ms")
			if n > 0 {
				text := c.ContextList(thread).Items[1].Preview
				require.Contains(b, text, "[memory:summary")
			}
			b.ReportMetric(float64(reminderLength(c, thread)), "characters")
		})
	}
}

func reminderLength(c *apptest.Client, thread string) (n int) {
	for _, raw := range apptest.PromptOf(c, thread) {
		if text := gjson.Get(raw, "content").Str; strings.HasPrefix(text, "[memory:summary v1 |") {
			n += utf8.RuneCountInString(text)
		}
	}
	return n
}
