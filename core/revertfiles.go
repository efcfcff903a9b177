package core

import (
	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// RevertTo records a revert to a checkpoint. ID identifies the revert and the checkpoint before it.
// Restored is nil if no file changed. With Dry nothing changes.
type RevertTo struct {
	To       protocol.Caller
	ID       string
	Plan     RevertPlan
	Restored *Restored
	Keep     int
	Dry      bool
}

// Restored has the trees before the files were restored, and the diff of the restore.
type Restored struct {
	Trees []protocol.StoredTree
	Diff  FileDiff
}

func (in RevertTo) apply(s *step) { s.revertTo(in) }

// revertTo records the revert of the files and of the conversation in one step. The disk has both
// or none.
func (s *step) revertTo(in RevertTo) {
	if s.rejectInTurn(in.To) {
		return
	}
	answer := s.revertAnswer(in)
	if in.Dry {
		answer.Thread = s.View(false)
		s.reply(in.To, answer)
		return
	}
	if in.Restored != nil {
		s.recordRestored(in)
	}
	var took *trimChange
	if in.Plan.Conversation() {
		took = s.recordRevert(uint32(in.Plan.Turns))
	}
	answer.Thread = s.View(false)
	s.reply(in.To, answer)
	if took != nil {
		s.notifyReverted(took, s.lastRevert())
	}
}

func (s *step) revertAnswer(in RevertTo) protocol.ThreadCheckpointRevertResponse {
	r := protocol.ThreadCheckpointRevertResponse{
		DryRun: in.Dry, Mode: in.Plan.Mode, Roots: []string{},
		RemovedTurnIDs: s.lastTurnIDs(in.Plan.Turns), Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}},
	}
	r.LastTurnID = protocol.OrNil(s.state.CurrentTurn())
	if in.Restored == nil {
		return r
	}
	diff := &in.Restored.Diff
	r.Roots, r.Diff, r.Cut, r.Summary = in.Plan.Roots, diff.Text, diff.Cut, diff.Summary
	if !in.Dry {
		r.UndoCheckpointID = &in.ID
	}
	return r
}

// recordRestored records a checkpoint of the state before the revert, and the changes of the
// revert. So the revert can be reverted.
func (s *step) recordRestored(in RevertTo) {
	s.closeDanglingTurn()
	s.recordCheckpoint(protocol.StoredCheckpoint{ID: in.ID, Kind: protocol.CheckpointRevert, Trees: in.Restored.Trees},
		in.Keep)
	for _, c := range filechanges.Inverse(in.ID, in.Plan.Changes) {
		s.record(protocol.LineWorktreeChanges, c)
	}
	s.out.Sync = true
}
