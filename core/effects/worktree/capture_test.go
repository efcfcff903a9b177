package worktree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/worktree"
	"appserver/test/posix"
	"appserver/test/sample"
)

// makeMixed gives an empty repository files that are committed, staged, stashed, ignored and
// untracked.
func (w *world) makeMixed() {
	w.t.Helper()
	w.put(".gitignore", "*.log\nbuild/\n")
	w.put("committed.txt", "one\ntwo\n")
	w.put("gone.txt", "to be deleted\n")
	w.put("staged.txt", "former\n")
	w.put("unstaged.txt", "former\n")
	w.put("stashed.txt", "former\n")
	w.put("sub/dir/deep.txt", "deep\n")
	w.put("tracked.log", "tracked although ignored\n")
	w.put("run.sh", "#!/bin/sh\n")
	require.NoError(w.t, os.Chmod(w.path("run.sh"), 0o755))
	w.link("committed.txt", "link")
	w.run("add", "-f", "tracked.log")
	w.commit()
	w.put("stashed.txt", "in a stash\n")
	w.run("stash", "-q")
	w.put("staged.txt", "staged\n")
	w.run("add", "staged.txt")
	w.put("staged.txt", "staged, then changed\n")
	w.put("unstaged.txt", "changed\n")
	w.put("untracked.txt", "new\n")
	w.put("debug.log", "ignored\n")
	w.put("build/out", "ignored\n")
	w.put("data.bin", "\x00\x01\xff\x00")
	w.remove("gone.txt")
}

// changeAll makes each kind of change to the files of makeMixed.
func (w *world) changeAll() {
	w.put("committed.txt", "one\nthree\n")
	w.put("gone.txt", "back\n")
	w.put("staged.txt", "again\n")
	w.remove("unstaged.txt")
	w.put("untracked.txt", "newer\n")
	w.put("tracked.log", "changed\n")
	w.put("debug.log", "changed, and ignored\n")
	w.put("data.bin", "\x00\x02\xfe\x00")
	w.put("a file\nwith \"odd\" names/\xff\xfe", "odd\n")
	w.link("sub", "link")
	require.NoError(w.t, os.Chmod(w.path("run.sh"), 0o644))
	w.remove("sub/dir")
	w.put("sub/dir", "a file now\n")
	w.remove("stashed.txt")
	w.put("stashed.txt/inner", "a folder now\n")
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"sha1": nil, "sha256": {"--object-format=sha256"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			roundTrip(t, mixed(t, args...))
		})
	}
}

// roundTrip captures, changes everything, captures, and goes there and back.
func roundTrip(t *testing.T, w *world) {
	ctx := context.Background()
	state, files := w.state(), w.files(w.root)
	tree := w.open()
	before := w.capture(tree)
	require.NoError(t, tree.Keep(ctx, "thread-1", "turn-1", before))
	require.Equal(t, state, w.state(), "the first capture")

	w.changeAll()
	state, changed := w.state(), w.files(w.root)
	after := w.capture(tree)
	changes := w.changes(tree, before, after)
	require.NotContains(t, paths(changes), "debug.log")
	require.Contains(t, paths(changes), "tracked.log")
	require.Contains(t, paths(changes), "a file\nwith \"odd\" names/\xff\xfe")
	_, err := tree.Diff(ctx, changes)
	require.NoError(t, err)
	require.NoError(t, tree.Pack(ctx))

	would, err := tree.Restore(ctx, changes, true)
	require.NoError(t, err)
	require.Equal(t, changed, w.files(w.root), "a dry restore changes nothing")
	require.Equal(t, state, w.state(), "nothing changes the repository")

	did, err := tree.Restore(ctx, changes, false)
	require.NoError(t, err)
	require.Equal(t, would, did)
	files["debug.log"] = changed["debug.log"]
	require.Equal(t, files, w.files(w.root), "all is as before, but for what git ignores")
	require.Equal(t, before, w.capture(tree))

	again, err := tree.Restore(ctx, changes, false)
	require.NoError(t, err, "what is restored already is passed over")
	require.Empty(t, again)
	undo := w.changes(tree, after, before)
	_, err = tree.Restore(ctx, undo, false)
	require.NoError(t, err)
	require.Equal(t, changed, w.files(w.root), "the restore is undone")
	require.Equal(t, state, w.state(), "as before the restore")
	require.Equal(t, "refs/appserver/thread-1/turn-1\n", w.run("for-each-ref", "--format=%(refname)", "refs/appserver"))
	w.run("fsck", "--strict")
}

