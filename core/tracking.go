package core

import "appserver/protocol"

// Tracking selects which file changes of turns are recorded.
type Tracking struct {
	// Worktree is set if the worktree is captured before each turn and around commands that may
	// write. Patches is set if the changes of patches are recorded.
	Worktree, Patches bool
	// Keep is the largest number of checkpoints of a thread.
	Keep int
}

// Track captures files before and after an effect. Turn is the turn of the effect. Dir is a
// directory in the worktree. Before has the net changes of the turn so far, for its diff. Keep is
// set if the captures must survive garbage collection.
type Track struct {
	Turn, Dir string
	Before    []protocol.WorktreeChanges
	Keep      bool
}

// Tracked has the changes of an effect. Diff is the diff of the turn so far, or nil without changes.
// Err is set if the changes are not completely known.
type Tracked struct {
	Changes protocol.WorktreeChanges
	Diff    *FileDiff
	Err     error
}

// FileDiff is a diff in git's form, and its counts. Cut is set if the text lacks a part, because it
// would be too long. The counts have all of it.
type FileDiff struct {
	Text    string
	Cut     bool
	Summary protocol.DiffSummary
}
