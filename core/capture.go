package core

import (
	"appserver/protocol"
)

// CaptureTree captures the worktree of a directory as the checkpoint of a turn.
type CaptureTree struct {
	ID   EffectID
	Turn string
	Dir  string
	// Last is the last checkpoint of the thread.
	Last protocol.StoredCheckpoint
}

// DeleteCheckpoints deletes the refs of checkpoints, except those that the kept ones share. It has no
// terminal input.
type DeleteCheckpoints struct{ Points, Kept []protocol.StoredCheckpoint }

// CopyCheckpoints adds refs for a fork to the checkpoints of its origin, and to the changes since
// the first of them. It has no terminal input.
type CopyCheckpoints struct {
	Points  []protocol.StoredCheckpoint
	Changes []protocol.WorktreeChanges
}

func (CaptureTree) effect()       {}
func (DeleteCheckpoints) effect() {}
func (CopyCheckpoints) effect()   {}

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
	e := CaptureTree{ID: c.effect, Turn: c.turn, Dir: c.dir}
	if n := len(s.state.Checkpoints); n > 0 {
		e.Last = s.state.Checkpoints[n-1].StoredCheckpoint
	}
	s.effect(e)
}

// holdForCapture reports whether a call that may write waits for a checkpoint. The call starts when
// the capture ends.
func (s *step) holdForCapture(c *toolCall, k heldKind) bool {
	if len(s.captures) > 0 {
		c.becomeHeld(k)
	}
	return len(s.captures) > 0
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
