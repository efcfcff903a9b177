package transcript_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/lineref"
	"appserver/core/pure/snapshot"
	"appserver/core/pure/snapshot/snapshottest"
	"appserver/core/pure/transcript"
)

// messages are the lines of the messages of addTurns. A line has the number of its position.
type messages struct{}

// Payload returns a message. A thousand turns later, another one has its id.
func (messages) Payload(n int) json.RawMessage {
	turn := n / 10
	return fmt.Appendf(nil, `{"turn_id":"t-%d","item":{"type":"UserMessage","id":"i-%d","content":[]}}`, turn, turn%1000)
}

var source = lineref.NewSource(messages{})

// addTurns adds turns with a message each. The position of the first one is ten times its number.
func addTurns(tr *transcript.Transcript, first, end int) {
	for i := first; i < end; i++ {
		tr.Started(line(int64(10*i), fmt.Sprintf(`{"turn_id":"t-%d"}`, i)))
		tr.ItemCompleted(&transcript.Line{Ordinal: int64(10*i + 1), Ref: lineref.Ref{
			Raw: messages{}.Payload(10*i + 1), Source: source, Line: int32(10*i + 1), Part: lineref.Whole}})
		tr.Completed(line(int64(10*i+2), fmt.Sprintf(`{"turn_id":"t-%d"}`, i)))
	}
}

func again(t *testing.T, tr *transcript.Transcript) *transcript.Transcript {
	t.Helper()
	read := &transcript.Transcript{}
	snapshottest.Copy(t, tr.WriteSnapshot, func(r *snapshot.Reader) { read.ReadSnapshot(r, source) })
	return read
}

// TestALongTranscriptContinuesFromASnapshot has the turns of a transcript of all lines, after turns were removed and
// others came in their place.
func TestALongTranscriptContinuesFromASnapshot(t *testing.T) {
	whole, part := &transcript.Transcript{}, &transcript.Transcript{}
	addTurns(whole, 0, 3000)
	addTurns(part, 0, 2000)
	part = again(t, part)
	addTurns(part, 2000, 3000)
	for _, tr := range []*transcript.Transcript{whole, part} {
		tr.Revert(1500, 15000)
		addTurns(tr, 4000, 4100)
		addTurns(tr, 1700, 1710)
	}
	for _, part := range []*transcript.Transcript{part, again(t, part)} {
		require.Equal(t, whole.TurnCount(), part.TurnCount())
		require.Equal(t, whole.EventCount(), part.EventCount())
		for i := range whole.EventCount() {
			require.Equal(t, whole.Event(i), part.Event(i))
		}
		for i := range whole.TurnCount() {
			require.Equal(t, whole.Turn(i).View(), part.Turn(i).View())
			require.Equal(t, whole.Turn(i).ID, part.TurnID(i))
			index, found := part.IndexOf(whole.Turn(i).ID)
			require.True(t, found)
			require.Equal(t, i, index)
		}
		requireLastItems(t, part)
		for _, id := range []string{"t-1500", "t-2999", "t-5000", ""} {
			_, found := part.IndexOf(id)
			require.False(t, found, id)
		}
	}
}

// requireLastItems requires that each item is found as the last one with its id, in its turn and in all.
func requireLastItems(t *testing.T, tr *transcript.Transcript) {
	t.Helper()
	last := map[string]int{}
	for i := range tr.EventCount() {
		if e := tr.Event(i); e.Item >= 0 {
			id := tr.ItemAt(e).ID()
			last[id] = i
			event, found := tr.LastItem(int(e.Turn), id)
			require.True(t, found)
			require.Equal(t, i, event)
		}
	}
	for id, i := range last {
		event, found := tr.LastItem(transcript.None, id)
		require.True(t, found)
		require.Equal(t, i, event)
	}
	_, found := tr.LastItem(transcript.None, "unknown")
	require.False(t, found)
}
