package view

import (
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// Thread is a thread whose lists clients read.
type Thread struct {
	ID         string
	Transcript *transcript.Transcript
	// Active is the id of the active turn, or "".
	Active string
	// OpenItems returns the items of the active turn that clients know and no line has yet. It is
	// not called without an active turn.
	OpenItems func() []protocol.ThreadItem
	// InProgress returns the items between their start and their completion, with their texts so far.
	InProgress func() []protocol.ThreadItemEntry
	// Failed is the id of a turn that failed because its lines could not be appended, or "". Failure
	// is its error.
	Failed  string
	Failure *protocol.TurnError
}

// Turns returns all turns with all their items.
func (t *Thread) Turns() []protocol.Turn {
	return t.turnsOf((*transcript.Item).ThreadItem)
}

// TurnsForResponse returns all turns with all their items, which are read when they are encoded.
func (t *Thread) TurnsForResponse() []protocol.Turn {
	return t.turnsOf(transcript.ForResponse())
}

func (t *Thread) turnsOf(item func(*transcript.Item) protocol.ThreadItem) []protocol.Turn {
	views := make([]protocol.Turn, t.Transcript.TurnCount())
	for i := range views {
		views[i] = t.fullTurn(t.Transcript.Turn(i), item)
	}
	return views
}

// turn returns a turn with the items of an items view, by default with a summary.
func (t *Thread) turn(r *transcript.Turn, itemsView string) protocol.Turn {
	switch itemsView {
	case protocol.ItemsFull:
		return t.fullTurn(r, (*transcript.Item).ThreadItem)
	case protocol.ItemsNotLoaded:
		return t.turnHead(r)
	}
	v := t.turnHead(r)
	v.Items, v.ItemsView = r.Summary(), protocol.ItemsSummary
	return v
}

// fullTurn returns a turn with all its items: those of its lines, then the open ones.
func (t *Thread) fullTurn(r *transcript.Turn, item func(*transcript.Item) protocol.ThreadItem) protocol.Turn {
	v := t.turnHead(r)
	v.ItemsView = protocol.ItemsFull
	v.Items = make([]protocol.ThreadItem, len(r.Items()))
	for i := range v.Items {
		v.Items[i] = item(r.Item(i))
	}
	if t.isActive(r) {
		v.Items = append(v.Items, t.OpenItems()...)
	}
	return v
}

// turnHead returns a turn without its items. A turn that no line ends was interrupted by a crash,
// unless it is active or clients know that it failed.
func (t *Thread) turnHead(r *transcript.Turn) protocol.Turn {
	v := r.View()
	switch {
	case v.Status != protocol.TurnInProgress || t.isActive(r):
	case t.Failed != "" && t.Failed == r.ID:
		v.Status, v.Error = protocol.TurnFailed, t.Failure
	default:
		v.Status = protocol.TurnInterrupted
	}
	return v
}

func (t *Thread) isActive(r *transcript.Turn) bool { return t.Active != "" && t.Active == r.ID }