func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	w := repository(t)
	tree := w.open()
	before := w.capture(tree)
	w.put("first.txt", "first\n")
	state := w.state()
	changes := w.changes(tree, before, w.capture(tree))
	require.Equal(t, []string{"first.txt"}, paths(changes))
	_, err := tree.Restore(context.Background(), changes, false)
	require.NoError(t, err)
	require.Empty(t, w.files(w.root))
	w.put("first.txt", "first\n")
	require.Equal(t, state, w.state())
}

func TestOutsideRepository(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := folder(t)
	w.put("a.txt", "a\n")
	w.put("sub/b.txt", "b\n")
	tree := w.open()
	require.Equal(t, w.root, tree.Root())
	before := w.capture(tree)
	require.NoError(t, tree.Keep(ctx, "thread", "turn", before))
	files := w.files(w.root)
	w.put("a.txt", "changed\n")
	w.remove("sub")
	require.NoError(t, tree.Pack(ctx))
	changes := w.changes(tree, before, w.capture(tree))
	_, err := tree.Restore(ctx, changes, false)
	require.NoError(t, err)
	require.Equal(t, files, w.files(w.root))
	require.NoDirExists(t, w.path(".git"))

	w.run("init", "-q")
	_, err = w.open().Restore(ctx, w.changes(w.open(), before, before), false)
	require.NoError(t, err, "captures of before there was a repository are read")
	d, err := w.open().Diff(ctx, changes)
	require.NoError(t, err)
	require.Len(t, d.Files, 2)
	require.Equal(t, before, w.capture(w.open()))
	w.run("fsck", "--strict")
}

func TestSubfolder(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree, err := worktree.Open(context.Background(), w.path("sub/dir"), worktree.Options{Home: w.home})
	require.NoError(t, err)
	require.Equal(t, w.root, tree.Root())
	require.Equal(t, w.capture(w.open()), w.capture(tree))
}

func TestLinkedWorktree(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	main := w.files(w.root)
	other := *w
	other.root = w.root + "-linked"
	w.run("worktree", "add", "-q", "-b", "other", other.root)
	roundTripSmall(t, &other)
	require.Equal(t, main, w.files(w.root))
	tree := other.open()
	require.NoError(t, tree.Keep(ctx, "thread", "linked", other.capture(tree)))
	require.Contains(t, w.run("for-each-ref"), "refs/appserver/thread/linked")
}

// roundTripSmall changes what any worktree of mixed has.
func roundTripSmall(t *testing.T, w *world) {
	t.Helper()
	tree := w.open()
	before, files := w.capture(tree), w.files(w.root)
	w.put("committed.txt", "else\n")
	w.put("new/new.txt", "new\n")
	w.remove("sub")
	state := w.state()
	changes := w.changes(tree, before, w.capture(tree))
	require.Equal(t, []string{"committed.txt", "new/new.txt", "sub/dir/deep.txt"}, paths(changes))
	require.Equal(t, state, w.state())
	_, err := tree.Restore(context.Background(), changes, false)
	require.NoError(t, err)
	require.Equal(t, files, w.files(w.root))
	require.NoDirExists(t, w.path("new"))
}

func TestForeignGitFile(t *testing.T) {
	t.Parallel()
	victim, w := mixed(t), folder(t)
	state := victim.state()
	w.put(".git", "gitdir: "+victim.path(".git")+"\n")
	w.put("a.txt", "a\n")
	tree := w.open()
	object := w.capture(tree)
	require.NoError(t, tree.Keep(context.Background(), "thread", "turn", object))
	require.Equal(t, state, victim.state())
	require.Empty(t, victim.run("for-each-ref", "refs/appserver"))
	require.Error(t, exec.Command("git", "-C", victim.root, "cat-file", "-e", object).Run(), "no object is written there")
}

