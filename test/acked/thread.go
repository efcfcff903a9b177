package acked

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// Thread is the state of a thread that clients know.
type Thread struct {
	ID string
	// Items are the completed items by id, and those that were read.
	Items map[string]string
	// Turns are the known turns in order, TurnOf has the turn of each item, and Reverted are the turns
	// whose revert was acknowledged.
	Turns    []string
	TurnOf   map[string]string
	Reverted map[string]bool
	// PendingReverts are the first turns of unanswered reverts.
	PendingReverts []string
	// SharedReverts are the reverts since the last ResolveSharedReverts, if several clients use the thread.
	SharedReverts []*SharedRevert
	// Marks are the words of acknowledged inputs.
	Marks    []Mark
	Name     Value
	Archived Bool
	// Ended are the statuses of turns that have ended since the last AddView. Turn is the active turn, or "".
	Ended map[string]string
	Turn  string
	// List has the state of each context item at Revision, the greatest one received.
	Revision int64
	List     map[string]string
}

// NewThread returns a thread with the items of a view.
func NewThread(v apptest.ThreadView) *Thread {
	th := &Thread{ID: v.ID, Items: map[string]string{}, TurnOf: map[string]string{}, Reverted: map[string]bool{},
		Ended: map[string]string{}, List: map[string]string{}}
	th.Name.Acked = v.Name // a fork keeps the name of its origin
	th.AddView(v)
	return th
}

// AddView records all items of a view.
func (th *Thread) AddView(v apptest.ThreadView) {
	for _, turn := range v.Turns {
		th.AddTurn(turn.ID)
		for _, item := range turn.Items {
			id := gjson.GetBytes(item, "id").Str
			th.Items[id], th.TurnOf[id] = string(item), turn.ID
		}
	}
}

// Handle records a notification of the thread.
func (th *Thread) Handle(t testing.TB, m apptest.Message) {
	p := gjson.ParseBytes(m.Params)
	if th.Reverted[cmp.Or(p.Get("turnId").Str, p.Get("turn.id").Str)] {
		return // another client has reverted the turn
	}
	switch m.Method {
	case "item/completed":
		id := p.Get("item.id").Str
		th.Items[id], th.TurnOf[id] = p.Get("item").Raw, p.Get("turnId").Str
	case "turn/started":
		th.Turn = p.Get("turn.id").Str
		th.AddTurn(th.Turn)
	case "turn/completed":
		th.Turn, th.Ended[p.Get("turn.id").Str] = "", p.Get("turn.status").Str
	case "ContextItems":
		var list protocol.ContextItemsNotification
		require.NoError(t, json.Unmarshal(m.Params, &list))
		if list.Full {
			th.SetList(list.Revision, list.Items)
		}
	}
}

// SetList records a context list, unless it is older than the known one.
func (th *Thread) SetList(revision int64, items []protocol.ContextItem) {
	if revision < th.Revision {
		return
	}
	th.Revision, th.List = revision, statesOf(items)
}

func statesOf(items []protocol.ContextItem) map[string]string {
	list := map[string]string{}
	for _, item := range items {
		list[item.ID] = fmt.Sprintf("%s, included %v, pinned %v, replaced %v", item.Category, item.Included, item.Pinned,
			item.Replaced)
	}
	return list
}

// CheckList requires that a context list has all acknowledged edits, and records it.
func (th *Thread) CheckList(t testing.TB, revision int64, items []protocol.ContextItem) {
	t.Helper()
	require.GreaterOrEqual(t, revision, th.Revision, "thread %s lost edits", th.ID)
	if got := statesOf(items); revision == th.Revision {
		for id, state := range th.List {
			if got[id] == "" && strings.HasPrefix(state, "summary") {
				continue // a new reminder replaces an older one
			}
			require.Equal(t, state, got[id], "item %s of thread %s at revision %d", id, th.ID, th.Revision)
		}
	}
	th.SetList(revision, items)
}

// CheckView requires that a view has all acknowledged items, inputs, ends of turns and the name.
func (th *Thread) CheckView(t testing.TB, v apptest.ThreadView) {
	t.Helper()
	got := map[string]string{}
	for _, item := range apptest.ItemsOf(v) {
		got[gjson.Get(item, "id").Str] = item
	}
	for id, item := range th.Items {
		require.Equal(t, item, got[id], "item %s of thread %s", id, th.ID)
	}
	th.Name.Check(t, "name of "+th.ID, v.Name)
	all := strings.Join(slices.Collect(maps.Values(got)), "\n")
	for _, m := range th.Marks {
		require.Contains(t, all, m.Text)
	}
	statuses := map[string]string{}
	for _, turn := range v.Turns {
		statuses[turn.ID] = turn.Status
		require.NotEqual(t, "inProgress", turn.Status)
		require.False(t, th.Reverted[turn.ID], "turn %s was reverted", turn.ID)
	}
	for id, status := range th.Ended {
		require.Equal(t, status, cmp.Or(statuses[id], "missing"), "turn %s", id)
	}
}
