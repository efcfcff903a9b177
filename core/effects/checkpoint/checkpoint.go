// Package checkpoint keeps captures of the worktrees of threads, and the changes of turns, for the
// engine. Package worktree handles one worktree.
//
// # Names
//
// Captures have names below refs/appserver/THREAD: a checkpoint is named by its id, and the files
// changed since by the id with "-files". A checkpoint that equals the one before shares its ref. In
// the home folder, threads/THREAD has the roots of the worktrees with such names, each followed by a
// NUL, so that they are found after the thread is deleted. Notes with the same text can be one file with
// several names.
package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"appserver/core"
	"appserver/core/effects/worktree"
	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// Keeper stores captures of worktrees. It is safe for concurrent use.
type Keeper struct {
	options worktree.Options
	// report receives errors for which no caller waits.
	report func(error)

	mu    sync.Mutex
	trees map[string]*worktree.Tree // by directory
	// capturing has, for each directory, a channel that is full during a capture.
	capturing map[string]chan struct{}
	// written is the last note that was written.
	written note
	// forgotten counts the deleted checkpoints.
	forgotten atomic.Int64
}

// New returns a Keeper.
func New(o worktree.Options, report func(error)) *Keeper {
	return &Keeper{options: o, report: report, trees: map[string]*worktree.Tree{}, capturing: map[string]chan struct{}{}}
}

// open returns the worktree of a directory. It may wait for another capture of the worktree, so the
// caller must hold no lock.
func (k *Keeper) open(ctx context.Context, dir string) (*worktree.Tree, error) {
	k.mu.Lock()
	t := k.trees[dir]
	k.mu.Unlock()
	if t != nil {
		return t, nil
	}
	return worktree.Open(ctx, dir, k.options)
}

// remember records a captured directory, so that the next call finds its worktree without git.
func (k *Keeper) remember(dir string, t *worktree.Tree) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trees[dir] = t
}

// Capture keeps the state of a worktree as a checkpoint. A checkpoint that equals the last one shares
// its ref, so it writes nothing.
func (k *Keeper) Capture(ctx context.Context, thread string, e core.CaptureTree) (protocol.StoredTree, error) {
	t, tree, err := k.captureOnce(ctx, e.Dir)
	if err != nil {
		return protocol.StoredTree{}, err
	}
	stored := protocol.StoredTree{Root: t.Root(), Tree: tree}
	for _, last := range e.Last.Trees {
		if last.Root == t.Root() && last.Tree == tree && t.HasRef(thread, e.Last.RefOf(last)) {
			stored.Ref = e.Last.RefOf(last)
			return stored, nil
		}
	}
	return stored, k.keep(ctx, t, thread, e.Turn, tree)
}

// captureOnce captures the worktree of a directory. Threads of one directory take turns, so that those
// after the first find the files unchanged.
func (k *Keeper) captureOnce(ctx context.Context, dir string) (*worktree.Tree, string, error) {
	turn := k.turn(dir)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return nil, "", ctx.Err()
	}
	defer func() { <-turn }()
	if t, tree := k.unchanged(ctx, dir); t != nil {
		return t, tree, nil
	}
	// The folder can belong to another repository than at the last turn.
	t, err := worktree.Open(ctx, dir, k.options)
	if err != nil {
		return nil, "", err
	}
	k.remember(dir, t)
	k.remember(t.Root(), t)
	tree, err := t.Capture(ctx)
	return t, tree, err
}

func (k *Keeper) turn(dir string) chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.capturing[dir] == nil {
		k.capturing[dir] = make(chan struct{}, 1)
	}
	return k.capturing[dir]
}

// unchanged returns the worktree of a directory and its last capture, or nil if it may have changed.
func (k *Keeper) unchanged(ctx context.Context, dir string) (*worktree.Tree, string) {
	k.mu.Lock()
	t := k.trees[dir]
	k.mu.Unlock()
	if t == nil {
		return nil, ""
	}
	tree := t.Unchanged(ctx, dir)
	if tree == "" {
		return nil, ""
	}
	return t, tree
}

// keepNow captures a worktree, and stores the capture under a name.
func (k *Keeper) keepNow(ctx context.Context, t *worktree.Tree, thread, name string) (tree string, err error) {
	if tree, err = t.Capture(ctx); err != nil {
		return "", err
	}
	return tree, k.keep(ctx, t, thread, name, tree)
}

func (k *Keeper) keep(ctx context.Context, t *worktree.Tree, thread, name, tree string) error {
	if err := k.note(thread, t.Root()); err != nil {
		return err
	}
	return t.Keep(ctx, thread, name, tree)
}

// keepFiles stores the contents of files before and after changes.
func (k *Keeper) keepFiles(ctx context.Context, t *worktree.Tree, thread, id string, changes []worktree.Change) error {
	files := map[string]worktree.File{}
	for _, c := range changes {
		for _, f := range []worktree.File{c.Before, c.After} {
			if f.Mode != 0 {
				files[f.Object] = worktree.File{Mode: worktree.ModeFile, Object: f.Object}
			}
		}
	}
	if len(files) == 0 {
		return nil
	}
	tree, err := t.Compose(ctx, files)
	if err == nil {
		err = k.note(thread, t.Root())
	}
	if err == nil {
		err = t.Keep(ctx, thread, filesOf(id), tree)
	}
	return err
}

func filesOf(id string) string { return id + "-files" }

// Diff returns the diff of changes.
func (k *Keeper) Diff(ctx context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error) {
	diff := core.FileDiff{Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}}}
	for _, c := range changes {
		t, err := k.openRoot(ctx, c.Root)
		if err != nil {
			return diff, err
		}
		if err := addDiff(ctx, &diff, t, treeChanges(c.Changes)); err != nil {
			return diff, err
		}
	}
	return diff, nil
}

