package app

import (
	"context"
	"crypto/sha1"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/pure/filechanges"
	"appserver/protocol"
)

// fakeWorktree is a worktree of fake files, whose root is /. A command that may write appends a
// line to /made.
type fakeWorktree struct {
	files fakeFiles
	blobs map[string]string
	trees map[string]fakeFiles
}

func newFakeWorktree(files fakeFiles) *fakeWorktree {
	return &fakeWorktree{files, map[string]string{}, map[string]fakeFiles{}}
}

func (w *fakeWorktree) holds(files fakeFiles, path string) (f protocol.WorktreeFile) {
	text, there := files[path]
	if !there {
		return f
	}
	object := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(text), text)))
	w.blobs[object] = text
	return protocol.WorktreeFile{Mode: 0o100644, Object: object}
}

func (w *fakeWorktree) capture() protocol.StoredTree {
	tree := fmt.Sprintf("%040x", len(w.trees)+1)
	w.trees[tree] = maps.Clone(w.files)
	return protocol.StoredTree{Root: "/", Tree: tree}
}

func (w *fakeWorktree) between(before, after fakeFiles) (changes []protocol.WorktreeChange) {
	all := maps.Clone(before)
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c := protocol.WorktreeChange{Path: strings.TrimPrefix(name, "/"), Before: w.holds(before, name),
			After: w.holds(after, name)}
		if c.Before != c.After {
			changes = append(changes, c)
		}
	}
	return changes
}

// Capture takes a nanosecond, so that it ends after everything that takes no time, such as an answer of
// the model.
func (w *fakeWorktree) Capture(context.Context, string, core.CaptureTree) (protocol.StoredTree, error) {
	<-time.After(time.Nanosecond)
	return w.capture(), nil
}

func (w *fakeWorktree) Track(ctx context.Context, _ string, t core.Track, paths []string, do func()) *core.Tracked {
	before := maps.Clone(w.files)
	do()
	if paths == nil {
		w.files["/made"] += "made\n"
	}
	tracked := &core.Tracked{Changes: protocol.WorktreeChanges{ID: t.Turn, Root: "/", Changes: w.between(before, w.files)}}
	diff, _ := w.Diff(ctx, filechanges.Net(append(slices.Clip(t.Before), tracked.Changes)))
	tracked.Diff = &diff
	return tracked
}

func (w *fakeWorktree) Diff(_ context.Context, changes []protocol.WorktreeChanges) (core.FileDiff, error) {
	d := core.FileDiff{Summary: protocol.DiffSummary{Files: []protocol.DiffFile{}}}
	for _, c := range changes {
		for _, one := range c.Changes {
			w.add(&d, one)
		}
	}
	return d, nil
}

// add adds the diff of a file. It removes all old lines and adds all new ones.
func (w *fakeWorktree) add(d *core.FileDiff, c protocol.WorktreeChange) {
	file := protocol.DiffFile{Path: c.Path, Kind: protocol.DiffModified}
	from, to := "a/"+c.Path, "b/"+c.Path
	d.Text += fmt.Sprintf("diff --git %s %s\n", from, to)
	switch {
	case c.Before.Mode == 0:
		file.Kind, from = protocol.DiffCreated, "/dev/null"
		d.Text += "new file mode 100644\n"
		d.Summary.FilesCreated++
	case c.After.Mode == 0:
		file.Kind, to = protocol.DiffDeleted, "/dev/null"
		d.Text += "deleted file mode 100644\n"
		d.Summary.FilesDeleted++
	default:
		d.Summary.FilesModified++
	}
	before, after := w.blobs[c.Before.Object], w.blobs[c.After.Object]
	file.Deletions, file.Additions = strings.Count(before, "\n"), strings.Count(after, "\n")
	d.Summary.TotalAdditions += file.Additions
	d.Summary.TotalDeletions += file.Deletions
	d.Summary.Files = append(d.Summary.Files, file)
	d.Text += fmt.Sprintf("--- %s\n+++ %s\n@@ -%s +%s @@\n", from, to, lineRange(file.Deletions),
		lineRange(file.Additions))
	for line := range strings.Lines(before) {
		d.Text += "-" + line
	}
	for line := range strings.Lines(after) {
		d.Text += "+" + line
	}
}

func lineRange(n int) string {
	if n == 1 {
		return "1"
	}
	return fmt.Sprintf("%d,%d", min(n, 1), n)
}

func (w *fakeWorktree) Compare(ctx context.Context, from, to []protocol.StoredTree) (core.FileDiff, error) {
	after := w.files
	if to != nil {
		after = w.trees[to[0].Tree]
	}
	return w.Diff(ctx, []protocol.WorktreeChanges{{Root: "/", Changes: w.between(w.trees[from[0].Tree], after)}})
}

func (w *fakeWorktree) Restore(ctx context.Context, _, id string, changes []protocol.WorktreeChanges,
	dry bool) (*core.Restored, error) {
	var changed []string
	for _, c := range changes[0].Changes {
		if now := w.holds(w.files, path.Join("/", c.Path)); now != c.After && now != c.Before {
			changed = append(changed, path.Join("/", c.Path))
		}
	}
	if len(changed) > 0 {
		return nil, core.ErrConflict(changed)
	}
	done := &core.Restored{}
	done.Diff, _ = w.Diff(ctx, filechanges.Inverse(id, changes))
	if dry {
		return done, nil
	}
	done.Trees = []protocol.StoredTree{w.capture()}
	for _, c := range changes[0].Changes {
		delete(w.files, path.Join("/", c.Path))
		if c.Before.Mode != 0 {
			w.files[path.Join("/", c.Path)] = w.blobs[c.Before.Object]
		}
	}
	return done, nil
}

func (*fakeWorktree) Copy(context.Context, string, core.CopyCheckpoints)     {}
func (*fakeWorktree) Forget(context.Context, string, core.DeleteCheckpoints) {}
func (*fakeWorktree) ForgetThread(context.Context, string)                   {}
