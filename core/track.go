package core

import (
	"cmp"
	"errors"

	"appserver/core/filechanges"
	"appserver/protocol"
)

// Tracking says what is kept of the files that turns change.
type Tracking struct {
	// Worktree is set where the worktree is captured before each turn and around commands
	// that may write; Patches where the files of patches are.
	Worktree, Patches bool
	// Keep is how many checkpoints a thread has at most.
	Keep int
}

// Track has files captured before and after an effect that may change them. Dir is a
// directory of their worktree. Turn is the one that the effect belongs to, Before are its
// net changes so far, for the diff of all. Keep is set where what was changed must outlast
// the next collection of garbage.
type Track struct {
	Turn, Dir string
	Before    []protocol.WorktreeChanges
	Keep      bool
}

// Tracked is what an effect changed. Diff is that of the turn so far; it is nil where
// nothing was changed. Err says why it is not known, or not wholly.
type Tracked struct {
	Changes protocol.WorktreeChanges
	Diff    *FileDiff
	Err     error
}

// FileDiff is a diff in git's form, with its counts. Cut is set where the text would be too
// long, and lacks a part that the counts have.
type FileDiff struct {
	Text    string
	Cut     bool
	Summary protocol.DiffSummary
}

// trackCommand is how a command is tracked, nil for one that cannot write.
func (s *step) trackCommand(c *shellCommand) *Track {
	if !s.active.env.Tracking.Worktree || s.active.uncaptured || !s.mayWrite(c) {
		return nil
	}
	return s.track(s.settings.Cwd)
}

// trackTyping is how typing on a terminal is tracked, nil where it cannot write.
func (s *step) trackTyping(term *terminal) *Track {
	if !s.active.env.Tracking.Worktree || s.active.uncaptured || !term.writes {
		return nil
	}
	return s.track(s.settings.Cwd)
}

// mayWrite tells whether a command may write files: one that is not known to only read,
// unless the kernel lets it write none.
func (s *step) mayWrite(c *shellCommand) bool {
	_, readOnly := s.sandboxOf(c).SandboxPolicyVariant.(*protocol.ReadOnly)
	return !c.Safe && !(readOnly && s.active.env.Enforced)
}

// trackPatch is how a patch is tracked, nil where it is not.
func (s *step) trackPatch(p *patchCall) *Track {
	if !s.active.env.Tracking.Patches {
		return nil
	}
	return s.track(s.trackedDir(p))
}

// trackedDir returns the directory that a patch is tracked in: the root of all its files, else
// that of the patch.
func (s *step) trackedDir(p *patchCall) string {
	root := ""
	for i, file := range p.files() {
		if r := s.rules().Root(file); i > 0 && r != root || r == "" {
			return cmp.Or(p.root, p.dir)
		} else {
			root = r
		}
	}
	return cmp.Or(root, p.root, p.dir)
}

func (s *step) track(dir string) *Track {
	return &Track{Turn: s.active.id, Dir: dir, Before: filechanges.Net(s.changedBy(s.active.id)), Keep: s.keepsCheckpoints()}
}

func (s *step) keepsCheckpoints() bool { return s.active.env.Tracking.Worktree && !s.options.Ephemeral }

// FilesChanged tells what a command that stays has changed while it was watched, with which
// its first call has waited long enough.
type FilesChanged struct {
	Effect  EffectID
	Tracked *Tracked
}

func (in FilesChanged) apply(s *step) { s.filesChanged(in) }

func (s *step) filesChanged(in FilesChanged) {
	term := s.terminalOfEffect(in.Effect)
	if term == nil {
		return
	}
	s.recordChangesOf(term.turnID, in.Tracked)
	if term.inFirstCall() && s.active.outcome == nil {
		s.stopWaitTimer(term)
		s.endWait(term)
	}
}

// recordChanges keeps what a call of the turn under way changed.
func (s *step) recordChanges(t *Tracked) { s.recordChangesOf(s.active.id, t) }

// recordChangesOf keeps what a call changed, and tells the turn's diff where it is another one,
// unless the turn is over, or was taken back.
func (s *step) recordChangesOf(turnID string, t *Tracked) {
	if t == nil {
		return
	}
	if _, known := s.turnAt[turnID]; !known {
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
	if s.active == nil {
		s.closeDanglingTurn()
	}
	s.record(protocol.LineWorktreeChanges, changes)
	s.out.Sync = true
	if t.Diff == nil || s.ActiveTurn() != turnID {
		return
	}
	told := ""
	if s.active.diff != nil {
		told = s.active.diff.Text
	}
	s.active.diff = t.Diff
	switch {
	case t.Diff.Cut: // no program could take it
		s.warnUntracked(errors.New("the diff of this turn is too long to be told; thread/diff/read has a part of it"))
	case told != t.Diff.Text:
		s.notify(protocol.TurnDiffUpdatedNotification{ThreadID: s.id, TurnID: s.active.id, Diff: t.Diff.Text})
	}
}

// metadata is what turn/completed tells beside the turn, nil where it changed no file.
func (t *turn) metadata() *protocol.TurnMetadata {
	if t.diff == nil || len(t.diff.Summary.Files) == 0 {
		return nil
	}
	return &protocol.TurnMetadata{Diff: t.diff.Summary}
}

// warnUntracked tells once that what turns change is not wholly known.
func (s *step) warnUntracked(err error) {
	if s.untracked {
		return
	}
	s.untracked = true
	s.warn([]string{"What this thread changes can be shown and taken back in part only: " + err.Error()})
}
