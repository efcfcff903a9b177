package worktree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/worktree"
)

// turn returns a change of some files of mixed, with captures of before and after.
func turn(t *testing.T) (*world, *worktree.Tree, []worktree.Change) {
	w := mixed(t)
	tree := w.open()
	before := w.capture(tree)
	w.put("committed.txt", "changed\n")
	w.put("new/new.txt", "new\n")
	w.remove("sub/dir/deep.txt")
	w.remove("sub/dir")
	return w, tree, w.changes(tree, before, w.capture(tree))
}

func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*world)
		paths []string
	}{
		"changed since":    {func(w *world) { w.put("committed.txt", "by the user\n") }, []string{"committed.txt"}},
		"removed since":    {func(w *world) { w.remove("committed.txt") }, []string{"committed.txt"}},
		"executable since": {func(w *world) { _ = os.Chmod(w.path("new/new.txt"), 0o755) }, []string{"new/new.txt"}},
		"made since": {func(w *world) { w.put("sub/dir/deep.txt", "by the user\n") },
			[]string{"sub/dir/deep.txt"}},
		"a folder since": {func(w *world) { w.put("sub/dir/deep.txt/x", "by the user\n") },
			[]string{"sub/dir/deep.txt"}},
		"a link since": {func(w *world) { w.link("staged.txt", "committed.txt") }, []string{"committed.txt"}},
		"folder leads out": {func(w *world) { w.put(w.user+"/out/x", ""); w.link(w.user+"/out", "sub/dir") },
			[]string{"sub/dir/deep.txt"}},
		"folder leads into .git": {func(w *world) { w.link("../.git/hooks", "sub/dir") }, []string{"sub/dir/deep.txt"}},
		"two of them, in order": {func(w *world) { w.put("new/new.txt", "x"); w.put("committed.txt", "x") },
			[]string{"committed.txt", "new/new.txt"}},
		"a file where a folder was": {func(w *world) { w.remove("sub"); w.put("sub", "by the user\n") },
			[]string{"sub/dir/deep.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, tree, changes := turn(t)
			tt.spoil(w)
			files, out := w.files(filepath.Dir(w.root)), w.state()
			_, err := tree.Restore(context.Background(), changes, false)
			var conflict *worktree.ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, tt.paths, conflict.Paths)
			_, dry := tree.Restore(context.Background(), changes, true)
			require.ErrorAs(t, dry, &conflict, "a dry restore has the same conflict")
			require.Equal(t, files, w.files(filepath.Dir(w.root)), "nothing is written anywhere")
			require.Equal(t, out, w.state())
		})
	}
}

func TestRestoreOfLostContent(t *testing.T) {
	t.Parallel()
	w, tree, changes := turn(t)
	w.run("gc", "-q", "--prune=now")
	for i := range changes {
		if changes[i].Path == "committed.txt" {
			changes[i].Before.Object = strings.Repeat("12", 20)
		}
	}
	files := w.files(w.root)
	_, err := tree.Restore(context.Background(), changes, false)
	require.ErrorContains(t, err, `"committed.txt": the repository no longer has its former content, `+strings.Repeat("12", 20)+
		`. No file was changed`)
	require.Equal(t, files, w.files(w.root))
}

func TestRestoreKeepsPermissions(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	require.NoError(t, os.Chmod(w.path("committed.txt"), 0o640))
	require.NoError(t, os.Chmod(w.path("run.sh"), 0o750))
	tree := w.open()
	before := w.capture(tree)
	w.put("committed.txt", "changed\n")
	w.put("run.sh", "changed\n")
	changes := w.changes(tree, before, w.capture(tree))
	_, err := tree.Restore(context.Background(), changes, false)
	require.NoError(t, err)
	for name, perm := range map[string]os.FileMode{"committed.txt": 0o640, "run.sh": 0o750} {
		info, err := os.Stat(w.path(name))
		require.NoError(t, err)
		require.Equal(t, perm, info.Mode().Perm(), name)
	}
}

func TestForgetAndPack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	tree := w.open()
	for _, name := range []string{"one", "two", "three"} {
		w.put("untracked.txt", name)
		require.NoError(t, tree.Keep(ctx, "a", name, w.capture(tree)))
	}
	require.NoError(t, tree.Keep(ctx, "b", "one", w.capture(tree)))
	state := w.state()
	delete(state, "packed-refs")
	list := func() string { return w.run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/appserver") }
	require.NoError(t, tree.Forget(ctx, "a", []string{"two", "none"}))
	require.Equal(t, "a/one\na/three\nb/one\n", list())
	require.NoError(t, tree.Pack(ctx))
	require.NoError(t, tree.Pack(ctx), "nothing is left to pack")
	require.Equal(t, "one", w.run("cat-file", "-p", "refs/appserver/a/one:untracked.txt"))
	require.Equal(t, state, w.state())
	w.run("pack-refs", "--all")
	require.NoError(t, tree.Forget(ctx, "a", nil))
	require.NoError(t, tree.Forget(ctx, "a", nil))
	require.Equal(t, "b/one\n", list())
	w.run("fsck", "--strict")
	for _, bad := range []string{"", "..", "a/b", "a.lock", "-x", "a b", "a\nb"} {
		require.Error(t, tree.Keep(ctx, "a", bad, w.capture(tree)), "%q", bad)
		require.Error(t, tree.Forget(ctx, bad, nil), "%q", bad)
	}
	require.Error(t, tree.Keep(ctx, "a", "b", strings.Repeat("12", 20)))
}

