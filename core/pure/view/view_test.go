package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/pure/view"
	"appserver/protocol"
)

// conversation returns turns u-1 to u-n, each with a message of the user and one of the agent.
func conversation(turns int) *diary {
	d := newDiary()
	for range turns {
		d.begin()
		d.addItem("UserMessage", d.turns)
		d.addItem("AgentMessage", d.turns)
		d.end()
	}
	return d
}

func Example() {
	thread := conversation(3).thread()
	q := view.TurnsQuery{Limit: new(uint32(2))}
	for {
		page, err := thread.TurnsPage(q)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, turn := range page.Data {
			fmt.Println(turn.ID, turn.Status, len(turn.Items))
		}
		if page.NextCursor == nil {
			return
		}
		q.Cursor = page.NextCursor
	}
	// Output:
	// u-3 completed 2
	// u-2 completed 2
	// u-1 completed 2
}

// TestItemsPagesContinueAfterNewLines reads items in both directions while turns are added.
func TestItemsPagesContinueAfterNewLines(t *testing.T) {
	for _, descending := range []bool{false, true} {
		d := conversation(3)
		q := view.ItemsQuery{Limit: new(uint32(1)), Descending: descending, Turn: new("u-2")}
		var ids []string
		for more := true; more; {
			page, err := d.thread().ItemsPage(q)
			require.Nil(t, err)
			for _, e := range page.Data {
				require.Equal(t, "u-2", e.TurnID)
				ids = append(ids, e.Item.ItemID())
			}
			d.begin()
			more = page.NextCursor != nil
			if more {
				q.Cursor = &protocol.ThreadItemCursor{Page: *page.NextCursor}
			}
		}
		want := []string{"i-5", "i-6"}
		if descending {
			want = []string{"i-6", "i-5"}
		}
		require.Equal(t, want, ids)
	}
}

func TestAnUnfinishedTurnIsActiveFailedOrInterrupted(t *testing.T) {
	d := conversation(1)
	d.begin()
	d.addItem("UserMessage", 2)
	thread := d.thread()
	require.Equal(t, protocol.TurnInterrupted, thread.Turns()[1].Status)

	thread.Failed, thread.Failure = "u-2", &protocol.TurnError{Message: "no space"}
	require.Equal(t, protocol.TurnFailed, thread.Turns()[1].Status)
	require.Equal(t, "no space", thread.Turns()[1].Error.Message)

	thread.Failed, thread.Active = "", "u-2"
	thread.OpenItems = func() []protocol.ThreadItem {
		return []protocol.ThreadItem{{ThreadItemVariant: &protocol.PlanItem{ID: "open"}}}
	}
	active := thread.Turns()[1]
	require.Equal(t, protocol.TurnInProgress, active.Status)
	require.Len(t, active.Items, 2)
	require.Equal(t, "open", active.Items[1].ItemID())
	require.Len(t, thread.Turns()[0].Items, 2)
}

func TestLastCursorsBeginAtTheEnd(t *testing.T) {
	turn, item := newDiary().thread().LastCursors()
	require.Nil(t, turn)
	require.Nil(t, item)

	thread := conversation(2).thread()
	turn, item = thread.LastCursors()
	turns, err := thread.TurnsPage(view.TurnsQuery{Cursor: turn})
	require.Nil(t, err)
	require.Equal(t, "u-2", turns.Data[0].ID)
	items, err := thread.ItemsPage(view.ItemsQuery{Cursor: &protocol.ThreadItemCursor{Page: *item}, Descending: true})
	require.Nil(t, err)
	require.Equal(t, "i-6", items.Data[0].Item.ItemID())
}

func TestCursorsOfOtherThreadsAndListsAreRejected(t *testing.T) {
	d := conversation(2)
	turn, item := d.thread().LastCursors()
	other := d.thread()
	other.ID = "t-2"
	_, err := other.TurnsPage(view.TurnsQuery{Cursor: turn})
	require.NotNil(t, err)
	_, err = d.thread().TurnsPage(view.TurnsQuery{Cursor: item})
	require.NotNil(t, err)
	_, err = d.thread().ItemsPage(view.ItemsQuery{Cursor: &protocol.ThreadItemCursor{Page: *turn}})
	require.NotNil(t, err)
	_, err = other.TimelinePage(nil, view.TimelineQuery{Cursor: turn})
	require.NotNil(t, err)
	require.True(t, strings.HasPrefix(err.Message, "invalid thread timeline cursor: "), err.Message)
}

func TestCheckpointsPagesAreNewestFirst(t *testing.T) {
	ids := []string{"a", "b", "c"}
	find := func(id string) int { return strings.Index("abc", id) }
	id := func(i int) string { return ids[i] }
	thread := newDiary().thread()
	page, next, err := thread.CheckpointsPage(len(ids), find, id, nil, new(uint32(2)))
	require.Nil(t, err)
	require.Equal(t, []int{2, 1}, page)
	page, next, err = thread.CheckpointsPage(len(ids), find, id, next, nil)
	require.Nil(t, err)
	require.Equal(t, []int{0}, page)
	require.Nil(t, next)
}

func TestOccurrencesHaveRangesInUTF16(t *testing.T) {
	d := newDiary()
	d.begin()
	d.line(func(l *line) { d.ItemCompleted(l) },
		`{"turn_id":"u-1","item":{"type":"UserMessage","id":"i","content":[{"type":"text","text":"😀 Straße, STRASSE"}]}}`)
	page, err := d.thread().OccurrencesPage(view.OccurrencesQuery{Term: "strasse", Limit: new(uint32(1))})
	require.Nil(t, err)
	require.Equal(t, protocol.ThreadSearchTextRange{Start: 3, End: 9}, page.Data[0].SnippetMatchRange)
	require.NotNil(t, page.NextCursor)
	rest, err := d.thread().OccurrencesPage(view.OccurrencesQuery{Term: "strasse", Cursor: page.NextCursor})
	require.Nil(t, err)
	require.Equal(t, protocol.ThreadSearchTextRange{Start: 11, End: 18}, rest.Data[0].SnippetMatchRange)
	require.Nil(t, rest.NextCursor)
	_, err = d.thread().OccurrencesPage(view.OccurrencesQuery{Term: "other", Cursor: page.NextCursor})
	require.NotNil(t, err)
}
