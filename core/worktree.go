package core

import (
	"encoding/json"
	"slices"

	"appserver/protocol"
)

// worktreeLog has the checkpoints of the thread, and the file changes of tool calls and reverts, in
// order.
type worktreeLog struct {
	points      []checkpoint
	fileChanges []protocol.WorktreeChanges
}

// checkpoint is a state of the worktree that one can go back to. At is in Unix seconds;
// Behind is how many changes were made before it.
type checkpoint struct {
	protocol.StoredCheckpoint
	At     int64
	Behind int
}

func (w *worktreeLog) applyCheckpoint(line *protocol.RolloutLine) {
	p := checkpoint{At: parseTime(line.Timestamp).Unix(), Behind: len(w.fileChanges)}
	if protocol.Unmarshal(line.Payload, &p.StoredCheckpoint) != nil || p.ID == "" {
		return
	}
	gone := append([]string{p.ID}, p.Forgets...)
	w.points = slices.DeleteFunc(w.points, func(old checkpoint) bool { return slices.Contains(gone, old.ID) })
	w.points = append(w.points, p)
}

func (w *worktreeLog) applyChanges(payload json.RawMessage) {
	var c protocol.WorktreeChanges
	if protocol.Unmarshal(payload, &c) == nil && c.ID != "" && c.Root != "" {
		w.fileChanges = append(w.fileChanges, c)
	}
}

// pointAt is the place of a checkpoint, -1 without one.
func (w *worktreeLog) pointAt(id string) int {
	return slices.IndexFunc(w.points, func(p checkpoint) bool { return p.ID == id })
}

// changedBy returns the changes of a turn or of a revert.
func (w *worktreeLog) changedBy(id string) (of []protocol.WorktreeChanges) {
	for _, c := range w.fileChanges {
		if c.ID == id {
			of = append(of, c)
		}
	}
	return of
}
