package filechanges

import (
	"path/filepath"
	"slices"
	"strings"

	"appserver/protocol"
)

// file names a file of a worktree.
type file struct{ root, path string }

// Net returns the net effect of changes: one element for each root, in the order in which the
// roots occur, with the paths sorted. It leaves out a path that ends as it began.
func Net(changes []protocol.WorktreeChanges) []protocol.WorktreeChanges {
	net := map[file]protocol.WorktreeChange{}
	for _, c := range changes {
		for _, one := range c.Changes {
			at := file{c.Root, one.Path}
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
	return sorted(Roots(changes), byRoot)
}

func sorted(roots []string, byRoot map[string][]protocol.WorktreeChange) (changes []protocol.WorktreeChanges) {
	for _, root := range roots {
		list := byRoot[root]
		slices.SortFunc(list, func(a, b protocol.WorktreeChange) int { return strings.Compare(a.Path, b.Path) })
		if len(list) > 0 {
			changes = append(changes, protocol.WorktreeChanges{Root: root, Changes: list})
		}
	}
	return changes
}

// Inverse returns the changes that undo others, with the id of the turn or revert that makes them.
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

// Conflicts returns the absolute paths that something else changed between two of the changes: a
// path whose content before one of them is not its content after the last one. It leaves out
// paths without a net change.
func Conflicts(changes []protocol.WorktreeChanges) (paths []string) {
	last, broken := map[file]protocol.WorktreeFile{}, map[file]bool{}
	for _, c := range changes {
		for _, one := range c.Changes {
			at := file{c.Root, one.Path}
			after, known := last[at]
			broken[at] = broken[at] || known && after != one.Before
			last[at] = one.After
		}
	}
	for _, c := range Net(changes) {
		for _, one := range c.Changes {
			if broken[file{c.Root, one.Path}] {
				paths = append(paths, filepath.Join(c.Root, one.Path))
			}
		}
	}
	return paths
}

// Roots returns the roots of changes, in the order in which they occur. It is never nil.
func Roots(changes []protocol.WorktreeChanges) []string {
	roots := []string{}
	for _, c := range changes {
		if !slices.Contains(roots, c.Root) {
			roots = append(roots, c.Root)
		}
	}
	return roots
}

// Paths returns the absolute paths of changes, in their order. It is never nil.
func Paths(changes []protocol.WorktreeChanges) []string {
	paths := []string{}
	for _, c := range changes {
		for _, one := range c.Changes {
			paths = append(paths, filepath.Join(c.Root, one.Path))
		}
	}
	return paths
}
