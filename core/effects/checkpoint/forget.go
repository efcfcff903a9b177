package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/effects/worktree"
	"appserver/platform/osfile"
	"appserver/protocol"
)

// packEvery is the number of deleted checkpoints after which the remaining objects are packed.
const packEvery = 32

// Forget deletes checkpoints and the changes since them. Refs that other checkpoints share stay.
func (k *Keeper) Forget(ctx context.Context, thread string, e core.DeleteCheckpoints) {
	names := map[string][]string{}
	for _, p := range e.Points {
		for _, tree := range p.Trees {
			names[tree.Root] = append(names[tree.Root], filesOf(p.ID))
			if ref := p.RefOf(tree); !protocol.SharesRef(e.Kept, tree.Root, ref) {
				names[tree.Root] = append(names[tree.Root], ref)
			}
		}
	}
	for root, of := range names {
		k.forget(ctx, thread, root, of)
	}
}

func (k *Keeper) forget(ctx context.Context, thread, root string, names []string) {
	t, err := k.openRoot(ctx, root)
	if err == nil {
		err = t.Forget(ctx, thread, names)
	}
	if err == nil && k.forgotten.Add(1)%packEvery == 0 {
		err = t.Pack(ctx)
	}
	if err != nil {
		k.report(fmt.Errorf("forgetting checkpoints of thread %s in %s: %w", thread, root, err))
	}
}

// ForgetThread deletes all captures of a thread.
func (k *Keeper) ForgetThread(ctx context.Context, thread string) {
	roots, err := k.rootsOf(thread)
	for _, root := range roots {
		k.forget(ctx, thread, root, nil)
	}
	if err == nil && roots != nil {
		err = os.Remove(k.noteOf(thread))
	}
	if err != nil {
		k.report(err)
	}
}

// Copy copies the existing checkpoints to another thread.
func (k *Keeper) Copy(ctx context.Context, thread string, e core.CopyCheckpoints) {
	keep := func(id, root string, as func(*worktree.Tree) error) {
		t, err := k.openRoot(ctx, root)
		if err == nil {
			err = k.note(thread, root)
		}
		if err == nil {
			err = as(t)
		}
		if err != nil {
			k.report(fmt.Errorf("the checkpoint %s is not kept for the fork %s: %w", id, thread, err))
		}
	}
	for _, c := range e.Changes {
		keep(c.ID, c.Root, func(t *worktree.Tree) error { return k.keepFiles(ctx, t, thread, c.ID, treeChanges(c.Changes)) })
	}
	// After the files: who finds the checkpoint finds what it takes.
	type shared struct{ root, ref string }
	done := map[shared]bool{}
	for _, p := range e.Points {
		for _, tree := range p.Trees {
			at := shared{tree.Root, p.RefOf(tree)}
			if done[at] {
				continue
			}
			done[at] = true
			keep(p.ID, tree.Root, func(t *worktree.Tree) error { return t.Keep(ctx, thread, p.RefOf(tree), tree.Tree) })
		}
	}
}

func (k *Keeper) noteOf(thread string) string {
	return filepath.Join(k.options.Home, "threads", thread)
}

// note is the file with the worktrees of a thread. It is replaced and never written in place, because threads with the
// same worktrees can share it.
type note struct {
	thread, text string
	file         osfile.Info
}

// note records that a worktree has captures of a thread.
func (k *Keeper) note(thread, root string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	roots, err := k.rootsOf(thread)
	if err != nil || slices.Contains(roots, root) {
		return err
	}
	dir := filepath.Dir(k.noteOf(thread))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	notes, err := osfile.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer func() { _ = notes.Close() }()
	text := strings.Join(append(roots, root), "\x00") + "\x00"
	if last := k.written; last.text == text && notes.LinkUnchanged(last.thread, notes, thread, last.file) == nil {
		return nil
	}
	return k.write(notes, thread, text)
}

func (k *Keeper) write(notes *osfile.Folder, thread, text string) error {
	name := k.noteOf(thread)
	if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
		return err
	}
	if err := osfile.Rename(name+".new", name); err != nil {
		return err
	}
	file, err := notes.Stat(thread)
	k.written = note{thread, text, file}
	return err
}

// rootsOf returns the worktrees with captures of a thread.
func (k *Keeper) rootsOf(thread string) ([]string, error) {
	text, err := os.ReadFile(k.noteOf(thread))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), nil
}