// TestForgetAfterAKill has locks of git in the thread's folder, of a name that is there and of one
// that was to be.
func TestForgetAfterAKill(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	require.NoError(t, tree.Keep(t.Context(), "a", "one", w.capture(tree)))
	require.NoError(t, tree.Keep(t.Context(), "b", "one", w.capture(tree)))
	for _, lock := range []string{"a/one.lock", "a/two.lock", "b/two.lock"} {
		require.NoError(t, os.WriteFile(w.path(".git/refs/appserver/"+lock), []byte("0123"), 0o644))
	}
	require.NoError(t, tree.Forget(t.Context(), "a", nil))
	require.NoDirExists(t, w.path(".git/refs/appserver/a"))
	require.FileExists(t, w.path(".git/refs/appserver/b/two.lock"), "another thread's")
	require.Equal(t, "b/one\n", w.run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/appserver"))
}

func TestLinksThatLeadElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"refs/appserver/thread", "logs/refs/appserver", "objects/ab", "objects/pack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mixed(t)
			w.remove(".git/" + name)
			require.NoError(t, os.MkdirAll(filepath.Dir(w.path(".git/"+name)), 0o755))
			require.NoError(t, os.Symlink(w.user, w.path(".git/"+name)))
			files := w.files(w.user)
			tree := w.open()
			err := tree.Keep(context.Background(), "thread", "turn", w.capture(tree))
			require.Equal(t, strings.HasPrefix(name, "objects"), err == nil, "objects have another place to go to")
			require.Equal(t, files, w.files(w.user))
		})
	}
}

// TestReadOnlyRepository runs as a user who may not write the git folder.
func TestReadOnlyRepository(t *testing.T) {
	if os.Getuid() == 0 {
		runAsPlainUser(t, "^TestReadOnlyRepository$")
		return
	}
	w := mixed(t)
	w.run("gc", "-q")
	w.exec("chmod", "-R", "a-w", w.path(".git"))
	t.Cleanup(func() { w.exec("chmod", "-R", "u+w", w.path(".git")) })
	ctx := context.Background()
	state, files := w.state(), w.files(w.root)
	tree := w.open()
	before := w.capture(tree)
	require.NoError(t, tree.Keep(ctx, "thread", "turn", before))
	w.put("committed.txt", "changed\n")
	changes := w.changes(tree, before, w.capture(tree))
	require.Equal(t, []string{"committed.txt"}, paths(changes))
	_, err := tree.Restore(ctx, changes, false)
	require.NoError(t, err)
	require.Equal(t, files, w.files(w.root))
	require.Equal(t, state, w.state())
}

// TestUnreadableFiles runs as a user who may not read some files.
func TestUnreadableFiles(t *testing.T) {
	if os.Getuid() == 0 {
		runAsPlainUser(t, "^TestUnreadableFiles$")
		return
	}
	w := mixed(t)
	w.put("closed.txt", "closed\n")
	require.NoError(t, os.Chmod(w.path("closed.txt"), 0))
	tree := w.open()
	before := w.capture(tree)
	w.put("committed.txt", "changed\n")
	require.Equal(t, []string{"committed.txt"}, paths(w.changes(tree, before, w.capture(tree))))

	require.NoError(t, os.Chmod(w.root, 0o555))
	t.Cleanup(func() { _ = os.Chmod(w.root, 0o755) })
	_, err := tree.Restore(context.Background(), w.changes(tree, before, w.capture(tree)), false)
	require.ErrorContains(t, err, "cannot write in "+w.root)
}

// TestRestoreIsUndone runs as a user for whom the disk fails in the midst of it.
func TestRestoreIsUndone(t *testing.T) {
	if os.Getuid() == 0 {
		runAsPlainUser(t, "^TestRestoreIsUndone$")
		return
	}
	w := mixed(t)
	for _, closed := range []string{"closed", "sub/closed"} {
		for _, name := range []string{"a.txt", "m/gone.txt", closed + "/x.txt", "z.txt"} {
			w.put(name, "former\n")
		}
		tree := w.open()
		before := w.capture(tree)
		w.put("a.txt", "changed\n")
		w.put("0/new.txt", "new\n")
		w.link("a.txt", "new-link")
		w.remove("m")
		w.put(closed+"/x.txt", "changed\n")
		w.remove("z.txt")
		changes := w.changes(tree, before, w.capture(tree))
		require.Len(t, changes, 6)
		require.NoError(t, os.Chmod(w.path(closed), 0o555))
		files := w.files(w.root)
		_, err := tree.Restore(context.Background(), changes, false)
		require.ErrorContains(t, err, "permission denied. No file was changed")
		require.Equal(t, files, w.files(w.root))
		require.NoDirExists(t, w.path("m"), "a folder that was made for it goes")
		require.NoError(t, os.Chmod(w.path(closed), 0o755))
		_, err = tree.Restore(context.Background(), changes, false)
		require.NoError(t, err)
	}
}

// runAsPlainUser runs a test of this program in a process without privileges.
func runAsPlainUser(t *testing.T, name string) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "plain-user-") // the user cannot enter t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	copied := filepath.Join(dir, "test")
	out, err := exec.Command("cp", program, copied).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Chmod(copied, 0o755))
	require.NoError(t, os.Chmod(dir, 0o777))
	cmd := exec.Command(copied, "-test.run", name, "-test.v")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + dir}
	plainUser(cmd)
	out, err = cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+strings.Trim(name, "^$"))
}

// TestRestoreRefusesALinkAtTheRoot replaces the worktree by a link, as a command can in a writable folder.
func TestRestoreRefusesALinkAtTheRoot(t *testing.T) {
	t.Parallel()
	w, tree, changes := turn(t)
	moved := w.root + ".moved"
	require.NoError(t, os.Rename(w.root, moved))
	require.NoError(t, os.Symlink(moved, w.root))
	before := w.files(moved)
	_, err := tree.Restore(context.Background(), changes, false)
	require.Error(t, err)
	require.Equal(t, before, w.files(moved))
}