func TestSubmoduleAndNestedRepository(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	inner, w := mixed(t), mixed(t)
	w.run("submodule", "--quiet", "add", inner.root, "module")
	w.run("commit", "-q", "-m", "a module")
	w.run("clone", "-q", inner.root, "nested")
	w.run("init", "-q", "empty")
	w.put("empty/file.txt", "in a repository without commits\n")
	roundTripSmall(t, w)

	tree := w.open()
	before := w.capture(tree)
	w.put("module/committed.txt", "changed\n")
	w.put("nested/new.txt", "new\n")
	w.remove("empty/file.txt")
	require.Equal(t, before, w.capture(tree), "what is in other repositories is not ours")

	module := *w
	module.root = w.path("module")
	module.run("checkout", "-q", ".")
	state := w.state()
	roundTripSmall(t, &module)
	require.Equal(t, state, w.state())
	require.NoError(t, module.open().Keep(context.Background(), "thread", "turn", module.capture(module.open())))
	require.Contains(t, module.run("for-each-ref"), "refs/appserver/thread/turn")
	require.Empty(t, w.run("for-each-ref", "refs/appserver"))

	w.remove("nested")
	w.put("nested", "a file now\n")
	require.Equal(t, []string{"nested"}, paths(w.changes(tree, before, w.capture(tree))))
}

func TestConflictInIndex(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	w.run("stash", "-q", "-u")
	w.run("checkout", "-q", "-b", "side")
	w.put("committed.txt", "side\n")
	w.commit()
	w.run("checkout", "-q", "main")
	w.put("committed.txt", "main\n")
	w.commit()
	_ = exec.Command("git", "-C", w.root, "merge", "-q", "side").Run()
	require.Contains(t, w.run("status", "--porcelain"), "UU committed.txt")
	roundTripSmall(t, w)
	require.Contains(t, w.run("status", "--porcelain"), "UU committed.txt")
}

func TestSparseCheckout(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"full index": {"--cone"}, "sparse index": {"--cone", "--sparse-index"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mixed(t)
			w.put("far/away.txt", "not checked out\n")
			w.commit()
			w.run(append(append([]string{"sparse-checkout", "set"}, args...), "sub")...)
			require.NoFileExists(t, w.path("far/away.txt"))
			roundTripSmall(t, w)
			require.NoFileExists(t, w.path("far/away.txt"))
		})
	}
}

func TestOddIndexes(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*world){
		"split":        func(w *world) { w.run("update-index", "--split-index") },
		"version 4":    func(w *world) { w.run("update-index", "--index-version", "4") },
		"torn":         func(w *world) { w.put(".git/index", "DIRC\x00\x00\x00\x02\x00\x00\x00\x09torn") },
		"intent":       func(w *world) { w.run("add", "-N", "untracked.txt") },
		"assumed":      func(w *world) { w.run("update-index", "--assume-unchanged", "committed.txt") },
		"skipped":      func(w *world) { w.run("update-index", "--skip-worktree", "committed.txt") },
		"hidden files": func(w *world) { w.run("config", "core.untrackedCache", "true") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := mixed(t)
			prepare(w)
			index, err := os.ReadFile(w.path(".git/index"))
			require.NoError(t, err)
			tree := w.open()
			before := w.capture(tree)
			w.put("committed.txt", "else\n")
			require.Equal(t, []string{"committed.txt"}, paths(w.changes(tree, before, w.capture(tree))))
			now, err := os.ReadFile(w.path(".git/index"))
			require.NoError(t, err)
			require.Equal(t, index, now)
		})
	}
}