// openRoot returns the worktree with a root. A directory can have become part of another worktree
// since.
func (k *Keeper) openRoot(ctx context.Context, root string) (*worktree.Tree, error) {
	t, err := k.open(ctx, root)
	if err == nil && t.Root() != root {
		err = fmt.Errorf("%s belongs to the repository in %s now: what was kept of it cannot be used", root, t.Root())
	}
	return t, err
}

func addDiff(ctx context.Context, diff *core.FileDiff, t *worktree.Tree, changes []worktree.Change) error {
	if len(changes) == 0 {
		return nil
	}
	d, err := t.Diff(ctx, changes)
	if err != nil {
		return err
	}
	diff.Text += d.Text
	diff.Cut = diff.Cut || d.Short
	for _, f := range d.Files {
		count(&diff.Summary, f)
	}
	return nil
}

func count(s *protocol.DiffSummary, f worktree.FileStat) {
	file := protocol.DiffFile{Path: f.Path, Kind: string(f.Kind), Additions: f.Additions, Deletions: f.Deletions,
		Binary: f.Binary}
	switch f.Kind {
	case worktree.Created:
		s.FilesCreated++
	case worktree.Deleted:
		s.FilesDeleted++
	case worktree.Renamed:
		file.OldPath = &f.OldPath
		s.FilesModified++
	default:
		s.FilesModified++
	}
	s.TotalAdditions += f.Additions
	s.TotalDeletions += f.Deletions
	s.Files = append(s.Files, file)
}

// Compare returns the difference of two states. A nil state is the present one.
func (k *Keeper) Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error) {
	diff := core.FileDiff{Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}}}
	for _, before := range from {
		t, err := k.openRoot(ctx, before.Root)
		if err != nil {
			return diff, err
		}
		after, err := treeIn(ctx, t, to)
		if err != nil {
			return diff, err
		}
		changes, err := t.Changes(ctx, before.Tree, after)
		if err != nil {
			return diff, err
		}
		if err := addDiff(ctx, &diff, t, changes); err != nil {
			return diff, err
		}
	}
	return diff, nil
}

// treeIn returns the tree of a worktree in a checkpoint, or of its present state if the checkpoint is
// nil.
func treeIn(ctx context.Context, t *worktree.Tree, of []protocol.StoredTree) (string, error) {
	if of == nil {
		return t.Capture(ctx)
	}
	for _, tree := range of {
		if tree.Root == t.Root() {
			return tree.Tree, nil
		}
	}
	return "", fmt.Errorf("the other checkpoint is not of %s", t.Root())
}

// Restore undoes changes, all or none, and stores the state before. Each worktree is restored as a
// whole, after all of them were checked.
func (k *Keeper) Restore(ctx context.Context, thread, id string, changes []protocol.WorktreeChanges,
	dry bool) (*core.Restored, error) {
	trees, err := k.lookAt(ctx, changes)
	if err != nil {
		return nil, err
	}
	back := filechanges.Inverse(id, changes)
	done := &core.Restored{}
	if done.Diff, err = k.Diff(ctx, back); err != nil || dry {
		return done, err
	}
	for i, t := range trees {
		tree, err := k.keepNow(ctx, t, thread, id)
		if err == nil {
			err = k.keepFiles(ctx, t, thread, id, treeChanges(back[i].Changes))
		}
		if err != nil {
			return nil, err
		}
		done.Trees = append(done.Trees, protocol.StoredTree{Root: t.Root(), Tree: tree})
	}
	for i, t := range trees {
		if _, err := t.Restore(ctx, treeChanges(changes[i].Changes), false); err != nil {
			k.forget(ctx, thread, t.Root(), []string{id, filesOf(id)})
			return nil, conflict(t.Root(), err)
		}
	}
	return done, nil
}

// lookAt opens the worktrees of changes, and checks whether the changes can be undone.
func (k *Keeper) lookAt(ctx context.Context, changes []protocol.WorktreeChanges) (trees []*worktree.Tree, err error) {
	var paths []string
	for _, c := range changes {
		t, err := k.openRoot(ctx, c.Root)
		if err != nil {
			return nil, err
		}
		_, err = t.Restore(ctx, treeChanges(c.Changes), true)
		var changed *worktree.ConflictError
		switch {
		case errors.As(err, &changed):
			paths = append(paths, below(c.Root, changed.Paths)...)
		case err != nil:
			return nil, err
		}
		trees = append(trees, t)
	}
	if len(paths) > 0 {
		return nil, core.ErrConflict(paths)
	}
	return trees, nil
}

func conflict(root string, err error) error {
	var changed *worktree.ConflictError
	if errors.As(err, &changed) {
		return core.ErrConflict(below(root, changed.Paths))
	}
	return err
}

func below(root string, paths []string) []string {
	absolute := make([]string, len(paths))
	for i, p := range paths {
		absolute[i] = filepath.Join(root, p)
	}
	return absolute
}

func treeChanges(stored []protocol.WorktreeChange) []worktree.Change {
	changes := make([]worktree.Change, len(stored))
	for i, c := range stored {
		changes[i] = worktree.Change{Path: c.Path, Before: worktree.File(c.Before), After: worktree.File(c.After)}
	}
	return changes
}

func storedChanges(changes []worktree.Change) []protocol.WorktreeChange {
	stored := make([]protocol.WorktreeChange, len(changes))
	for i, c := range changes {
		stored[i] = protocol.WorktreeChange{Path: c.Path, Before: protocol.WorktreeFile(c.Before),
			After: protocol.WorktreeFile(c.After)}
	}
	return stored
}
