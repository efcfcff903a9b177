package e2e

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// orderedID returns the id of the n-th thread of a home with update times.
func orderedID(n int) string { return fmt.Sprintf("0190a6f8-1111-7aaa-8bbb-%012d", n) }

// putUpdated writes the n-th thread. Its last line has the time last.
func putUpdated(t *testing.T, home string, n int, last time.Time) string {
	t.Helper()
	line := func(at time.Time, text string) string {
		return fmt.Sprintf(`{"timestamp":%q,%s}`+"\n", at.UTC().Format(time.RFC3339), text)
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return apptest.PutRollout(t, home, orderedID(n),
		line(begin, `"type":"session_meta","payload":{"id":"`+orderedID(n)+
			`","cwd":"/","source":"cli","model_provider":"offline"}`)+
			line(begin, `"type":"event_msg","payload":{"type":"user_message","message":"hello"}`)+
			line(last, `"type":"event_msg","payload":{"type":"agent_message","message":"hi"}`))
}

// TestUpdatedOrderEqualsListedTimes compares the order by updated_at with the updatedAt of the
// list, for files with other modification times, with and without the index.
func TestUpdatedOrderEqualsListedTimes(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	for _, enabled := range []string{"true", "false"} {
		t.Run("index "+enabled, func(t *testing.T) {
			home, base := t.TempDir(), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
			days := []int{3, 1, 4, 0, 2}
			var paths []string
			for n, day := range days {
				path := putUpdated(t, home, n, base.AddDate(0, 0, day))
				modified := base.AddDate(1, 0, -day)
				require.NoError(t, os.Chtimes(path, modified, modified))
				paths = append(paths, path)
			}
			c := apptest.StartOffline(t, home, "-c", "index.enabled="+enabled)
			requireUpdatedOrder(t, c, []int{2, 0, 4, 1, 3}, "before the index")
			for enabled == "true" &&
				!gjson.GetBytes(c.Call("thread/search", apptest.Object{"searchTerm": "hello"}), "complete").Bool() {
				continue
			}
			requireUpdatedOrder(t, c, []int{2, 0, 4, 1, 3}, "first")
			require.NoError(t, os.Chtimes(paths[3], time.Now(), time.Now()))
			requireUpdatedOrder(t, c, []int{2, 0, 4, 1, 3}, "touched")
			putUpdated(t, home, 3, base.AddDate(0, 0, 9))
			requireUpdatedOrder(t, c, []int{3, 2, 0, 4, 1}, "after another last line")
			c.Close()
		})
	}
}

// requireUpdatedOrder lists all threads by updated_at in both directions, in pages and back from
// the last page.
func requireUpdatedOrder(t *testing.T, c *apptest.Client, want []int, step string) {
	t.Helper()
	for _, direction := range []string{"desc", "asc"} {
		var ids []string
		var shown []int64
		p := apptest.Object{"sortKey": "updated_at", "sortDirection": direction, "limit": 2, "modelProviders": []string{}}
		for {
			page := gjson.ParseBytes(c.Call("thread/list", p))
			for _, thread := range page.Get("data").Array() {
				ids, shown = append(ids, thread.Get("id").Str), append(shown, thread.Get("updatedAt").Int())
			}
			if p["cursor"] = page.Get("nextCursor").Str; p["cursor"] == "" {
				p["cursor"] = page.Get("backwardsCursor").Str
				break
			}
		}
		var ordered []string
		for _, n := range want {
			ordered = append(ordered, orderedID(n))
		}
		p["sortDirection"] = "asc"
		if direction == "asc" {
			slices.Reverse(ordered)
			slices.Reverse(shown)
			p["sortDirection"] = "desc"
		}
		require.Equal(t, ordered, ids, "%s, %s", step, direction)
		require.True(t, slices.IsSortedFunc(shown, func(a, b int64) int { return int(b - a) }), "%s, %s: %v", step, direction,
			shown)
		back := gjson.GetBytes(c.Call("thread/list", p), "data.#.id").Array()
		require.Len(t, back, 2, "%s, %s", step, direction)
		require.Equal(t, ids[4], back[0].Str, "%s, %s, back", step, direction)
		require.Equal(t, ids[3], back[1].Str, "%s, %s, back", step, direction)
	}
}
