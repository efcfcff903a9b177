package transcript_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/lineref"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

func line(ordinal int64, payload string) *transcript.Line {
	return &transcript.Line{Ordinal: ordinal, Ref: lineref.Ref{Raw: json.RawMessage(payload), Part: lineref.Whole}}
}

// oneTurn returns a turn with a message of each side, on lines 0 to 3.
func oneTurn() *transcript.Transcript {
	t := &transcript.Transcript{}
	t.Started(line(0, `{"turn_id":"t-1","started_at":7,"model_context_window":1000}`))
	t.ItemCompleted(line(1,
		`{"turn_id":"t-1","item":{"type":"UserMessage","id":"i-1","content":[{"type":"text","text":"Hi"}]}}`))
	t.ItemCompleted(line(2,
		`{"turn_id":"t-1","item":{"type":"AgentMessage","id":"i-2","content":[{"type":"Text","text":"Ho"}]}}`))
	t.Completed(line(3, `{"turn_id":"t-1","completed_at":9,"duration_ms":2000}`))
	return t
}

func Example() {
	t := oneTurn()
	for i := range t.EventCount() {
		if e := t.Event(i); e.Item >= 0 {
			fmt.Println(e.Position, t.ItemAt(e).ID())
		} else {
			fmt.Println(e.Position, t.Turn(int(e.Turn)).ID, e.Item == transcript.TurnBegan)
		}
	}
	fmt.Println(t.Preview(), t.Last().Status)
	// Output:
	// 0 t-1 true
	// 1 i-1
	// 2 i-2
	// 3 t-1 false
	// Hi completed
}

func TestATurnHasTheTimesOfItsLines(t *testing.T) {
	v := oneTurn().Last().View()
	require.EqualValues(t, 7, *v.StartedAt)
	require.EqualValues(t, 9, *v.CompletedAt)
	require.EqualValues(t, 2000, *v.DurationMs)
	require.Len(t, oneTurn().Last().Summary(), 2)
}

func TestASummaryHasTheFirstMessageOfTheUserAndTheLastOfTheAgent(t *testing.T) {
	tr := oneTurn()
	for i, kind := range []string{"UserMessage", "AgentMessage", "UserMessage"} {
		tr.ItemCompleted(line(int64(4+i),
			fmt.Sprintf(`{"turn_id":"t-1","item":{"type":%q,"id":"more-%d","content":[]}}`, kind, i)))
	}
	summary := tr.Last().Summary()
	require.Len(t, summary, 2)
	require.Equal(t, "i-1", summary[0].ItemID())
	require.Equal(t, "more-1", summary[1].ItemID())
}

func TestAnItemJoinsTheTurnThatItNames(t *testing.T) {
	tr := oneTurn()
	tr.Started(line(4, `{"turn_id":"t-2"}`))
	tr.ItemCompleted(line(5, `{"turn_id":"t-1","item":{"type":"Reasoning","id":"i-3"}}`))
	require.Len(t, tr.Turn(0).Items(), 3)
	require.Empty(t, tr.Turn(1).Items())
	require.Equal(t, 5, tr.EventFrom(5))
}

func TestAnItemWithoutATurnBeginsOne(t *testing.T) {
	tr := &transcript.Transcript{}
	tr.ItemCompleted(line(4, `{"item":{"type":"Reasoning","id":"i-1"}}`))
	require.Equal(t, "rollout-4", tr.Last().ID)
}

func TestATakenTurnIDIsReplaced(t *testing.T) {
	tr := oneTurn()
	tr.Started(line(4, `{"turn_id":"t-1"}`))
	require.Equal(t, "rollout-4", tr.Last().ID)
}

func TestARevertRemovesTurnsAndTheirMessages(t *testing.T) {
	tr := oneTurn()
	tr.Started(line(4, `{"turn_id":"t-2"}`))
	tr.ItemCompleted(line(5, `{"turn_id":"t-2","item":{"type":"UserMessage","id":"i-3","content":[]}}`))
	require.Equal(t, 3, tr.MessagesBefore(100))
	tr.Revert(1, 4)
	require.Equal(t, 1, tr.TurnCount())
	require.Equal(t, 2, tr.MessagesBefore(100))
	_, found := tr.IndexOf("t-2")
	require.False(t, found)
	require.Equal(t, 4, tr.EventCount())
}

// TestFilesWithoutItemEventsHaveTheSameTurns applies the events of an older version.
func TestFilesWithoutItemEventsHaveTheSameTurns(t *testing.T) {
	tr := &transcript.Transcript{}
	shown := tr.LegacyEvent(protocol.EventUserMessage, line(0, `{"type":"user_message","message":"Hi"}`))
	require.Equal(t, "item-1", shown.ItemID)
	tr.LegacyEvent(protocol.EventAgentReasoning, line(1, `{"type":"agent_reasoning","text":"first"}`))
	tr.LegacyEvent(protocol.EventAgentReasoning, line(2, `{"type":"agent_reasoning","text":"second"}`))
	tr.LegacyEvent(protocol.EventAgentMessage, line(3, `{"type":"agent_message","message":"Ho"}`))
	items := tr.Last().Items()
	require.Len(t, items, 3)
	require.Equal(t, []string{"first", "second"},
		items[1].ThreadItem().ThreadItemVariant.(*protocol.ReasoningItem).Summary)
	require.Equal(t, "Ho", items[2].ThreadItem().ThreadItemVariant.(*protocol.AgentMessageItem).Text)
}
