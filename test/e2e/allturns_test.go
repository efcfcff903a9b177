package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// TestAllTurnsOfALongThreadAreThoseOfItsPages reads a thread whose responses are sent in parts, by a pipe and by
// a WebSocket, while it is loaded and while it is not. The pages of its turns are not sent in parts.
func TestAllTurnsOfALongThreadAreThoseOfItsPages(t *testing.T) {
	apptest.NeedsFiles(t, apptest.FilesLines)
	t.Parallel()
	home := apptest.ShortDir(t)
	const turns = 90
	id := apptest.LongRollout{Turns: turns, Output: 200, CompactEvery: 40}.Write(t, home)
	thread := apptest.Object{"threadId": id}
	c := apptest.StartOffline(t, home)
	page := c.Call("thread/turns/list",
		apptest.Object{"threadId": id, "limit": turns + 1, "sortDirection": "asc", "itemsView": "full"})
	want := gjson.GetBytes(page, "data").Raw
	require.Greater(t, len(want), 1<<20)
	of := func(response json.RawMessage) string { return gjson.GetBytes(response, "thread.turns").Raw }

	all := apptest.Object{"threadId": id, "includeTurns": true}
	require.JSONEq(t, want, of(c.Call("thread/read", all)), "not loaded")
	require.JSONEq(t, want, of(c.Call("thread/resume", thread)), "loaded for it")
	require.JSONEq(t, want, of(c.Call("thread/resume", thread)), "loaded before")
	require.JSONEq(t, want, of(c.Call("thread/read", all)), "loaded")
	c.Turn(id, "hello")
	after := c.Call("thread/read", all)
	require.Len(t, gjson.GetBytes(after, "thread.turns").Array(), turns+2)
	require.JSONEq(t, of(after), of(c.Call("thread/fork", thread)), "a fork")
	c.Close()

	w := apptest.StartDaemon(t, home, "unix://"+apptest.ShortDir(t)+"/s").ConnectInitialized()
	require.JSONEq(t, of(after), of(w.Call("thread/read", all)), "by a WebSocket")
}
