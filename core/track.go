package core

import (
	"errors"

	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// trackCommand returns the tracking of a command, or nil if it cannot write.
func (s *step) trackCommand(c *shellCommand) *Track {
	if !s.active.env.Tracking.Worktree || s.active.uncaptured || !s.mayWrite(c) {
		return nil
	}
	return s.track(s.state.Settings.Cwd)
}

// trackTyping returns the tracking of input to a terminal, or nil if its command cannot write.
func (s *step) trackTyping(term *terminal) *Track {
	if !s.active.env.Tracking.Worktree || s.active.uncaptured || !term.writes {
		return nil
	}
	return s.track(s.state.Settings.Cwd)
}

// mayWrite reports whether a command may write files: it is not safe, and the kernel permits
// writes.
func (s *step) mayWrite(c *shellCommand) bool {
	_, readOnly := s.sandboxOf(c).SandboxPolicyVariant.(*protocol.ReadOnly)
	return !c.Reads() && !(readOnly && s.active.env.Enforced)
}

func (s *step) track(dir string) *Track {
	return &Track{
		Turn:   s.active.id,
		Dir:    dir,
		Before: filechanges.Net(s.state.ChangesOf(s.active.id)),
		Keep:   s.keepsCheckpoints(),
	}
}

func (s *step) keepsCheckpoints() bool { return s.active.env.Tracking.Worktree && !s.options.Ephemeral }

// recordChanges records the changes of a call of the active turn.
func (s *step) recordChanges(t *Tracked) { s.recordChangesOf(s.active.id, t) }

// recordChangesOf records the changes of a call. It notifies the turn's diff if that is new and the
// turn is active.
func (s *step) recordChangesOf(turnID string, t *Tracked) {
	if t == nil {
		return
	}
	if _, known := s.transcript.IndexOf(turnID); !known {
		return
	}
	if t.Err != nil {
		s.warnUntracked(t.Err)
	}
	if len(t.Changes.Changes) == 0 {
		return
	}
	changes := t.Changes
	changes.ID = turnID
	if s.isIdle() {
		s.closeDanglingTurn()
	}
	s.record(protocol.LineWorktreeChanges, changes)
	s.out.Sync = true
	if t.Diff == nil || s.ActiveTurn() != turnID {
		return
	}
	announced := ""
	if s.active.diff != nil {
		announced = s.active.diff.Text
	}
	s.active.diff = t.Diff
	switch {
	case t.Diff.Cut: // a notification of that size would not be useful
		s.warnUntracked(errors.New("the diff of this turn is too long for a notification; " +
			"thread/diff/read returns a part of it"))
	case announced != t.Diff.Text:
		s.notify(protocol.TurnDiffUpdatedNotification{ThreadID: s.state.ID, TurnID: s.active.id, Diff: t.Diff.Text})
	}
}

// warnUntracked warns once that changes are not completely known.
func (s *step) warnUntracked(err error) {
	if s.untracked {
		return
	}
	s.untracked = true
	s.warn([]string{"Changes of this thread can be shown and reverted only in part: " + err.Error()})
}
