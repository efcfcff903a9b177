package protocol

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

// The types of lines with checkpoints and with the changes of turns. The reference implementation
// skips them.
const (
	LineCheckpoint      = "checkpoint"
	LineWorktreeChanges = "worktree_changes"
)

// StoredCheckpoint is the payload of a checkpoint line: the state of the worktree before a turn or
// before a revert of files.
type StoredCheckpoint struct {
	ID    string       `json:"id"`
	Kind  string       `json:"kind"`
	Trees []StoredTree `json:"trees"`
	// Forgets are the ids of checkpoints that do not exist from then on.
	Forgets []string `json:"forgets,omitempty"`
}

// StoredTree is the content of a worktree, as a tree object of git.
type StoredTree struct {
	// Root is its absolute path.
	Root string `json:"root"`
	Tree string `json:"tree"`
	// Ref is the id of an earlier checkpoint whose ref keeps the same tree, or empty if the
	// checkpoint has a ref.
	Ref string `json:"ref,omitempty"`
}

// RefOf returns the name of the ref that keeps a tree of the checkpoint.
func (p StoredCheckpoint) RefOf(tree StoredTree) string { return cmp.Or(tree.Ref, p.ID) }

// SharesRef reports whether one of the checkpoints uses a ref of a worktree.
func SharesRef(points []StoredCheckpoint, root, ref string) bool {
	return slices.ContainsFunc(points, func(p StoredCheckpoint) bool {
		return slices.ContainsFunc(p.Trees, func(t StoredTree) bool { return t.Root == root && p.RefOf(t) == ref })
	})
}

// WorktreeChanges is the payload of a worktree_changes line: the files that a tool call of a turn
// changed, or a revert.
type WorktreeChanges struct {
	// ID is the id of the turn or of the revert.
	ID string `json:"id"`
	// Root is an absolute path.
	Root    string           `json:"root"`
	Changes []WorktreeChange `json:"changes"`
}

// WorktreeChange is the content of a path before and after a change. The path is relative to the root
// and slash-separated. RawPath has it in base64 if it is not UTF-8.
type WorktreeChange struct {
	Path   string       `json:"path"`
	Before WorktreeFile `json:"before"`
	After  WorktreeFile `json:"after"`
}

// worktreeChange is the JSON form of a WorktreeChange.
type worktreeChange struct {
	Path    string       `json:"path,omitempty"`
	RawPath []byte       `json:"raw_path,omitempty"`
	Before  WorktreeFile `json:"before"`
	After   WorktreeFile `json:"after"`
}

// MarshalJSON encodes any path without loss.
func (c WorktreeChange) MarshalJSON() ([]byte, error) {
	w := worktreeChange{Path: c.Path, Before: c.Before, After: c.After}
	if !utf8.ValidString(c.Path) {
		w.Path, w.RawPath = "", []byte(c.Path)
	}
	return marshal(w)
}

// UnmarshalJSON decodes the output of MarshalJSON.
func (c *WorktreeChange) UnmarshalJSON(b []byte) error {
	var w worktreeChange
	err := Unmarshal(b, &w)
	*c = WorktreeChange{w.Path + string(w.RawPath), w.Before, w.After}
	return err
}

// WorktreeFile is a file of a worktree: its mode and the id of its content, as in git. The zero
// value means that the file does not exist.
type WorktreeFile struct {
	Mode   uint32 `json:"mode,omitempty"`
	Object string `json:"object,omitempty"`
}
