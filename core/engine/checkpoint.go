package engine

import (
	"context"

	"appserver/core"
	"appserver/protocol"
)

// ThreadDiffRead returns the file changes of the turns of a thread, loaded or not.
func (e *Engine) ThreadDiffRead(to protocol.Caller, p *protocol.ThreadDiffReadParams) error {
	return e.workOn(to, p.ThreadID, func(t *core.Thread) (answerOf, error) {
		c, refusal := t.Changed(p.TurnID)
		if refusal != nil {
			return nil, refusal
		}
		return func(ctx context.Context) (any, error) {
			diff, err := e.diff(ctx, c.Changes)
			return protocol.ThreadDiffReadResponse{Roots: c.Roots(), Diff: diff.Text, Cut: diff.Cut, Summary: diff.Summary,
				Turns: c.Turns}, err
		}, nil
	})
}

func (e *Engine) diff(ctx context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error) {
	switch {
	case len(changes) == 0:
		return core.FileDiff{Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}}}, nil
	case e.parts.Worktrees == nil:
		return core.FileDiff{}, errCheckpointsOff()
	}
	diff, err := e.parts.Worktrees.Diff(ctx, changes)
	return diff, worktreeError(err)
}

// ThreadCheckpointList lists the checkpoints of a thread, loaded or not.
func (e *Engine) ThreadCheckpointList(to protocol.Caller, p *protocol.ThreadCheckpointListParams) error {
	off := e.parts.Worktrees == nil || !e.parts.Config.Current().Tracking.Worktree
	return e.readTurns(to, p.ThreadID, core.ListCheckpoints{To: to, Cursor: p.Cursor, Limit: p.Limit, Off: off})
}

// ThreadCheckpointDiff compares two checkpoints of a thread, or one with the worktree.
func (e *Engine) ThreadCheckpointDiff(to protocol.Caller, p *protocol.ThreadCheckpointDiffParams) error {
	return e.workOn(to, p.ThreadID, func(t *core.Thread) (answerOf, error) {
		if e.parts.Worktrees == nil {
			return nil, errCheckpointsOff()
		}
		from, refusal := t.CheckpointTrees(p.TurnID)
		if refusal != nil {
			return nil, refusal
		}
		var until []protocol.StoredTree
		if p.ToTurnID != nil {
			if until, refusal = t.CheckpointTrees(*p.ToTurnID); refusal != nil {
				return nil, refusal
			}
		}
		return func(ctx context.Context) (any, error) {
			diff, err := e.parts.Worktrees.Compare(ctx, from, until)
			answer := protocol.ThreadCheckpointDiffResponse{Roots: []string{}, Diff: diff.Text, Cut: diff.Cut,
				Summary: diff.Summary}
			for _, tree := range from {
				answer.Roots = append(answer.Roots, tree.Root)
			}
			return answer, worktreeError(err)
		}, nil
	})
}

// ThreadCheckpointRevert reverts a thread, its files or both to a checkpoint. The thread serves
// nothing else meanwhile.
func (e *Engine) ThreadCheckpointRevert(to protocol.Caller, p *protocol.ThreadCheckpointRevertParams) error {
	return e.changeThreadBy(to, p.ThreadID, func(a *actor) (core.Input, error) { return a.revertTo(to, p) })
}

// awaitCaptures waits for the captures of completed turns.
func (a *actor) awaitCaptures() {
	for a.thread != nil && a.thread.ActiveTurn() == "" && a.thread.Capturing() {
		a.handleResult(<-a.results)
	}
}

// revertTo restores the files and returns the input that records it. After a crash in between, the
// same revert skips the restored files.
func (a *actor) revertTo(to protocol.Caller, p *protocol.ThreadCheckpointRevertParams) (core.Input, error) {
	a.releaseTurn()
	if a.awaitCaptures(); a.thread == nil {
		return nil, errUnloaded(a.id)
	}
	tracking := a.tracking()
	if p.Mode != protocol.RevertConversation && !tracking.Worktree {
		return nil, errCheckpointsOff()
	}
	plan, refusal := a.thread.PlanRevert(p.TurnID, p.Mode, p.ExpectedLastTurnID)
	if refusal != nil {
		return nil, refusal
	}
	in := core.RevertTo{To: to, ID: a.engine.parts.NewID(), Plan: plan, Keep: tracking.Keep, Dry: p.DryRun}
	if len(plan.Changes) == 0 {
		return in, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), restoreTime)
	defer cancel()
	var err error
	in.Restored, err = a.engine.parts.Worktrees.Restore(ctx, a.id, in.ID, plan.Changes, p.DryRun)
	return in, worktreeError(err)
}
