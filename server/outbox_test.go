package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/protocol"
	"appserver/test/sample"
)

func textDelta(item, text string) *protocol.AgentMessageDeltaNotification {
	return &protocol.AgentMessageDeltaNotification{ThreadID: "t", TurnID: "u", ItemID: item, Delta: text}
}

func completed(item string) protocol.ItemCompletedNotification {
	return protocol.ItemCompletedNotification{
		ThreadID: "t", TurnID: "u",
		Item: protocol.ThreadItem{ThreadItemVariant: &protocol.ContextCompactionItem{ID: item}},
	}
}

// drainQueue encodes at most one chunk of the queue, as the writer does.
func drainQueue(t require.TestingT, o *outbox, e *encoder) {
	chunk, size, _ := o.tryNextChunk()
	for _, m := range chunk {
		require.NoError(t, m.encode(e))
	}
	o.written(size)
}

// heardLine holds the checked members of a notification.
type heardLine struct {
	Method string
	Params struct {
		ItemID, Delta, Message string
		Item                   struct{ ID string }
	}
}

func readLines(t require.TestingT, text []byte) []heardLine {
	var lines []heardLine
	for line := range bytes.Lines(text) {
		var l heardLine
		require.NoError(t, json.Unmarshal(line, &l))
		lines = append(lines, l)
	}
	return lines
}

// TestMergedDeltasLoseNothing queues deltas and other messages at random, while a client reads
// at random. Each item's text is complete before its item/completed, and all other messages
// keep their order.
func TestMergedDeltasLoseNothing(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		o, e := newOutbox(1<<20), newEncoder(nil)
		said := map[string]string{} // text since the last item/completed, by item
		var finals, wholes []string // in the order of the calls
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			item := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "item")
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				drainQueue(t, o, e)
			case 1:
				o.add(&queuedNotification{notification: completed(item), bytes: 1})
				finals = append(finals, "completed "+item)
				wholes = append(wholes, said[item])
				said[item] = ""
			case 2:
				message := fmt.Sprint("warning ", len(finals))
				o.add(&queuedNotification{notification: protocol.WarningNotification{Message: message}, bytes: 1})
				finals = append(finals, message)
			default:
				text := rapid.String().Draw(t, "text")
				o.addDelta(textDelta(item, text))
				said[item] += text
			}
		}
		for o.backlog() > 0 {
			drainQueue(t, o, e)
		}
		heard := map[string]string{}
		for _, l := range readLines(t, e.buf) {
			switch l.Method {
			case "item/agentMessage/delta":
				heard[l.Params.ItemID] += l.Params.Delta
			case "warning":
				require.Equal(t, finals[0], l.Params.Message)
				finals = finals[1:]
			case "item/completed":
				item := l.Params.Item.ID
				require.Equal(t, finals[0], "completed "+item)
				require.Equal(t, wholes[0], heard[item])
				finals, wholes, heard[item] = finals[1:], wholes[1:], ""
			}
		}
		require.Empty(t, finals)
		for item, text := range said {
			require.Equal(t, text, heard[item])
		}
		require.Empty(t, o.merging)
	})
}

// TestMergingSavesLines checks which deltas are merged.
func TestMergingSavesLines(t *testing.T) {
	o, e := newOutbox(1<<20), newEncoder(nil)
	o.addDelta(textDelta("a", "1"))
	o.addDelta(textDelta("b", "x"))
	o.addDelta(textDelta("a", "2"))
	o.add(&queuedNotification{notification: protocol.WarningNotification{Message: "w"}, bytes: 1})
	o.addDelta(textDelta("a", "3"))
	o.addDelta(&protocol.ReasoningTextDeltaNotification{ThreadID: "t", ItemID: "a", Delta: "r", ContentIndex: 1})
	o.addDelta(&protocol.ReasoningTextDeltaNotification{ThreadID: "t", ItemID: "a", Delta: "s", ContentIndex: 2})
	o.add(&queuedNotification{notification: completed("a"), bytes: 1})
	o.addDelta(textDelta("a", "4"))
	o.addDelta(textDelta("a", "5"))
	drainQueue(t, o, e)
	var got []string
	for _, l := range readLines(t, e.buf) {
		got = append(got, l.Params.ItemID+l.Params.Item.ID+l.Params.Message+":"+l.Params.Delta)
	}
	require.Equal(t, []string{"a:123", "b:x", "w:", "a:r", "a:s", "a:", "a:45"}, got)
}

// TestMergingIsLinear checks that the cost of many small deltas is linear.
func TestMergingIsLinear(t *testing.T) {
	const n = 100_000
	o, delta := newOutbox(1<<30), textDelta("a", "0123456789")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		o.addDelta(delta)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*n*len("0123456789")))
	require.Equal(t, entryOverhead+n*len("0123456789"), o.backlog())
}

func TestCongestion(t *testing.T) {
	o, e := newOutbox(4*entryOverhead), newEncoder(nil)
	for range 4 {
		o.add(&queuedNotification{notification: protocol.WarningNotification{}, bytes: entryOverhead})
	}
	require.Nil(t, o.congestion(), "full to the brim")
	o.add(&queuedNotification{notification: protocol.WarningNotification{}, bytes: 1})
	room := o.congestion()
	require.NotNil(t, room)
	o.written(2 * entryOverhead)
	require.Equal(t, room, o.congestion(), "not yet below half")
	o.written(entryOverhead)
	require.Nil(t, o.congestion())
	<-room

	o.addDelta(textDelta("a", "x"))
	o.addDelta(textDelta("a", strings.Repeat("x", 4*entryOverhead)))
	room = o.congestion()
	require.NotNil(t, room, "merged text counts")
	drainQueue(t, o, e)
	<-room
}

// TestChunks checks that the queue of a slow client is written in chunks, so that later deltas
// can still be merged.
func TestChunks(t *testing.T) {
	o := newOutbox(1 << 30)
	for range 3 {
		o.add(&queuedNotification{notification: protocol.WarningNotification{}, bytes: chunkBytes})
	}
	chunk, size, _ := o.tryNextChunk()
	require.Len(t, chunk, 1)
	require.Equal(t, chunkBytes, size)
	require.Equal(t, 3*chunkBytes, o.backlog(), "what is being written counts")
	o.written(size)
	require.Equal(t, 2*chunkBytes, o.backlog())
}

func TestLargeMessagesDoNotDelayReadyOnes(t *testing.T) {
	o := newOutbox(1 << 20)
	for _, size := range []int{100, 200, 2 * chunkBytes, 300} {
		o.add(&queuedNotification{notification: protocol.WarningNotification{}, bytes: size})
	}
	var sizes []int
	for range 3 {
		_, size := o.nextChunk()
		sizes = append(sizes, size)
	}
	require.Equal(t, []int{300, 2 * chunkBytes, 300}, sizes)
}

func TestClosedOutboxTakesNothing(t *testing.T) {
	o := newOutbox(1)
	o.add(&queuedNotification{notification: protocol.WarningNotification{}, bytes: 10})
	room := o.congestion()
	o.close()
	<-room
	o.add(&queuedNotification{notification: protocol.WarningNotification{}, bytes: 10})
	o.addDelta(textDelta("a", "x"))
	o.written(10)
	require.Zero(t, o.backlog())
	require.Nil(t, o.congestion())
	chunk, _ := o.nextChunk()
	require.Empty(t, chunk)
}
