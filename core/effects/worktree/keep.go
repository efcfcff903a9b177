package worktree

import (
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// refs is the prefix of all refs, with one folder per thread.
const refs = "refs/appserver"

// namesRef reports whether s can be a thread or the name of a capture. A regular expression would take
// half a millisecond to compile, in every process.
func namesRef(s string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
	return s != "" && len(s) <= 200 && s[0] != '-' && strings.Trim(s, letters+"-") == ""
}

// Keep creates the ref refs/appserver/THREAD/NAME for a capture. When it returns, the capture is
// durable until [Tree.Forget]. Names have letters, digits, - and _. In a linked worktree the name gets
// a suffix, because all worktrees of a repository share its refs.
func (t *Tree) Keep(ctx context.Context, thread, name, object string) error {
	ref, err := t.ref(thread, name+t.mark())
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	commit, err := t.commit(ctx, object)
	if err != nil {
		return err
	}
	made, err := t.createRef(ref, commit)
	if err == nil && !made {
		_, err = t.refsGit().run(ctx, nil, "update-ref", ref, commit)
	}
	if err != nil {
		return err
	}
	return t.syncRef(filepath.Join(t.refsGit().dir, filepath.FromSlash(ref)))
}

// commit returns a commit of a tree. Threads with the same capture share it.
func (t *Tree) commit(ctx context.Context, tree string) (string, error) {
	t.mu.Lock()
	last := t.committed
	t.mu.Unlock()
	if last.tree == tree && t.isLoose(last.commit) {
		return last.commit, nil
	}
	commit, err := t.git.word(ctx, strings.NewReader("Checkpoint\n"), "commit-tree", tree)
	if err == nil {
		t.mu.Lock()
		t.committed = committed{tree, commit}
		t.mu.Unlock()
	}
	return commit, err
}

// Forget deletes the refs of a thread with these names, or all of them if names is nil. Missing refs
// are no error.
func (t *Tree) Forget(ctx context.Context, thread string, names []string) error {
	if _, err := t.ref(thread, "all"); err != nil {
		return err
	}
	prefix := refs + "/" + thread + "/"
	if names == nil {
		t.clearLocks(thread)
		defer t.clearLocks(thread)
	}
	kept, err := t.refsGit().word(ctx, nil, "for-each-ref", "--format=%(refname)", prefix)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, ref := range strings.Fields(kept) {
		if names == nil || slices.Contains(names, strings.TrimSuffix(strings.TrimPrefix(ref, prefix), t.mark())) {
			lines.WriteString("delete " + ref + "\x00\x00")
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	_, err = t.refsGit().run(ctx, strings.NewReader(lines.String()), "update-ref", "-z", "--stdin")
	return err
}

// clearLocks removes the locks of a git process that was killed while it wrote refs of a thread, and
// the thread's folder if it is empty then. The caller has ended all processes that keep captures of
// the thread.
func (t *Tree) clearLocks(thread string) {
	dir := filepath.Join(t.refsGit().dir, filepath.FromSlash(refs), thread)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".lock") {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	_ = os.Remove(dir)
}

// mark returns the part of a ref's name that distinguishes linked worktrees of one repository.
func (t *Tree) mark() string {
	if t.dir == t.common {
		return ""
	}
	return fmt.Sprintf("-%08x", crc32.ChecksumIEEE([]byte(filepath.Base(t.dir))))
}

// refsGit returns git for the refs, in the repository's own git folder if it has one.
func (t *Tree) refsGit() git {
	g := t.git
	g.work = t.home
	if t.common != "" {
		g.dir, g.objects = t.common, ""
	}
	return g
}

// ref returns the name of a capture's ref. It fails if a folder of the ref or of its log is a link,
// because git would write elsewhere.
func (t *Tree) ref(thread, name string) (string, error) {
	if !namesRef(thread) || !namesRef(name) {
		return "", fmt.Errorf("%q and %q cannot name a capture: use letters, digits, - and _", thread, name)
	}
	ref := refs + "/" + thread + "/" + name
	for _, file := range []string{ref, "logs/" + ref} {
		for ; file != "."; file = filepath.Dir(file) {
			info, err := os.Lstat(filepath.Join(t.refsGit().dir, file))
			if err == nil && info.Mode().Type() == fs.ModeSymlink {
				return "", fmt.Errorf("%s in %s is a link; remove it", file, t.refsGit().dir)
			}
		}
	}
	return ref, nil
}

// Pack moves the objects of all refs into a pack. In our own store it also removes unused objects that
// are older than a day.
func (t *Tree) Pack(ctx context.Context) error {
	l, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	if t.common == "" {
		if _, err := l.git.run(ctx, nil, "repack", "-A", "-d", "-q", "--unpack-unreachable=1.day.ago"); err != nil {
			return err
		}
		_, err := l.git.run(ctx, nil, "prune", "--expire=1.day.ago")
		return err
	}
	kept, err := t.refsGit().run(ctx, nil, "for-each-ref", "--format=%(objectname)", refs+"/")
	if err != nil || len(kept) == 0 {
		return err
	}
	pack := filepath.Join(l.git.objects, "pack", "pack")
	_, err = l.git.run(ctx, strings.NewReader(string(kept)), "pack-objects", "--revs", "--unpacked", "--incremental",
		"--non-empty", "-q", pack)
	if err != nil {
		return err
	}
	_, err = l.git.run(ctx, nil, "prune-packed", "-q")
	return err
}
