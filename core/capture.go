package core

import (
	"slices"

	"appserver/protocol"
)

// CaptureTree captures the worktree of a directory as the checkpoint of a turn.
type CaptureTree struct {
	ID   EffectID
	Turn string
	Dir  string
}

// TreeCaptured ends a CaptureTree, with the tree or an error.
type TreeCaptured struct {
	Effect EffectID
	Tree   protocol.StoredTree
	Err    error
}

// DeleteCheckpoints deletes the refs of checkpoints. It has no terminal input.
type DeleteCheckpoints struct{ Points []protocol.StoredCheckpoint }

// CopyCheckpoints adds refs for a fork to the checkpoints of its origin, and to the changes since
// the first of them. It has no terminal input.
type CopyCheckpoints struct {
	Points  []protocol.StoredCheckpoint
	Changes []protocol.WorktreeChanges
}

func (CaptureTree) effect()           {}
func (DeleteCheckpoints) effect()     {}
func (CopyCheckpoints) effect()       {}
func (in TreeCaptured) apply(s *step) { s.treeCaptured(in) }

// capture is a pending checkpoint. effect is 0 while an older one is in progress.
type capture struct {
	effect    EffectID
	turn, dir string
	keep      int
}

// beginCheckpoint captures the worktree while the first model request runs. No call of the turn
// writes before the capture ends. The turn can end before it.
func (s *step) beginCheckpoint() {
	if !s.keepsCheckpoints() {
		return
	}
	s.captures = append(s.captures,
		capture{turn: s.active.id, dir: s.state.Settings.Cwd, keep: s.active.env.Tracking.Keep})
	if len(s.captures) == 1 {
		s.startCapture()
	}
}

func (s *step) startCapture() {
	if len(s.captures) == 0 {
		return
	}
	c := &s.captures[0]
	c.effect = s.newEffect()
	s.effect(CaptureTree{ID: c.effect, Turn: c.turn, Dir: c.dir})
}

func (s *step) treeCaptured(in TreeCaptured) {
	if len(s.captures) == 0 || s.captures[0].effect != in.Effect {
		return
	}
	c := s.captures[0]
	s.captures = slices.Delete(s.captures, 0, 1)
	if in.Err == nil {
		s.closeDanglingTurn()
		s.recordCheckpoint(
			protocol.StoredCheckpoint{ID: c.turn, Kind: protocol.CheckpointTurn, Trees: []protocol.StoredTree{in.Tree}}, c.keep)
	} else {
		s.skipCheckpoint(c, in.Err)
	}
	s.startCapture()
	s.startHeldCalls()
}

// skipCheckpoint continues the turn without a checkpoint.
func (s *step) skipCheckpoint(c capture, err error) {
	if s.active == nil || s.active.id != c.turn || s.active.outcome != nil {
		return
	}
	s.active.uncaptured = true
	s.warnUntracked(err)
}

// recordCheckpoint records a checkpoint, and deletes the oldest above the limit.
func (s *step) recordCheckpoint(p protocol.StoredCheckpoint, keep int) {
	var gone []protocol.StoredCheckpoint
	for i := 0; i <= len(s.state.Checkpoints)-max(keep, 1); i++ {
		gone = append(gone, s.state.Checkpoints[i].StoredCheckpoint)
		p.Forgets = append(p.Forgets, s.state.Checkpoints[i].ID)
	}
	s.record(protocol.LineCheckpoint, p)
	if len(gone) > 0 {
		s.effect(DeleteCheckpoints{gone})
	}
}

// holdForCapture reports whether a call that may write waits for a checkpoint. The call starts when
// the capture ends.
func (s *step) holdForCapture(c *toolCall) bool {
	if len(s.captures) > 0 {
		c.state = callHeld
	}
	return len(s.captures) > 0
}

func (s *step) startHeldCalls() {
	if len(s.captures) > 0 || s.active == nil || s.active.outcome != nil {
		return
	}
	answered := false
	for _, c := range s.active.calls {
		switch {
		case c.state != callHeld:
		case c.patch != nil:
			s.writePatch(c)
		case c.command == nil:
			s.startStdin(c)
			answered = answered || c.state == callDone // its session has ended
		default:
			s.runCommand(c)
		}
	}
	if answered {
		s.advance()
	}
}

// Capturing reports whether checkpoints are being made.
func (t *Thread) Capturing() bool { return len(t.captures) > 0 }

// cancelCaptures cancels all captures before the thread is unloaded.
func (s *step) cancelCaptures() {
	if len(s.captures) > 0 {
		s.effect(Cancel{s.captures[0].effect})
		s.captures = s.captures[:1]
	}
}
