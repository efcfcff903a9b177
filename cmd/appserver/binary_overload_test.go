package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// TestBinaryServesAFlood: a client asks 200 threads 2,000 things at once and reads nothing. Meanwhile
// another has all of them answered, and ends turns; then each request has one answer, or a refusal
// that tells why, and each thread has served.
func TestBinaryServesAFlood(t *testing.T) {
	t.Parallel()
	const threads, busy, each = 200, 20, 10
	release := make(chan struct{})
	defer close(release)
	h := launchHost(t, serverCommand(t, homeOfStreams(t, release), "--listen", short(t, "unix://"), "-c", "compat.turn_completed_floor_ms=0"), "")
	owner, flooder := h.welcome(), h.welcome()
	var ids []string
	turns := map[string]string{}
	for i := range threads {
		id := owner.startThread(object{})
		if ids = append(ids, id); i < busy {
			turns[id] = owner.beginTurn(id, "stream")
		}
	}
	resume := flooder.stopReading()
	methods := []string{"thread/read", "context/getItems", "thread/name/set", "context/getUsage", "thread/turns/list"}
	for i := range threads * each {
		flooder.send(object{"id": i, "method": methods[i/threads%len(methods)], "params": object{"threadId": ids[i%threads], "name": "n"}})
	}
	for i, id := range ids {
		owner.call("thread/read", object{"threadId": id, "includeTurns": true})
		if i < busy {
			owner.call("turn/interrupt", object{"threadId": id, "turnId": turns[id]})
			owner.untilEnd(turns[id], "interrupted")
		}
		owner.seen = nil
	}

	resume()
	served, answered := map[string]int{}, map[int64]bool{}
	for len(answered) < threads*each {
		m := flooder.next()
		if m.Method != "" {
			continue
		}
		n := gjson.ParseBytes(m.ID).Int()
		require.False(t, answered[n], "%d has a second answer", n)
		answered[n] = true
		if m.Error == nil {
			served[ids[n%threads]]++
			continue
		}
		require.Equal(t, -32001, m.Error.Code, m.line)
		require.Contains(t, m.Error.Message, "retry later")
	}
	require.Len(t, served, threads)
	for _, id := range ids {
		require.Equal(t, "n", owner.readThread(id).Name)
	}
	h.end()
}

// TestBinaryHoldsFewLargeAnswers: a client asks for a large thread again and again, and reads
// nothing. Each request has an answer or a refusal, and few answers wait at a time.
func TestBinaryHoldsFewLargeAnswers(t *testing.T) {
	t.Parallel()
	const turns, asked = 8, 60
	h := launchHost(t, offlineCommand(t, t.TempDir(), "--listen", short(t, "unix://")), "")
	owner, greedy := h.welcome(), h.welcome()
	id := owner.startThread(object{})
	for range turns {
		owner.turn(id, strings.Repeat("x", 1<<20))
	}
	owner.call("thread/read", object{"threadId": id, "includeTurns": true})
	base := statusKiB(t, h.cmd.Process.Pid, "VmRSS:")
	resume := greedy.stopReading()
	for i := range asked {
		greedy.send(object{"id": i, "method": "thread/read", "params": object{"threadId": id, "includeTurns": true}})
	}
	owner.call("thread/read", object{"threadId": id})
	require.Less(t, statusKiB(t, h.cmd.Process.Pid, "VmHWM:")-base, weight*256<<10, "KiB: sixty of 8 MiB are more")
	resume()
	served := 0
	for range asked {
		if m := greedy.next(); m.Error == nil {
			served++
		} else {
			require.Equal(t, -32001, m.Error.Code, m.line)
		}
	}
	require.Positive(t, served)
	require.Equal(t, turns, len(greedy.readThread(id).Turns), "it has read")
	h.end()
}
