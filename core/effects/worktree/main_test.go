package worktree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core/effects/worktree"
)

func TestMain(m *testing.M) {
	root, pair := os.Getenv(captureRoot), os.Getenv(restorePair)
	switch {
	case root != "" && pair != "":
		restoreForever(root, pair)
	case root != "":
		captureForever(root)
	}
	top, err := os.MkdirTemp("", "worktree-test-")
	if err != nil {
		panic(err)
	}
	fixtures.top = top
	useSettings(filepath.Join(top, "user"))
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(top)
		os.Exit(code)
	}))
}

// settings are the git settings of the user who runs the tests.
const settings = "[user]\n\tname = U\n\temail = u@example.org\n[protocol \"file\"]\n\tallow = always\n"

// useSettings makes a home with settings the home of this process. All tests share it, so that they
// can run in parallel.
func useSettings(home string) {
	for _, err := range []error{
		os.MkdirAll(home, 0o755),
		os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o644),
		os.Setenv("HOME", home),
		os.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config")),
	} {
		if err != nil {
			panic(err)
		}
	}
}

// world is a folder with or without a repository, beside the home of the captures.
type world struct {
	t    *testing.T
	root string
	home string
	// user is a folder outside of the worktree.
	user string
}

// repository returns a world with an empty repository.
func repository(t *testing.T, args ...string) *world {
	t.Helper()
	w := folder(t)
	w.init(args...)
	return w
}

// init makes a repository without git's examples of hooks.
func (w *world) init(args ...string) {
	w.t.Helper()
	w.run(append([]string{"init", "-q", "-b", "main", "--template="}, args...)...)
	require.NoError(w.t, os.Mkdir(w.path(".git/info"), 0o755))
}

// folder returns a world outside of any repository.
func folder(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	w := &world{t: t, root: filepath.Join(top, "work"), home: filepath.Join(top, "codex", "appserver-checkpoints"),
		user: filepath.Join(top, "user")}
	require.NoError(t, os.MkdirAll(w.root, 0o755))
	w.put(filepath.Join(w.user, ".gitconfig"), settings)
	return w
}

// ownSettings makes the user folder of the world the home of the process. The test cannot run in
// parallel.
func (w *world) ownSettings() {
	w.t.Helper()
	w.t.Setenv("HOME", w.user)
	w.t.Setenv("XDG_CONFIG_HOME", filepath.Join(w.user, ".config"))
}

// fixtures keeps one repository for each list of arguments of git init, because copying is faster
// than running git many times.
var fixtures struct {
	top string
	mu  sync.Mutex
	// made maps the arguments to the folder of the repository.
	made map[string]string
}

// mixed returns a repository whose files are committed, staged, stashed, ignored and untracked.
func mixed(t *testing.T, args ...string) *world {
	t.Helper()
	w := folder(t)
	require.NoError(t, os.Remove(w.root))
	w.exec("cp", "-a", fixture(t, args), w.root)
	return w
}

// fixture returns the folder of the repository that mixed copies.
func fixture(t *testing.T, args []string) string {
	t.Helper()
	fixtures.mu.Lock()
	defer fixtures.mu.Unlock()
	key := strings.Join(args, " ")
	if dir := fixtures.made[key]; dir != "" {
		return dir
	}
	w := &world{t: t, root: filepath.Join(fixtures.top, fmt.Sprint(len(fixtures.made)))}
	require.NoError(t, os.Mkdir(w.root, 0o755))
	w.init(args...)
	w.makeMixed()
	if fixtures.made == nil {
		fixtures.made = map[string]string{}
	}
	fixtures.made[key] = w.root
	return w.root
}

// exec runs a program that must succeed.
func (w *world) exec(program string, args ...string) {
	w.t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	require.NoError(w.t, err, "%s: %s", program, out)
}

// run runs git as the user does, and returns its output.
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

// put writes a file. The name is absolute or relative to the root.
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

// commit commits all changes.
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

// files returns the mode, and the content or target, of each file below a folder, except in .git.
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

// state returns the files in the git folder, except objects and our refs, and the output of git
// status. Stashes and reflogs are among the files.
func (w *world) state() map[string]string {
	w.t.Helper()
	all := map[string]string{}
	dir := w.path(".git")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		dir = strings.TrimSpace(w.run("rev-parse", "--path-format=absolute", "--git-common-dir"))
	}
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
	return all
}