// TestNothingOfTheWorkspaceRuns plants programs wherever git would run one.
func TestNothingOfTheWorkspaceRuns(t *testing.T) {
	ctx := context.Background()
	w := repository(t)
	trace := filepath.Join(w.user, "trace")
	program := filepath.Join(w.user, "program")
	w.put(program, "#!/bin/sh\necho \"$0 $*\" >>'"+trace+"'\ncat\n")
	require.NoError(t, os.Chmod(program, 0o755))
	w.put(".gitattributes", "* filter=evil diff=evil merge=evil working-tree-encoding=UTF-16 text eol=crlf ident\n")
	w.put("a.txt", "a $Id$\r\nb\n")
	w.put("inner/b.txt", "b\n")
	config := "[core]\n\tfsmonitor = P\n\thooksPath = HOOKS\n\tpager = P\n\tautocrlf = true\n\talternateRefsCommand = P\n\tsshCommand = P\n\teditor = P\n" +
		"[filter \"evil\"]\n\tclean = P\n\tsmudge = P\n\tprocess = P\n\trequired = true\n" +
		"[diff]\n\texternal = P\n[diff \"evil\"]\n\ttextconv = P\n\tcommand = P\n[gpg]\n\tprogram = P\n[commit]\n\tgpgSign = true\n[gc]\n\tauto = 1\n"
	hooks := filepath.Join(w.user, "hooks")
	for _, name := range []string{"reference-transaction", "post-index-change", "pre-auto-gc", "post-commit", "pre-commit",
		"fsmonitor-watchman"} {
		w.put(filepath.Join(hooks, name), "#!/bin/sh\necho hook >>'"+trace+"'\n")
		require.NoError(t, os.Chmod(filepath.Join(hooks, name), 0o755))
	}
	old, err := os.ReadFile(w.path(".git/config"))
	require.NoError(t, err)
	config = strings.NewReplacer(" P\n", " "+program+"\n", "HOOKS", hooks).Replace(config)
	w.put(".git/config", string(old)+config)
	w.put(filepath.Join(w.user, ".gitconfig"), config)
	w.ownSettings()
	t.Setenv("GIT_EXTERNAL_DIFF", program)
	t.Setenv("GIT_DIR", filepath.Join(w.user, "elsewhere"))

	files := w.files(w.root)
	tree := w.open()
	before := w.capture(tree)
	require.NoError(t, tree.Keep(ctx, "thread", "before", before))
	w.put("a.txt", "changed\n")
	w.put("c.txt", "new\r\n")
	changes := w.changes(tree, before, w.capture(tree))
	d, err := tree.Diff(ctx, changes)
	require.NoError(t, err)
	require.Contains(t, d.Text, "-a $Id$\r\n-b\n+changed\n")
	_, err = tree.CapturePaths(ctx, []string{"a.txt", "c.txt"})
	require.NoError(t, err)
	require.NoError(t, tree.Pack(ctx))
	_, err = tree.Restore(ctx, changes, false)
	require.NoError(t, err)
	require.NoError(t, tree.Forget(ctx, "thread", nil))
	require.Equal(t, files, w.files(w.root), "bytes are kept as they are")
	require.NoFileExists(t, trace)
}

func TestIgnoredFiles(t *testing.T) {
	w := repository(t)
	w.ownSettings()
	w.put(".gitignore", "*.log\n")
	w.put(".git/info/exclude", "*.private\n")
	w.put(filepath.Join(w.user, ".config/git/ignore"), "*.swp\n")
	for _, name := range []string{"a.log", "a.private", "a.swp", "a.mine", "a.txt"} {
		w.put(name, "x\n")
	}
	empty := w.changes(w.open(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904", w.capture(w.open()))
	require.Equal(t, []string{".gitignore", "a.mine", "a.txt"}, paths(empty))
	w.put(filepath.Join(w.user, "patterns"), "*.mine\n")
	w.run("config", "--global", "core.excludesFile", "~/patterns")
	w.remove("a.mine")
	w.capture(w.open())
	w.put("a.mine", "x\n")
	files := w.changes(w.open(), "4b825dc642cb6eb9a060e54bf8d69288fbee4904", w.capture(w.open()))
	require.Equal(t, []string{".gitignore", "a.swp", "a.txt"}, paths(files))
}

// TestPatternsElsewhereAreNotRead: a repository may have hundreds of files of them.
func TestPatternsElsewhereAreNotRead(t *testing.T) {
	w := repository(t)
	w.put(".gitignore", "*.o\n")
	w.put("a/.gitignore", "!x.o\n")
	for i := range 20 {
		w.put(fmt.Sprintf("b%d/.gitignore", i), "x\n")
	}
	log := filepath.Join(t.TempDir(), "log")
	program := filepath.Join(t.TempDir(), "git")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\" >>"+log+"\nexec git \"$@\"\n"), 0o755))
	tree, err := worktree.Open(context.Background(), w.root, worktree.Options{Home: w.home, Git: program})
	require.NoError(t, err)
	before, err := tree.Capture(context.Background())
	require.NoError(t, err)
	w.put("a/c/y", "new")
	w.put("a/c/x.o", "new")
	after, err := tree.Capture(context.Background())
	require.NoError(t, err)
	changes, err := tree.Changes(context.Background(), before, after)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	runs, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(string(runs), " cat-file blob "))
}

