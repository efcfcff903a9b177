package worktree_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core/worktree"
)

func TestMain(m *testing.M) {
	root, pair := os.Getenv(captureRoot), os.Getenv(restorePair)
	switch {
	case root != "" && pair != "":
		restoreForever(root, pair)
	case root != "":
		captureForever(root)
	}
	goleak.VerifyTestMain(m)
}

// world is a folder with a repository or without, the home of captures, and a user with
// a configuration of their own.
type world struct {
	t    *testing.T
	root string
	home string
	user string
}

// repository is a world with an empty repository.
func repository(t *testing.T, args ...string) *world {
	t.Helper()
	w := folder(t)
	w.run(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return w
}

// folder is a world outside of any repository.
func folder(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, root: filepath.Join(top, "work"), home: filepath.Join(top, "codex", "appserver-checkpoints"),
		user: filepath.Join(top, "user")}
	require.NoError(t, os.MkdirAll(w.root, 0o755))
	require.NoError(t, os.MkdirAll(w.user, 0o755))
	t.Setenv("HOME", w.user)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(w.user, ".config"))
	w.put(filepath.Join(w.user, ".gitconfig"),
		"[user]\n\tname = U\n\temail = u@example.org\n[protocol \"file\"]\n\tallow = always\n")
	return w
}

// run is what git says, as the user runs it.
func (w *world) run(args ...string) string {
	w.t.Helper()
	return w.runIn(w.root, args...)
}

func (w *world) runIn(dir string, args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0")
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// put writes a file; names are below the root.
func (w *world) put(name, content string) {
	w.t.Helper()
	full := w.path(name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(w.t, os.WriteFile(full, []byte(content), 0o644))
}

func (w *world) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(w.root, name)
}

func (w *world) remove(name string) {
	w.t.Helper()
	require.NoError(w.t, os.RemoveAll(w.path(name)))
}

func (w *world) link(target, name string) {
	w.t.Helper()
	w.remove(name)
	require.NoError(w.t, os.Symlink(target, w.path(name)))
}

// commit has git commit everything.
func (w *world) commit() {
	w.t.Helper()
	w.run("add", "-A")
	w.run("commit", "-q", "-m", "a commit")
}

func (w *world) open() *worktree.Tree {
	w.t.Helper()
	return w.openWith(worktree.Options{})
}

func (w *world) openWith(o worktree.Options) *worktree.Tree {
	w.t.Helper()
	o.Home = w.home
	tree, err := worktree.Open(context.Background(), w.root, o)
	require.NoError(w.t, err)
	return tree
}

func (w *world) capture(tree *worktree.Tree) string {
	w.t.Helper()
	object, err := tree.Capture(context.Background())
	require.NoError(w.t, err)
	return object
}

func (w *world) changes(tree *worktree.Tree, before, after string) []worktree.Change {
	w.t.Helper()
	changes, err := tree.Changes(context.Background(), before, after)
	require.NoError(w.t, err)
	return changes
}

func paths(changes []worktree.Change) []string {
	list := []string{}
	for _, c := range changes {
		list = append(list, c.Path)
	}
	return list
}

// files is everything below a folder that is not in a .git: mode, and content or target.
func (w *world) files(root string) map[string]string {
	w.t.Helper()
	all := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		if d.IsDir() || d.Name() == ".git" {
			return nil
		}
		rel, _ := filepath.Rel(root, name)
		all[rel] = describe(w.t, name)
		return nil
	}))
	return all
}

func describe(t *testing.T, name string) string {
	info, err := os.Lstat(name)
	require.NoError(t, err)
	if info.Mode().Type() == os.ModeSymlink {
		target, err := os.Readlink(name)
		require.NoError(t, err)
		return "-> " + target
	}
	if !info.Mode().IsRegular() {
		return info.Mode().String()
	}
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	if info.Mode()&0o100 != 0 {
		return "x " + string(content)
	}
	return "- " + string(content)
}

// state is what a user has in the git folder: everything but objects and our refs, and
// what git says of it.
func (w *world) state() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	dir := strings.TrimSpace(w.run("rev-parse", "--path-format=absolute", "--git-common-dir"))
	require.NoError(w.t, filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, name)
		switch {
		case err != nil:
			return err
		case d.Name() == "objects", strings.HasSuffix(rel, "refs/appserver"):
			return filepath.SkipDir
		case !d.IsDir():
			all[rel] = describe(w.t, name)
		}
		return nil
	}))
	all["$ status"] = w.run("status", "--porcelain=v2", "--branch", "--ignored")
	all["$ stash"] = w.run("stash", "list")
	all["$ reflog"] = w.run("reflog", "--all")
	return all
}
