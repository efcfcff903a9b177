package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Restored has the paths that a restore changes, in order.
type Restored struct {
	Written, Removed []string
}

// Restore restores the state before some changes: all of it or, if the disk fails, nothing. It
// skips a path that has that state already, so that a killed restore can be repeated. If a path has
// another state than the one to undo, it fails with a [*ConflictError]. A dry restore only checks.
// Folders that lose their last file are removed. Permissions are the ones that git stores.
func (t *Tree) Restore(ctx context.Context, changes []Change, dry bool) (Restored, error) {
	l, err := t.lock(ctx)
	if err != nil {
		return Restored{}, err
	}
	defer l.close()
	if err := l.clear(); err != nil {
		return Restored{}, err
	}
	steps, err := l.plan(changes)
	if err != nil {
		return Restored{}, err
	}
	var r Restored
	for _, s := range steps {
		if s.Before.Mode == 0 {
			r.Removed = append(r.Removed, s.Path)
		} else {
			r.Written = append(r.Written, s.Path)
		}
	}
	if dry || len(steps) == 0 {
		return r, nil
	}
	if err := l.apply(ctx, steps); err != nil {
		return Restored{}, err
	}
	return r, nil
}

// plan returns the steps in the order of the paths.
func (t *Tree) plan(changes []Change) ([]*step, error) {
	removed := map[string]bool{}
	for _, c := range changes {
		removed[c.Path] = c.Before.Mode == 0
	}
	var steps []*step
	var conflicts []string
	for _, c := range changes {
		now, seen, err := t.file(c.Path)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", c.Path, err)
		}
		inTheWay := seen.blocked != "" && !removed[seen.blocked]
		isFolder := seen.there && seen.Kind == fs.ModeDir
		switch {
		case now == c.Before, isFolder && c.Before.Mode == 0:
		case inTheWay:
			conflicts = append(conflicts, c.Path)
		case now == c.After, isFolder && c.After.Mode == 0 && t.removable(c.Path, removed):
			steps = append(steps, &step{Change: c, seen: seen})
		default:
			conflicts = append(conflicts, c.Path)
		}
	}
	if len(conflicts) > 0 {
		slices.Sort(conflicts)
		return nil, &ConflictError{Paths: conflicts}
	}
	slices.SortFunc(steps, func(a, b *step) int { return cmp.Compare(a.Path, b.Path) })
	return steps, nil
}

// removable reports whether a folder has only files that are removed. Git stores no empty folders.
func (t *Tree) removable(name string, removed map[string]bool) bool {
	stays := false
	err := t.walk(name, func(inner string, isFolder bool) {
		stays = stays || !isFolder && !removed[inner]
	})
	return err == nil && !stays
}

// walk visits a folder and its content, each folder before its entries. It follows no links.
func (t *Tree) walk(name string, visit func(name string, isFolder bool)) error {
	return filepath.WalkDir(filepath.Join(t.root, name), func(full string, d fs.DirEntry, err error) error {
		if err == nil {
			visit(filepath.ToSlash(full[len(t.root)+len("/"):]), d.IsDir())
		}
		return err
	})
}

// apply runs the steps, or reverts the completed ones.
func (l *locked) apply(ctx context.Context, steps []*step) error {
	s, err := l.stage()
	if err != nil {
		return err
	}
	defer s.release()
	s.steps = steps
	err = s.writeAll(ctx)
	if err == nil {
		err = s.swap()
	}
	if err == nil {
		return nil
	}
	if undone := s.undo(); undone != nil {
		s.keep = true
		return fmt.Errorf("%w. The changes could not be reverted either; the missing files are in %s: %w", err, s.dir, undone)
	}
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return err
	}
	return fmt.Errorf("%w. No file was changed", err)
}
