package history

import (
	"slices"

	"appserver/protocol"
)

// Edit is an entry of the journal. It has what it changed, so that it can be undone and redone.
type Edit struct {
	protocol.ContextEdit
	// changes is nil while stored is set: an edit from a snapshot decodes its changes at the first call of Changes.
	// Only code that has just made an edit reads the field itself.
	changes []Change
	stored  []byte
	decode  func(stored []byte) []Change
	// ordinal identifies the edit's line. bare is set for a compacted line without a history.
	ordinal int64
	bare    bool
	// final is set if the edit is undone and cannot be redone any more.
	final bool
	// point is the trim point of a trim, or of a compaction that has one, with its first summary.
	point *protocol.StoredTrimPoint
	// from is the ordinal of the first line that a revert takes out.
	from int64
	// of is the id of the trim point to which a summarize gives its text.
	of, text string
	// economy has facts about an automatic edit, or is nil.
	economy *protocol.StoredEconomy
	// voided are the ids of the trim points that a restore takes back.
	voided []string
	// saving is the number of tokens by which the edit makes the next request smaller.
	saving int64
}

// Ordinal returns the ordinal of the edit's line.
func (e *Edit) Ordinal() int64 { return e.ordinal }

// Economy returns facts about an automatic edit, or nil.
func (e *Edit) Economy() *protocol.StoredEconomy { return e.economy }

// Changes returns the changes of the edit.
func (e *Edit) Changes() []Change {
	if e.stored != nil {
		e.changes, e.stored = e.decode(e.stored), nil
	}
	return e.changes
}

// readChanges returns the changes of the edit, and does not keep those that it decodes. A long journal has many.
func (e *Edit) readChanges() []Change {
	if e.stored != nil {
		return e.decode(e.stored)
	}
	return e.changes
}

// IsRevert reports whether the edit takes turns out.
func (e *Edit) IsRevert() bool { return e.Op == protocol.EditRevert }

// revertInForce reports whether the edit takes turns out and is not undone.
func (e *Edit) revertInForce() bool { return e.IsRevert() && !e.Undone }

// makesPoint reports whether the edit made a trim point. A nil edit made none.
func (e *Edit) makesPoint(id string) bool { return e != nil && e.point != nil && e.point.ID == id }

// deletes reports whether the edit deletes the item at a place and is in force.
func (e *Edit) deletes(place int32) bool {
	if e.Undone || e.Op != protocol.EditDelete && e.Op != protocol.EditApply {
		return false
	}
	return slices.ContainsFunc(e.Changes(), func(c Change) bool {
		return c.place == place && (e.Op == protocol.EditDelete || !c.before.deleted && c.after.deleted)
	})
}

// hidesOnly reports whether the edit hides items or brings them back, and changes nothing else of them.
func (e *Edit) hidesOnly() bool {
	return e.Op == protocol.EditCompact || e.Op == protocol.EditTrim || e.Op == protocol.EditSummarize || e.IsRevert()
}

// mayReturn reports whether the edit can bring an item back that a compaction or a trim took out.
func (e *Edit) mayReturn() bool {
	effect, _ := effectOf(e.Op)
	return effect.returns || e.Op == protocol.EditApply
}

// returns reports whether the edit brings an item back that a compaction or a trim took out.
func (e *Edit) returns(c Change) bool { return e.mayReturn() && c.before.hidden && !c.after.hidden }

// bringsBack reports whether the edit brings back any such item.
func (e *Edit) bringsBack() bool { return e.mayReturn() && slices.ContainsFunc(e.Changes(), e.returns) }

// fullSaving returns the savings of an edit when it was made. Lines of other programs may state
// anything.
func (e *Edit) fullSaving() int64 {
	if e.IsRevert() {
		return 0
	}
	return min(max(e.SavedTokens, -maxTokens), maxTokens)
}
