package checkpoint

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/effects/worktree"
	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// lookTime bounds the search for changes after an effect was cancelled. It is less than the engine
// waits for the effect, even if git has to be ended.
const lookTime = 1500 * time.Millisecond

// Track runs do and returns the changes. A command that is cancelled before it starts changes nothing
// and is not examined. A patch is written in any case.
func (k *Keeper) Track(asked context.Context, thread string, t core.Track, paths []string, do func()) *core.Tracked {
	ctx, cancel := lingering(asked)
	defer cancel()
	before := ctx
	if paths == nil {
		before = asked
	}
	look, err := k.begin(before, t.Dir, paths)
	if err != nil && before.Err() != nil {
		do()
		return nil
	}
	do()
	tracked := &core.Tracked{Err: err}
	if err == nil {
		tracked.Err = k.end(ctx, thread, t, look, tracked)
	}
	return tracked
}

// lingering returns a context that ends some time after another one.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lookTime, cancel) })
	return longer, func() { stop(); cancel() }
}

// look has the state of a worktree before an effect: of the whole, or of some paths.
type look struct {
	tree  *worktree.Tree
	whole string
	paths []string
	files map[string]worktree.File
}

func (k *Keeper) begin(ctx context.Context, dir string, paths []string) (look, error) {
	t, err := k.open(ctx, dir)
	if err != nil {
		return look{}, err
	}
	l := look{tree: t}
	if paths == nil {
		l.whole, err = t.Capture(ctx)
		return l, err
	}
	l.paths = relative(t.Root(), dir, paths)
	l.files, err = t.CapturePaths(ctx, l.paths)
	return l, err
}

// relative returns the paths that are in a worktree, relative to its root. They are given relative to
// a directory, which may be another name of a part of it.
func relative(root, dir string, paths []string) []string {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	inside := []string{}
	for _, p := range paths {
		rest, err := filepath.Rel(dir, p)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(root, filepath.Join(real, rest))
		if err == nil && filepath.IsLocal(rel) {
			inside = append(inside, filepath.ToSlash(rel))
		}
	}
	return inside
}

// since returns the changes since the look.
func (l *look) since(ctx context.Context) ([]worktree.Change, error) {
	if l.files == nil {
		now, err := l.tree.Capture(ctx)
		if err != nil || now == l.whole {
			return nil, err
		}
		return l.tree.Changes(ctx, l.whole, now)
	}
	now, err := l.tree.CapturePaths(ctx, l.paths)
	if err != nil {
		return nil, err
	}
	var changes []worktree.Change
	for path, after := range now {
		if before := l.files[path]; before != after {
			changes = append(changes, worktree.Change{Path: path, Before: before, After: after})
		}
	}
	slices.SortFunc(changes, func(a, b worktree.Change) int { return strings.Compare(a.Path, b.Path) })
	return changes, nil
}

func (k *Keeper) end(ctx context.Context, thread string, t core.Track, l look, tracked *core.Tracked) error {
	changes, err := l.since(ctx)
	if err != nil || len(changes) == 0 {
		return err
	}
	root := l.tree.Root()
	tracked.Changes = protocol.WorktreeChanges{ID: t.Turn, Root: root, Changes: storedChanges(changes)}
	net := filechanges.Net(append(slices.Clip(t.Before), tracked.Changes))
	if t.Keep {
		if err := k.keepFiles(ctx, l.tree, thread, t.Turn, changesIn(net, root)); err != nil {
			return fmt.Errorf("what was changed is not kept for good: %w", err)
		}
	}
	diff, err := k.Diff(ctx, net)
	if err == nil {
		tracked.Diff = &diff
	}
	return err
}

func changesIn(changes []protocol.WorktreeChanges, root string) []worktree.Change {
	for _, c := range changes {
		if c.Root == root {
			return treeChanges(c.Changes)
		}
	}
	return nil
}
