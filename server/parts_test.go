package server

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// storedPlan is a plan that is read when it is encoded.
type storedPlan struct {
	text string
	err  error
}

// ItemID returns an id.
func (storedPlan) ItemID() string { return "p" }

// AppendJSON appends the plan, or returns the error.
func (s storedPlan) AppendJSON(b []byte) ([]byte, error) {
	if s.err != nil {
		return b, s.err
	}
	text, err := protocol.Marshal(protocol.ThreadItem{ThreadItemVariant: &protocol.PlanItem{ID: "p", Text: s.text}})
	return append(b, text...), err
}

// Release does nothing.
func (storedPlan) Release() {}

func storedResponse(plans ...storedPlan) (r protocol.ThreadReadResponse) {
	r.Thread.Source, r.Thread.Status.ThreadStatusVariant = []byte(`"cli"`), &protocol.StatusNotLoaded{}
	turn := protocol.Turn{ID: "t", ItemsView: protocol.ItemsFull}
	for _, p := range plans {
		turn.Items = append(turn.Items, protocol.ThreadItem{ThreadItemVariant: p})
	}
	r.Thread.Turns = []protocol.Turn{turn}
	return r
}

// countingWriter counts the writes, and fails after some.
type countingWriter struct {
	strings.Builder
	writes, failAfter int
}

var errGone = errors.New("the client has gone")

// Write keeps a text.
func (w *countingWriter) Write(b []byte) (int, error) {
	if w.writes++; w.failAfter > 0 && w.writes > w.failAfter {
		return 0, errGone
	}
	return w.Builder.Write(b)
}

func encodeStored(w *countingWriter, result any, b *batch) error {
	s := &stream{out: w, encoder: newEncoder(w)}
	s.encoder.text("{\"before\":1}\n")
	s.outgoing = &response{request: &request{id: []byte("7"), batch: b}, result: result}
	err := s.WriteObject(nil)
	if flushed := s.flush(); err == nil {
		err = flushed
	}
	return err
}

func TestALongResponseIsWrittenInParts(t *testing.T) {
	long := storedPlan{text: strings.Repeat("x", 300<<10)}
	w := &countingWriter{}
	require.NoError(t, encodeStored(w, storedResponse(long, long, long), nil))
	require.Equal(t, 4, w.writes)
	lines := strings.Split(w.String(), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, `{"before":1}`, lines[0])
	require.EqualValues(t, 7, gjson.Get(lines[1], "id").Int())
	require.EqualValues(t, 3, gjson.Get(lines[1], "result.thread.turns.0.items.#").Int())
	require.True(t, gjson.Valid(lines[1]))
	require.Less(t, estimate(storedResponse(long, long, long), 1<<20), 10_000)
}

func TestALongResponseInABatchIsWrittenAtItsEnd(t *testing.T) {
	long := storedPlan{text: strings.Repeat("x", 300<<10)}
	w := &countingWriter{}
	b := &batch{pending: 2}
	require.NoError(t, encodeStored(w, storedResponse(long, long), b))
	require.Equal(t, "{\"before\":1}\n", w.String())
	require.NoError(t, encodeStored(w, protocol.Empty{}, b))
	lines := strings.Split(w.String(), "\n")
	require.EqualValues(t, 2, gjson.Get(lines[2], "0.result.thread.turns.0.items.#").Int())
	require.Equal(t, "{}", gjson.Get(lines[2], "1.result").Raw)
}

func TestALongListIsWrittenInParts(t *testing.T) {
	list := protocol.ContextItemsNotification{Items: make([]protocol.ContextItem, 3000), RemovedIDs: []string{}}
	w := &countingWriter{}
	s := &stream{out: w, encoder: newEncoder(w)}
	s.outgoing = &queuedNotification{notification: list}
	require.NoError(t, s.WriteObject(nil))
	require.NoError(t, s.flush())
	require.Equal(t, 3, w.writes)
	want, err := protocol.Marshal(list)
	require.NoError(t, err)
	require.Equal(t, string(want), gjson.Get(w.String(), "params").Raw)
	require.Greater(t, estimate(list, 1<<20), 500_000, "the items are in memory")
}

func TestAFailedPartEndsTheResponse(t *testing.T) {
	long := storedPlan{text: strings.Repeat("x", 300<<10)}
	w := &countingWriter{failAfter: 1}
	require.ErrorIs(t, encodeStored(w, storedResponse(long, long, long), nil), errGone)
	require.Equal(t, 2, w.writes)
}

// TestUnreadableItemsAreAnErrorOrAreLeftOut reads items before and after the first part.
func TestUnreadableItemsAreAnErrorOrAreLeftOut(t *testing.T) {
	lost := storedPlan{err: protocol.Internal(protocol.KindStorage, "the disk failed")}
	converse(t, func(t *testing.T, p *peer) {
		p.initialize()
		for _, before := range []int{0, 300 << 10} {
			p.say(`{"id":1,"method":"thread/read","params":{"threadId":"t"}}`)
			require.Empty(t, p.hear())
			to := p.handler.held[len(p.handler.held)-1]
			p.server.Reply(to, storedResponse(storedPlan{text: strings.Repeat("x", before)}, lost))
			lines := p.hear()
			require.Len(t, lines, 1)
			require.Equal(t, before == 0, gjson.Get(lines[0], "error.data.kind").Str == "storage")
			if before > 0 {
				require.Equal(t, "notLoaded", gjson.Get(lines[0], "result.thread.turns.0.itemsView").Str)
			}
		}
		require.Len(t, p.logs.FilterMessage("response sent without some items").All(), 1)
		require.Len(t, p.logs.FilterMessage("message not sent").All(), 1)
	})
}
