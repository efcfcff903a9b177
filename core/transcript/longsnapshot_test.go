package transcript_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/lineref"
	"appserver/core/snapshot"
	"appserver/core/snapshot/snapshottest"
	"appserver/core/transcript"
)

// addTurns adds turns with a message each. The position of the first one is ten times its number.
func addTurns(tr *transcript.Transcript, first, end int) {
	for i := first; i < end; i++ {
		tr.Started(line(int64(10*i), fmt.Sprintf(`{"turn_id":"t-%d"}`, i)))
		tr.ItemCompleted(line(int64(10*i+1),
			fmt.Sprintf(`{"turn_id":"t-%d","item":{"type":"UserMessage","id":"i-%d","content":[]}}`, i, i)))
		tr.Completed(line(int64(10*i+2), fmt.Sprintf(`{"turn_id":"t-%d"}`, i)))
	}
}

func again(t *testing.T, tr *transcript.Transcript) *transcript.Transcript {
	t.Helper()
	read := &transcript.Transcript{}
	snapshottest.Copy(t, tr.WriteSnapshot, func(r *snapshot.Reader) { read.ReadSnapshot(r, lineref.NewSource(nil)) })
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
		for _, id := range []string{"t-1500", "t-2999", "t-5000", ""} {
			_, found := part.IndexOf(id)
			require.False(t, found, id)
		}
	}
}