// A file that is ignored, and then is not, was there all the time: a restore must not
// take it away.
func TestIgnoredNoMore(t *testing.T) {
	t.Parallel()
	w := repository(t)
	w.put(".gitignore", ".env\n*.tmp\n")
	w.put(".env", "SECRET=1\n")
	w.put("kept.tmp", "x\n")
	tree := w.open()
	before := w.capture(tree)
	w.put(".gitignore", "*.tmp\n")
	w.put("new.txt", "new\n")
	w.run("add", "-f", "kept.tmp")
	changes := w.changes(tree, before, w.capture(tree))
	require.Equal(t, []string{".gitignore", "new.txt"}, paths(changes))
	_, err := tree.Restore(context.Background(), changes, false)
	require.NoError(t, err)
	require.Equal(t, map[string]string{".gitignore": "- .env\n*.tmp\n", ".env": "- SECRET=1\n", "kept.tmp": "- x\n"},
		w.files(w.root))
}

func TestPathsThatAreNoFiles(t *testing.T) {
	t.Parallel()
	w := repository(t)
	w.put("a.txt", "a\n")
	w.put("dir/b.txt", "b\n")
	tree := w.open()
	before := w.capture(tree)
	w.remove("a.txt")
	require.NoError(t, posix.Mkfifo(w.path("a.txt"), 0o644))
	require.NoError(t, posix.Mkfifo(w.path("dir/fifo"), 0o644))
	changes := w.changes(tree, before, w.capture(tree))
	require.Equal(t, []string{"a.txt"}, paths(changes))
	_, err := tree.Restore(context.Background(), changes, false)
	var conflict *worktree.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, []string{"a.txt"}, conflict.Paths)
}

// Git may remove what a capture stored, if it was not kept.
func TestObjectsRemoved(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	before := w.capture(tree)
	w.run("gc", "-q", "--prune=now")
	require.Equal(t, before, w.capture(tree))
	w.run("fsck", "--strict")
	require.NotEmpty(t, w.run("cat-file", "-p", before))
	require.Equal(t, "new\n", w.run("cat-file", "-p", before+":untracked.txt"))
}

func TestHomeIsNotCaptured(t *testing.T) {
	t.Parallel()
	w := repository(t)
	w.home = w.path("my [codex]/appserver-checkpoints")
	w.put("my [codex]/auth.json", "{}")
	w.put("a.txt", "a\n")
	tree := w.open()
	before := w.capture(tree)
	require.Equal(t, before, w.capture(tree))
	require.Equal(t, "a.txt\n", w.run("ls-tree", "-r", "--name-only", before))
}

func TestCapturePaths(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	require.NoError(t, os.Symlink("/etc", w.path("out")))
	state := w.state()
	tree := w.openWith(worktree.Options{MaxFiles: 1})
	files, err := tree.CapturePaths(ctx,
		[]string{"committed.txt", "debug.log", "link", "run.sh", "none", "sub", "out/passwd", "committed.txt/none"})
	require.NoError(t, err)
	modes := map[string]uint32{}
	for name, f := range files {
		modes[name] = f.Mode
	}
	require.Equal(t, map[string]uint32{
		"committed.txt": worktree.ModeFile, "debug.log": worktree.ModeFile, "link": worktree.ModeLink,
		"run.sh": worktree.ModeExecutable,
		"none":   0, "sub": 0, "out/passwd": 0, "committed.txt/none": 0,
	}, modes)
	before, err := tree.Compose(ctx, files)
	require.NoError(t, err)
	require.NoError(t, tree.Keep(ctx, "thread", "turn", before))
	w.put("debug.log", "changed\n")
	w.put("none", "new\n")
	now, err := tree.CapturePaths(ctx, []string{"committed.txt", "debug.log", "link", "run.sh", "none"})
	require.NoError(t, err)
	after, err := tree.Compose(ctx, now)
	require.NoError(t, err)
	changes := w.changes(tree, before, after)
	require.Equal(t, []string{"debug.log", "none"}, paths(changes))
	_, err = tree.Restore(ctx, changes, false)
	require.NoError(t, err)
	require.Equal(t, state, w.state())
	for _, bad := range []string{"../x", "/etc/passwd", ".git/config", "sub/.GIT/x", "", "a/../b"} {
		_, err := tree.CapturePaths(ctx, []string{bad})
		require.Error(t, err, bad)
	}
}
