package core_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/protocol"
)

// threeTurns returns a thread of three turns. The second one has no messages of the agent.
func threeTurns(t *testing.T) *machine {
	m := newMachine(t.Errorf)
	for _, line := range []string{
		`start`, `turn-start "one"`, `piece text "1"`, `sample-done run="true"`, `tool-done exit=0 output="ok"`,
		`piece text "1, done"`, `sample-done`,
		`turn-start "two"`, `interrupt`, `sample-failed "canceled"`,
		`turn-start "three"`, `piece reasoning "hm"`, `piece text "3"`, `sample-done`,
	} {
		_, err := runBlock(m, line)
		require.NoError(t, err, line)
	}
	return m
}

func asked[T any](t *testing.T, m *machine, in core.Input) T {
	t.Helper()
	out := m.take(in)
	require.IsType(t, core.Reply{}, out.Messages[0])
	return out.Messages[0].(core.Reply).Result.(T)
}

// TestPagesAreTheWhole reads all pages in both directions, and back from each.
func TestPagesAreTheWhole(t *testing.T) {
	m := threeTurns(t)
	turns := m.thread.View(true).Turns
	var items []string
	for _, turn := range turns {
		for _, item := range turn.Items {
			items = append(items, turn.ID+" "+item.ItemID())
		}
	}
	for limit := uint32(1); limit < 10; limit++ {
		for _, ascending := range []bool{true, false} {
			require.Equal(t, inDirection(turns, ascending), turnPages(t, m, limit, ascending), "%d turns a page", limit)
			require.Equal(t, inDirection(items, ascending), itemPages(t, m, limit, ascending), "%d items a page", limit)
		}
	}
}

func inDirection[T any](list []T, ascending bool) []T {
	list = slices.Clone(list)
	if !ascending {
		slices.Reverse(list)
	}
	return list
}

func turnPages(t *testing.T, m *machine, limit uint32, ascending bool) (turns []protocol.Turn) {
	in := core.ListTurns{To: m.caller(), Limit: &limit, Ascending: ascending, ItemsView: protocol.ItemsFull}
	for {
		page := asked[protocol.ThreadTurnsListResponse](t, m, in)
		turns = append(turns, page.Data...)
		back := asked[protocol.ThreadTurnsListResponse](t, m,
			core.ListTurns{To: m.caller(), Cursor: page.BackwardsCursor, Ascending: !ascending, ItemsView: protocol.ItemsFull})
		require.Equal(t, page.Data[0], back.Data[0])
		if page.NextCursor == nil {
			return turns
		}
		in.To, in.Cursor = m.caller(), page.NextCursor
	}
}

func itemPages(t *testing.T, m *machine, limit uint32, ascending bool) (items []string) {
	in := core.ListItems{To: m.caller(), Limit: &limit, Descending: !ascending}
	for {
		page := asked[protocol.ThreadItemsListResponse](t, m, in)
		for _, entry := range page.Data {
			items = append(items, entry.TurnID+" "+entry.Item.ItemID())
		}
		back := asked[protocol.ThreadItemsListResponse](t, m,
			core.ListItems{To: m.caller(), Cursor: &protocol.ThreadItemCursor{Page: *page.BackwardsCursor},
				Descending: ascending})
		require.Equal(t, page.Data[0], back.Data[0])
		if page.NextCursor == nil {
			return items
		}
		in.To, in.Cursor = m.caller(), &protocol.ThreadItemCursor{Page: *page.NextCursor}
	}
}

// TestItemsOfATurn lists the items of one turn only, from the begin and from an item on.
func TestItemsOfATurn(t *testing.T) {
	m := threeTurns(t)
	turns := m.thread.View(true).Turns
	for _, turn := range turns {
		page := asked[protocol.ThreadItemsListResponse](t, m, core.ListItems{To: m.caller(), Turn: &turn.ID})
		require.Len(t, page.Data, len(turn.Items))
		for i, item := range turn.Items {
			anchor := &protocol.ThreadItemCursor{ItemID: item.ItemID()}
			rest := asked[protocol.ThreadItemsListResponse](t, m, core.ListItems{To: m.caller(), Turn: &turn.ID, Cursor: anchor})
			require.Equal(t, page.Data[i+1:], rest.Data)
			before := asked[protocol.ThreadItemsListResponse](t, m,
				core.ListItems{To: m.caller(), Turn: &turn.ID, Cursor: anchor, Descending: true})
			require.Len(t, before.Data, i)
		}
	}
	page := asked[protocol.ThreadItemsListResponse](t, m, core.ListItems{To: m.caller(), Turn: new("nowhere")})
	require.Equal(t, protocol.ThreadItemsListResponse{Data: []protocol.ThreadItemEntry{}}, page)
}

// TestTurnsHaveTheRequestedItems expects the user's first message and the agent's last by default.
func TestTurnsHaveTheRequestedItems(t *testing.T) {
	m := threeTurns(t)
	for view, want := range map[string][]int{"": {2, 1, 2}, protocol.ItemsSummary: {2, 1, 2},
		protocol.ItemsFull: {3, 1, 4}, protocol.ItemsNotLoaded: {0, 0, 0}} {
		page := asked[protocol.ThreadTurnsListResponse](t, m, core.ListTurns{To: m.caller(), ItemsView: view})
		var got []int
		for _, turn := range page.Data {
			got = append(got, len(turn.Items))
		}
		require.Equal(t, want, got, view)
	}
}

func TestCursorsOfOtherListsAreRefused(t *testing.T) {
	m := threeTurns(t)
	turns := asked[protocol.ThreadTurnsListResponse](t, m, core.ListTurns{To: m.caller()})
	items := asked[protocol.ThreadItemsListResponse](t, m, core.ListItems{To: m.caller()})
	for i, in := range []core.Input{
		core.ListTurns{To: m.caller(), Cursor: new("")}, core.ListTurns{To: m.caller(), Cursor: new("junk")},
		core.ListTurns{To: m.caller(), Cursor: items.BackwardsCursor},
		core.ListItems{To: m.caller(), Cursor: &protocol.ThreadItemCursor{Page: "junk"}},
		core.ListItems{To: m.caller(), Cursor: &protocol.ThreadItemCursor{Page: *turns.BackwardsCursor}},
		core.ListItems{To: m.caller(), Cursor: &protocol.ThreadItemCursor{ItemID: "x"}},
		core.ListItems{To: m.caller(), Cursor: &protocol.ThreadItemCursor{ItemID: "x"}, Turn: new("nowhere")},
		core.ListItems{To: m.caller(), Cursor: &protocol.ThreadItemCursor{ItemID: "x"}, Turn: &turns.Data[0].ID},
	} {
		require.IsType(t, core.Refusal{}, m.take(in).Messages[0], fmt.Sprint(i))
	}
}
