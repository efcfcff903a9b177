package core

import (
	"slices"

	"appserver/protocol"
)

// TreeCaptured ends a CaptureTree, with the tree or an error.
type TreeCaptured struct {
	Effect EffectID
	Tree   protocol.StoredTree
	Err    error
}

func (in TreeCaptured) apply(s *step) { s.treeCaptured(in) }

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

// recordCheckpoint records a checkpoint, and deletes the oldest above the limit.
func (s *step) recordCheckpoint(p protocol.StoredCheckpoint, keep int) {
	var gone []protocol.StoredCheckpoint
	kept := []protocol.StoredCheckpoint{p}
	for i, old := range s.state.Checkpoints {
		if i > len(s.state.Checkpoints)-max(keep, 1) {
			kept = append(kept, old.StoredCheckpoint)
			continue
		}
		gone = append(gone, old.StoredCheckpoint)
		p.Forgets = append(p.Forgets, old.ID)
	}
	gone = slices.DeleteFunc(gone, func(old protocol.StoredCheckpoint) bool { return !s.ownsRefs(old, kept) })
	s.record(protocol.LineCheckpoint, p)
	if len(gone) > 0 {
		s.effect(DeleteCheckpoints{gone, kept})
	}
}

// ownsRefs reports whether a checkpoint has refs that the kept ones do not share.
func (s *step) ownsRefs(p protocol.StoredCheckpoint, kept []protocol.StoredCheckpoint) bool {
	return len(s.state.ChangesOf(p.ID)) > 0 || slices.ContainsFunc(p.Trees, func(t protocol.StoredTree) bool {
		return !protocol.SharesRef(kept, t.Root, p.RefOf(t))
	})
}

// skipCheckpoint continues the turn without a checkpoint.
func (s *step) skipCheckpoint(c capture, err error) {
	if s.ActiveTurn() != c.turn || s.isEnding() {
		return
	}
	s.active.uncaptured = true
	s.warnUntracked(err)
}

func (s *step) startHeldCalls() {
	if len(s.captures) > 0 || s.isEnding() {
		return
	}
	answered := false
	for _, c := range s.activeCalls() {
		if c.state == callHeld {
			c.held.resume(s, c)
			answered = answered || c.state == callDone // its session has ended
		}
	}
	if answered {
		s.advance()
	}
}
