package core

import (
	"slices"

	"appserver/core/filechanges"
	"appserver/protocol"
)

// CaptureTree keeps what the worktree of a directory holds as the checkpoint of a turn.
type CaptureTree struct {
	ID   EffectID
	Turn string
	Dir  string
}

// TreeCaptured ends a CaptureTree: with the tree, or with why there is none.
type TreeCaptured struct {
	Effect EffectID
	Tree   protocol.StoredTree
	Err    error
}

// DeleteCheckpoints lets go of what keeps checkpoints. Nothing waits for it.
type DeleteCheckpoints struct{ Points []protocol.StoredCheckpoint }

// CopyCheckpoints keeps the checkpoints of a fork's origin for the fork too, and what was
// changed since the first of them. Nothing waits for it.
type CopyCheckpoints struct {
	Points  []protocol.StoredCheckpoint
	Changes []protocol.WorktreeChanges
}

func (CaptureTree) effect()           {}
func (DeleteCheckpoints) effect()     {}
func (CopyCheckpoints) effect()       {}
func (in TreeCaptured) apply(s *step) { s.treeCaptured(in) }

// capture is a checkpoint to be made. effect is 0 while an older one is being made.
type capture struct {
	effect    EffectID
	turn, dir string
	keep      int
}

// beginCheckpoint captures the worktree beside the first model request of a turn. No call
// of the turn writes before that is done; the turn may end before.
func (s *step) beginCheckpoint() {
	if !s.keepsCheckpoints() {
		return
	}
	s.captures = append(s.captures, capture{turn: s.active.id, dir: s.settings.Cwd, keep: s.active.env.Tracking.Keep})
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
		s.recordCheckpoint(protocol.StoredCheckpoint{ID: c.turn, Kind: protocol.CheckpointTurn, Trees: []protocol.StoredTree{in.Tree}}, c.keep)
	} else {
		s.skipCheckpoint(c, in.Err)
	}
	s.startCapture()
	s.startHeldCalls()
}

// skipCheckpoint goes on without a checkpoint. A turn that is being ended needs none.
func (s *step) skipCheckpoint(c capture, err error) {
	if s.active == nil || s.active.id != c.turn || s.active.outcome != nil {
		return
	}
	s.active.uncaptured = true
	s.warnUntracked(err)
}

// recordCheckpoint keeps a checkpoint, and forgets the oldest where there are too many.
func (s *step) recordCheckpoint(p protocol.StoredCheckpoint, keep int) {
	var gone []protocol.StoredCheckpoint
	for i := 0; i <= len(s.points)-max(keep, 1); i++ {
		gone = append(gone, s.points[i].StoredCheckpoint)
		p.Forgets = append(p.Forgets, s.points[i].ID)
	}
	s.record(protocol.LineCheckpoint, p)
	if len(gone) > 0 {
		s.effect(DeleteCheckpoints{gone})
	}
}

// holdForCapture tells whether a call that may write has to wait for a checkpoint. It is begun once
// that is there.
func (s *step) holdForCapture(c *toolCall) bool {
	if len(s.captures) > 0 {
		c.state = callHeld
	}
	return len(s.captures) > 0
}

// startHeldCalls begins the calls that waited for a checkpoint.
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
			answered = answered || c.state == callDone // its session has ended meanwhile
		default:
			s.runCommand(c)
		}
	}
	if answered {
		s.advance()
	}
}

// Capturing tells whether checkpoints are being made.
func (t *Thread) Capturing() bool { return len(t.captures) > 0 }

// cancelCaptures ends those under way, for a thread that is to be unloaded.
func (s *step) cancelCaptures() {
	if len(s.captures) > 0 {
		s.effect(Cancel{s.captures[0].effect})
		s.captures = s.captures[:1]
	}
}

// changesSinceFirstPoint are what each turn and revert changed since the first checkpoint.
func (w *worktreeLog) changesSinceFirstPoint() (kept []protocol.WorktreeChanges) {
	told := map[string]bool{}
	for _, c := range w.fileChanges[w.points[0].Behind:] {
		if told[c.ID] {
			continue
		}
		told[c.ID] = true
		for _, net := range filechanges.Net(w.changedBy(c.ID)) {
			net.ID = c.ID
			kept = append(kept, net)
		}
	}
	return kept
}

// allPoints are the checkpoints as lines keep them.
func (w *worktreeLog) allPoints() (points []protocol.StoredCheckpoint) {
	for _, p := range w.points {
		points = append(points, p.StoredCheckpoint)
	}
	return points
}
