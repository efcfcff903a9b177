package engine_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"appserver/core"
	"appserver/core/engine"
	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// folder is a worktree in memory. The content of a file is also its object.
type folder struct {
	mu    sync.Mutex
	files map[string]string
	trees map[string]map[string]string
	// names is the existing checkpoints, as THREAD/ID.
	names []string
	// edits is the changes of the next tracked effects, one for each.
	edits []map[string]string
	// hold blocks captures until it is closed. It may be nil.
	hold chan struct{}
	err  error
}

func newFolder() *folder {
	return &folder{files: map[string]string{}, trees: map[string]map[string]string{}}
}

func (f *folder) Capture(ctx context.Context, thread string, e core.CaptureTree) (protocol.StoredTree, error) {
	f.mu.Lock()
	hold, err := f.hold, f.err
	f.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return protocol.StoredTree{}, ctx.Err()
		}
	}
	if err != nil {
		return protocol.StoredTree{}, err
	}
	return f.keep(thread, e.Turn), nil
}

func (f *folder) keep(thread, id string) protocol.StoredTree {
	f.mu.Lock()
	defer f.mu.Unlock()
	tree := fmt.Sprintf("tree-%d", len(f.trees))
	f.trees[tree] = maps.Clone(f.files)
	f.names = append(f.names, thread+"/"+id)
	return protocol.StoredTree{Root: "/repo", Tree: tree}
}

// edit changes files; "" deletes one.
func (f *folder) edit(files map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, text := range files {
		if f.files[path] = text; text == "" {
			delete(f.files, path)
		}
	}
}

func (f *folder) now() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.files)
}

func (f *folder) kept() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.names)
}

func holding(text string) (w protocol.WorktreeFile) {
	if text != "" {
		w = protocol.WorktreeFile{Mode: 0o100644, Object: text}
	}
	return w
}

func changesBetween(before, after map[string]string) (changes []protocol.WorktreeChange) {
	both := maps.Clone(before)
	maps.Copy(both, after)
	for _, path := range slices.Sorted(maps.Keys(both)) {
		if before[path] != after[path] {
			changes = append(changes,
				protocol.WorktreeChange{Path: path, Before: holding(before[path]), After: holding(after[path])})
		}
	}
	return changes
}

func (f *folder) Track(_ context.Context, _ string, t core.Track, _ []string, do func()) *core.Tracked {
	before := f.now()
	do()
	f.mu.Lock()
	var edit map[string]string
	if len(f.edits) > 0 {
		edit, f.edits = f.edits[0], f.edits[1:]
	}
	f.mu.Unlock()
	f.edit(edit)
	tracked := &core.Tracked{Changes: protocol.WorktreeChanges{ID: t.Turn, Root: "/repo",
		Changes: changesBetween(before, f.now())}}
	diff, _ := f.Diff(context.Background(), filechanges.Net(append(slices.Clip(t.Before), tracked.Changes)))
	tracked.Diff = &diff
	return tracked
}

func (f *folder) Diff(_ context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error) {
	d := core.FileDiff{Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}}}
	for _, c := range changes {
		for _, one := range c.Changes {
			d.Text += fmt.Sprintf("%s: %s -> %s\n", one.Path, one.Before.Object, one.After.Object)
			d.Summary.Files = append(d.Summary.Files, protocol.DiffFile{Path: one.Path, Kind: protocol.DiffModified})
		}
	}
	return d, nil
}

func (f *folder) Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error) {
	after := f.now()
	if to != nil {
		after = f.trees[to[0].Tree]
	}
	return f.Diff(ctx, []protocol.WorktreeChanges{{Root: "/repo", Changes: changesBetween(f.trees[from[0].Tree], after)}})
}

func (f *folder) Restore(ctx context.Context, thread, id string, changes []protocol.WorktreeChanges,
	dry bool) (*core.Restored, error) {
	now, back := f.now(), map[string]string{}
	var changed []string
	for _, one := range changes[0].Changes {
		switch now[one.Path] {
		case one.After.Object, one.Before.Object:
			back[one.Path] = one.Before.Object
		default:
			changed = append(changed, "/repo/"+one.Path)
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if len(changed) > 0 {
		return nil, core.ErrConflict(changed)
	}
	done := &core.Restored{}
	done.Diff, _ = f.Diff(ctx, filechanges.Inverse(id, changes))
	if !dry {
		done.Trees = []protocol.StoredTree{f.keep(thread, id)}
		f.edit(back)
	}
	return done, nil
}

func (f *folder) Copy(_ context.Context, thread string, e core.CopyCheckpoints) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range e.Points {
		f.names = append(f.names, thread+"/"+p.ID)
	}
}

func (f *folder) Forget(_ context.Context, thread string, e core.DeleteCheckpoints) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range e.Points {
		f.names = slices.DeleteFunc(f.names, func(name string) bool { return name == thread+"/"+p.ID })
	}
}

func (f *folder) ForgetThread(_ context.Context, thread string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names = slices.DeleteFunc(f.names, func(name string) bool { return name[:len(thread)] == thread })
}

var errTooLarge = errors.New("/repo has more than 5 files, and is not captured")

func checkpoints(thread string) call {
	p := &protocol.ThreadCheckpointListParams{ThreadID: thread}
	return call{"thread/checkpoint/list", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadCheckpointList(to, p) }}
}

func checkpointDiff(p protocol.ThreadCheckpointDiffParams) call {
	return call{"thread/checkpoint/diff", p.ThreadID,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadCheckpointDiff(to, &p) }}
}

func readDiff(thread string) call {
	p := &protocol.ThreadDiffReadParams{ThreadID: thread}
	return call{"thread/diff/read", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadDiffRead(to, p) }}
}

func revertTo(thread, id, mode string, dry bool) call {
	p := &protocol.ThreadCheckpointRevertParams{ThreadID: thread, TurnID: id, Mode: mode, DryRun: dry}
	return call{"thread/checkpoint/revert", thread,
		func(e *engine.Engine, to protocol.Caller) error { return e.ThreadCheckpointRevert(to, p) }}
}
