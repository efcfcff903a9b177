package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// TestFloodDoesNotBlockOthers sends 2,000 requests to 200 threads and reads nothing. Another client
// is served meanwhile. Afterwards each request has one response, or an error with the reason, and
// each thread has served requests.
func TestFloodDoesNotBlockOthers(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const threads, busy, each = 200, 20, 10
	release := make(chan struct{})
	defer close(release)
	h := apptest.LaunchDaemon(t,
		apptest.ServerCommand(t, homeOfStreams(t, release), "--listen", shortAddress(t, "unix://"), "-c",
			"compat.turn_completed_floor_ms=0"), "")
	owner, flooder := h.ConnectInitialized(), h.ConnectInitialized()
	var ids []string
	turns := map[string]string{}
	for i := range threads {
		id := owner.StartThread(apptest.Object{})
		if ids = append(ids, id); i < busy {
			turns[id] = owner.BeginTurn(id, "stream")
		}
	}
	resume := flooder.StopReading()
	methods := []string{"thread/read", "context/getItems", "thread/name/set", "context/getUsage", "thread/turns/list"}
	for i := range threads * each {
		flooder.Send(apptest.Object{"id": i, "method": methods[i/threads%len(methods)],
			"params": apptest.Object{"threadId": ids[i%threads], "name": "n"}})
	}
	for _, id := range ids[:3] { // not more: the server disconnects who reads nothing for 10 s
		owner.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
		owner.Call("turn/interrupt", apptest.Object{"threadId": id, "turnId": turns[id]})
		untilEnd(owner.Client, turns[id], "interrupted")
	}

	resume()
	served, answered := map[string]int{}, map[int64]bool{}
	for len(answered) < threads*each {
		m := flooder.Next()
		if m.Method != "" {
			continue
		}
		n := gjson.ParseBytes(m.ID).Int()
		require.False(t, answered[n], "request %d has a second response", n)
		answered[n] = true
		if m.Error == nil {
			served[ids[n%threads]]++
			continue
		}
		require.Equal(t, -32001, m.Error.Code, m.Line)
		require.Contains(t, m.Error.Message, "retry later")
	}
	require.Len(t, served, threads)
	for _, id := range ids {
		require.Equal(t, "n", owner.ReadThread(id).Name)
	}
	h.Terminate()
}

// TestLargeResponsesAreBounded requests a large thread many times and reads nothing. Each request
// gets a response or an error, and few responses are buffered at a time.
func TestLargeResponsesAreBounded(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	const turns, requests = 8, 60
	h := apptest.LaunchDaemon(t, apptest.OfflineCommand(t, t.TempDir(), "--listen", shortAddress(t, "unix://")), "")
	owner, greedy := h.ConnectInitialized(), h.ConnectInitialized()
	id := owner.StartThread(apptest.Object{})
	for range turns {
		owner.Turn(id, strings.Repeat("x", 1<<20))
	}
	owner.Call("thread/read", apptest.Object{"threadId": id, "includeTurns": true})
	base := apptest.StatusKiB(t, h.Cmd.Process.Pid, "VmRSS:")
	resume := greedy.StopReading()
	for i := range requests {
		greedy.Send(apptest.Object{"id": i, "method": "thread/read",
			"params": apptest.Object{"threadId": id, "includeTurns": true}})
	}
	owner.Call("thread/read", apptest.Object{"threadId": id})
	require.Less(t, apptest.StatusKiB(t, h.Cmd.Process.Pid, "VmHWM:")-base, apptest.RaceFactor*256<<10,
		"KiB: sixty of 8 MiB are more")
	resume()
	served := 0
	for range requests {
		if m := greedy.Next(); m.Error == nil {
			served++
		} else {
			require.Equal(t, -32001, m.Error.Code, m.Line)
		}
	}
	require.Positive(t, served)
	require.Equal(t, turns, len(greedy.ReadThread(id).Turns), "the output was read")
	h.Terminate()
}
