package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestHandmadeRolloutsHaveExpectedHistory reads, lists and resumes the rollouts. The expected
// history is in a file beside each.
func TestHandmadeRolloutsHaveExpectedHistory(t *testing.T) {
	t.Parallel()
	home := apptest.NewProvider(t).Home(t)
	ids := apptest.PutRollouts(t, home)
	c := apptest.StartServer(t, home)
	c.Initialize()
	listed := c.CallJSON("thread/list",
		apptest.Object{"modelProviders": []string{}, "sourceKinds": []string{"cli", "exec", "vscode", "unknown"}})
	for name, id := range ids {
		read := c.CallJSON("thread/read", apptest.Object{"threadId": id, "includeTurns": true}).Get("thread")
		entry := listed.Get(fmt.Sprintf(`data.#(id==%q)`, id))
		require.Equal(t, read.Get("preview").Str, entry.Get("preview").Str, name)
		require.Equal(t, read.Get("gitInfo").Raw, entry.Get("gitInfo").Raw, name)
		compareGolden(t, apptest.Root("test/apptest/testdata/rollouts", name+".golden"), historyText(read))

		resumed := c.CallJSON("thread/resume",
			apptest.Object{"threadId": id, "model": "test", "modelProvider": "test"}).Get("thread")
		require.Equal(t, read.Get("turns").Raw, resumed.Get("turns").Raw, name)
		items := c.CallJSON("thread/items/list", apptest.Object{"threadId": id, "limit": 1000}).Get("data.#.item")
		require.ElementsMatch(t, rawItems(read.Get("turns.#.items|@flatten")), rawItems(items), name)
	}
	c.Close()
}

func rawItems(list gjson.Result) (raw []string) {
	for _, item := range list.Array() {
		raw = append(raw, item.Raw)
	}
	return raw
}

// historyText formats a thread with a line for each turn and item.
func historyText(thread gjson.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "preview %s\ngit %s\n", thread.Get("preview").Raw, thread.Get("gitInfo").Raw)
	for _, turn := range thread.Get("turns").Array() {
		fmt.Fprintf(&b, "turn %s %s %s\n", turn.Get("id").Str, turn.Get("status").Str, turn.Get("error").Raw)
		for _, item := range turn.Get("items").Array() {
			fmt.Fprintf(&b, "  %s\n", item.Raw)
		}
	}
	return b.String()
}

func compareGolden(t testing.TB, path, got string) {
	t.Helper()
	if *apptest.Update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, path)
}
