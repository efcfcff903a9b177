package core

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"appserver/protocol"
)

// worktreeLog is what the lines say of the files: the checkpoints that there are, and what
// tool calls and reverts changed, in order.
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

// changedBy are those of a turn or of a revert.
func (w *worktreeLog) changedBy(id string) (of []protocol.WorktreeChanges) {
	for _, c := range w.fileChanges {
		if c.ID == id {
			of = append(of, c)
		}
	}
	return of
}

// filePath is a path of a worktree.
type filePath struct{ root, path string }

// NetChanges are what changes come to: one for each root, in the order of their paths. A
// path that holds again what it held before them is not in it.
func NetChanges(changes []protocol.WorktreeChanges) []protocol.WorktreeChanges {
	net := map[filePath]protocol.WorktreeChange{}
	var roots []string
	for _, c := range changes {
		if !slices.Contains(roots, c.Root) {
			roots = append(roots, c.Root)
		}
		for _, one := range c.Changes {
			at := filePath{c.Root, one.Path}
			if before, known := net[at]; known {
				one.Before = before.Before
			}
			net[at] = one
		}
	}
	byRoot := map[string][]protocol.WorktreeChange{}
	for at, one := range net {
		if one.Before != one.After {
			byRoot[at.root] = append(byRoot[at.root], one)
		}
	}
	return inOrder(roots, byRoot)
}

func inOrder(roots []string, byRoot map[string][]protocol.WorktreeChange) (changes []protocol.WorktreeChanges) {
	for _, root := range roots {
		list := byRoot[root]
		slices.SortFunc(list, func(a, b protocol.WorktreeChange) int { return strings.Compare(a.Path, b.Path) })
		if len(list) > 0 {
			changes = append(changes, protocol.WorktreeChanges{Root: root, Changes: list})
		}
	}
	return changes
}

// brokenPaths are the paths, absolute, that something else changed between changes: that did
// not hold before one of them what they held after the one before. Of paths that the changes
// leave as they were, none is.
func brokenPaths(changes []protocol.WorktreeChanges) (broken []string) {
	held, cut := map[filePath]protocol.WorktreeFile{}, map[filePath]bool{}
	for _, c := range changes {
		for _, one := range c.Changes {
			at := filePath{c.Root, one.Path}
			before, known := held[at]
			cut[at] = cut[at] || known && before != one.Before
			held[at] = one.After
		}
	}
	for _, c := range NetChanges(changes) {
		for _, one := range c.Changes {
			if cut[filePath{c.Root, one.Path}] {
				broken = append(broken, path.Join(c.Root, one.Path))
			}
		}
	}
	return broken
}

// Inverse are the changes that take others back, for a turn or a revert with an id.
func Inverse(id string, changes []protocol.WorktreeChanges) []protocol.WorktreeChanges {
	back := make([]protocol.WorktreeChanges, len(changes))
	for i, c := range changes {
		back[i] = protocol.WorktreeChanges{ID: id, Root: c.Root, Changes: make([]protocol.WorktreeChange, len(c.Changes))}
		for j, one := range c.Changes {
			back[i].Changes[j] = protocol.WorktreeChange{Path: one.Path, Before: one.After, After: one.Before}
		}
	}
	return back
}

// rootsOf are the roots of changes, in their order.
func rootsOf(changes []protocol.WorktreeChanges) []string {
	roots := []string{}
	for _, c := range changes {
		if !slices.Contains(roots, c.Root) {
			roots = append(roots, c.Root)
		}
	}
	return roots
}
