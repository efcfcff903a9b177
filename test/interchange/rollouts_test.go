//go:build reference

package interchange

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// shownHereOnly are types of items that the reference does not show from events, which only some of
// its versions wrote.
const shownHereOnly = "commandExecution imageView dynamicToolCall collabAgentToolCall sleep"

// TestReferenceShowsTheSameRollouts compares turns, items, previews and list entries of the
// handmade rollouts.
func TestReferenceShowsTheSameRollouts(t *testing.T) {
	x := newInterchange(t)
	ids := apptest.PutRollouts(t, x.home)
	c := x.ours()
	ours := shownThreads(c, ids)
	c.Close()
	c = x.reference()
	for _, id := range ids {
		// Before a resume, it does not show paginated threads.
		c.Call("thread/resume", apptest.Object{"threadId": id, "cwd": x.project})
	}
	theirs := shownThreads(c, ids)
	c.Close()
	for name := range ids {
		requireSameHistory(t, name, theirs[name], ours[name])
	}
}

// shownThread is a thread in the list, and the same thread read with turns.
type shownThread struct{ entry, read gjson.Result }

func shownThreads(c *apptest.Client, ids map[string]string) map[string]shownThread {
	c.T.Helper()
	shown := map[string]shownThread{}
	list := c.CallJSON("thread/list",
		apptest.Object{"modelProviders": []string{}, "sourceKinds": []string{"cli", "exec", "vscode", "unknown"}})
	for name, id := range ids {
		shown[name] = shownThread{
			entry: list.Get(`data.#(id=="` + id + `")`),
			read:  c.CallJSON("thread/read", apptest.Object{"threadId": id, "includeTurns": true}).Get("thread"),
		}
	}
	return shown
}

func requireSameHistory(t *testing.T, name string, theirs, ours shownThread) {
	t.Helper()
	for _, member := range []string{"preview", "gitInfo", "cliVersion", "forkedFromId"} {
		require.Equal(t, withoutNulls(theirs.entry.Get(member)), withoutNulls(ours.entry.Get(member)), "%s: list: %s", name,
			member)
		require.Equal(t, withoutNulls(theirs.read.Get(member)), withoutNulls(ours.read.Get(member)), "%s: %s", name, member)
	}
	want, got := theirs.read.Get("turns").Array(), ours.read.Get("turns").Array()
	require.Len(t, got, len(want), name)
	for i := range want {
		// If no line has the id of a turn, the servers derive different ids.
		if id := want[i].Get("id").Str; !strings.HasPrefix(id, "rollout-") {
			require.Equal(t, id, got[i].Get("id").Str, name)
		}
		for _, member := range []string{"status", "error", "completedAt", "durationMs"} {
			require.Equal(t, withoutNulls(want[i].Get(member)), withoutNulls(got[i].Get(member)), "%s: turn %d: %s", name, i,
				member)
		}
		require.Equal(t, commonItems(want[i], nil), commonItems(got[i], commonItems(want[i], nil)), "%s: turn %d", name, i)
	}
}

// commonItems returns the items of a turn, without those that only this server shows and that are
// not in among. The servers' texts for a review without a result differ.
func commonItems(turn gjson.Result, among []any) (items []any) {
	for _, item := range turn.Get("items").Array() {
		plain := withoutNulls(item)
		if item.Get("type").Str == "exitedReviewMode" {
			delete(plain.(map[string]any), "review")
		}
		if among != nil && strings.Contains(shownHereOnly, item.Get("type").Str) && !contains(among, plain) {
			continue
		}
		items = append(items, plain)
	}
	return items
}

func contains(list []any, item any) bool {
	for _, other := range list {
		if id := other.(map[string]any)["id"]; id == item.(map[string]any)["id"] {
			return true
		}
	}
	return false
}

// withoutNulls removes members that are null.
func withoutNulls(value gjson.Result) any {
	var v any
	if value.Exists() && json.Unmarshal([]byte(value.Raw), &v) != nil {
		return value.Raw
	}
	return dropNulls(v)
}

func dropNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if member == nil {
				delete(v, key)
			} else {
				v[key] = dropNulls(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = dropNulls(v[i])
		}
	}
	return v
}
