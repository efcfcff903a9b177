package worktree_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/worktree"
	"appserver/platform/osfile"
	"appserver/test/posix"
	"appserver/test/sample"
)

// captureRoot and captureHome are environment variables. They make the test binary capture a worktree
// repeatedly and report each capture.
const (
	captureRoot = "APPSERVER_CAPTURE_ROOT"
	captureHome = "APPSERVER_CAPTURE_HOME"
)

func captureForever(root string) {
	ctx := context.Background()
	tree, err := worktree.Open(ctx, root, worktree.Options{Home: os.Getenv(captureHome)})
	for n := 0; err == nil; n++ {
		for i := range 50 {
			name := filepath.Join(root, "churn", fmt.Sprint(os.Getpid()), fmt.Sprint(i))
			_ = os.MkdirAll(filepath.Dir(name), 0o755)
			_ = os.WriteFile(name, fmt.Appendf(nil, "%d %d\n", n, i), 0o644)
		}
		var object string
		object, err = tree.Capture(ctx)
		if err == nil {
			fmt.Println(object)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// restorePair, in the environment, has the test binary go from one capture to another
// and back instead.
const restorePair = "APPSERVER_RESTORE_PAIR"

func restoreForever(root, pair string) {
	ctx := context.Background()
	before, after, _ := strings.Cut(pair, " ")
	tree, err := worktree.Open(ctx, root, worktree.Options{Home: os.Getenv(captureHome)})
	for err == nil {
		var changes []worktree.Change
		if changes, err = tree.Changes(ctx, before, after); err == nil {
			_, err = tree.Restore(ctx, changes, false)
		}
		fmt.Println(before)
		before, after = after, before
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// rounds returns the number of rounds of a test with other processes. The short tests need two: the
// second round begins with the files that the first one left behind.
func rounds(all int) int {
	if testing.Short() {
		return 2
	}
	return all
}

func TestCrashWhileRestoring(t *testing.T) {
	sample.Long(t)
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	for i := range 60 {
		w.put(fmt.Sprintf("many/%d.txt", i), "before\n")
	}
	before, files := w.capture(tree), w.files(w.root)
	for i := range 60 {
		w.put(fmt.Sprintf("many/%d.txt", i), "after\n")
	}
	w.changeAll()
	after, changed := w.capture(tree), w.files(w.root)
	files["debug.log"] = changed["debug.log"]
	for range rounds(8) {
		cmd, next := w.capturer(restorePair + "=" + before + " " + after)
		next()
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		for name, now := range w.files(w.path("many")) {
			require.Contains(t, []string{"- before\n", "- after\n"}, now, name)
		}
		_, err := tree.Restore(context.Background(), w.changes(tree, before, after), false)
		require.NoError(t, err, "what was begun is completed")
		require.Equal(t, files, w.files(w.root))
		_, err = tree.Restore(context.Background(), w.changes(tree, after, before), false)
		require.NoError(t, err)
		require.Equal(t, changed, w.files(w.root))
	}
}

// capturer starts another process that captures the same worktree.
func (w *world) capturer(env ...string) (*exec.Cmd, func() string) {
	w.t.Helper()
	program, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), captureRoot+"="+w.root, captureHome+"="+w.home)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, cmd.Start())
	w.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		w.capture(w.open()) // waits for the git that it has left
	})
	return cmd, func() string {
		var line string
		_, err := fmt.Fscanln(out, &line)
		require.NoError(w.t, err)
		return line
	}
}

func TestProcessesAtOnce(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	state := w.state()
	_, next := w.capturer()
	_, other := w.capturer()
	tree := w.open()
	for range rounds(5) {
		require.Len(t, next(), 40)
		require.Len(t, other(), 40)
		require.Equal(t, "new\n", w.run("cat-file", "-p", w.capture(tree)+":untracked.txt"))
	}
	now := w.state()
	delete(now, "$ status")
	delete(state, "$ status")
	require.Equal(t, state, now)
	w.run("fsck", "--strict")
}

func TestCrashWhileCapturing(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	for range rounds(5) {
		cmd, next := w.capturer()
		next()
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
		found, err := filepath.Glob(filepath.Join(w.home, "*", "git"))
		require.NoError(t, err)
		w.put(filepath.Join(found[0], "index.lock"), "torn")
		require.Equal(t, "new\n", w.run("cat-file", "-p", w.capture(w.open())+":untracked.txt"))
	}
	found, err := filepath.Glob(filepath.Join(w.home, "*", "git", "index"))
	require.NoError(t, err)
	before := w.capture(w.open())
	w.put(found[0], "torn")
	require.Equal(t, before, w.capture(w.open()))
	w.run("fsck", "--strict")
}

func TestWaitsForTheOther(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	found, err := filepath.Glob(filepath.Join(w.home, "*", "lock"))
	require.NoError(t, err)
	held, err := os.Open(found[0])
	require.NoError(t, err)
	require.Eventually(t, func() bool { // a process that another test starts has the lock until it runs its program
		taken, err := osfile.TryLock(held)
		require.NoError(t, err)
		return taken
	}, 10*time.Second, time.Millisecond)
	w.refusesWhileLocked(tree)
	require.NoError(t, held.Close())
	w.capture(tree)
}

// refusesWhileLocked asks for what needs the lock, without the time to wait for it.
func (w *world) refusesWhileLocked(tree *worktree.Tree) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := tree.Capture(ctx)
	require.ErrorIs(w.t, err, context.Canceled)
	require.ErrorContains(w.t, err, "another capture is in progress")
	_, err = tree.Restore(ctx, nil, true)
	require.ErrorIs(w.t, err, context.Canceled)
}

// A git that outlives its server still writes into our folder, so it holds the lock.
func TestLeftGitHoldsTheLock(t *testing.T) {
	w := mixed(t)
	tree := w.open()
	began, goOn := filepath.Join(w.user, "began"), filepath.Join(w.user, "go")
	require.NoError(t, posix.Mkfifo(began, 0o600))
	require.NoError(t, posix.Mkfifo(goOn, 0o600))
	real, err := exec.LookPath("git")
	require.NoError(t, err)
	w.put(filepath.Join(w.user, "bin/git"),
		fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' write-tree '*) echo >'%s'; read line <'%s';; esac\nexec '%s' \"$@\"\n",
			began, goOn, real))
	require.NoError(t, os.Chmod(filepath.Join(w.user, "bin/git"), 0o755))
	cmd, _ := w.capturer("PATH=" + filepath.Join(w.user, "bin") + ":" + os.Getenv("PATH"))

	_, err = os.ReadFile(began)
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	w.refusesWhileLocked(tree)
	require.NoError(t, os.WriteFile(goOn, []byte("go\n"), 0))
	w.capture(tree)
}

// TestOthersHoldTheOutputOfGit has a process that holds the output of git when git has ended, as one that the server
// starts at the same time does until it runs its program.
func TestOthersHoldTheOutputOfGit(t *testing.T) {
	w := mixed(t)
	real, err := exec.LookPath("git")
	require.NoError(t, err)
	program := filepath.Join(w.user, "git")
	w.put(program,
		fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' write-tree '*) sleep 1 & ;; esac\nexec '%s' \"$@\"\n", real))
	require.NoError(t, os.Chmod(program, 0o755))
	tree := w.openWith(worktree.Options{Git: program})
	before := w.capture(tree)
	w.put("new.txt", "new\n")
	require.Equal(t, []string{"new.txt"}, paths(w.changes(tree, before, w.capture(tree))))
}

// TestPatternsThatNeverEnd requires that a FIFO as .gitignore fails the capture. Reading it blocks
// forever.
func TestPatternsThatNeverEnd(t *testing.T) {
	t.Parallel()
	w := mixed(t)
	tree := w.open()
	w.remove(".gitignore")
	require.NoError(t, posix.Mkfifo(w.path(".gitignore"), 0o644))
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err := tree.Capture(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	w.remove(".gitignore")
	w.capture(tree)
	for _, name := range []string{".git/info/exclude", ".git/index"} {
		w.remove(name)
		require.NoError(t, posix.Mkfifo(w.path(name), 0o644))
	}
	w.run("config", "core.excludesFile", w.path(".git/index"))
	w.capture(w.open())
}

func TestNoGit(t *testing.T) {
	w := folder(t)
	old := filepath.Join(w.user, "git")
	w.put(old, "#!/bin/sh\necho git version 2.20.1\n")
	require.NoError(t, os.Chmod(old, 0o755))
	for _, program := range []string{old, filepath.Join(w.user, "none")} {
		_, err := worktree.Open(context.Background(), w.root, worktree.Options{Home: w.home, Git: program})
		require.ErrorIs(t, err, worktree.ErrNoGit)
	}
	t.Setenv("PATH", w.user+"/nothing")
	_, err := worktree.Open(context.Background(), w.root, worktree.Options{Home: w.home})
	require.ErrorIs(t, err, worktree.ErrNoGit)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := mixed(t)
	stored := w.run("count-objects")
	var large *worktree.TooLargeError
	_, err := w.openWith(worktree.Options{MaxFiles: 3}).Capture(ctx)
	require.ErrorAs(t, err, &large)
	require.Equal(t, 3, large.MaxFiles)
	_, err = w.openWith(worktree.Options{MaxBytes: 10}).Capture(ctx)
	require.ErrorAs(t, err, &large)
	require.Equal(t, int64(10), large.MaxBytes)
	require.Greater(t, large.Bytes, int64(10))
	require.Equal(t, stored, w.run("count-objects"), "nothing is stored")

	w.put("large.txt", strings.Repeat("large\n", 10_000))
	w.commit()
	_, err = w.openWith(worktree.Options{MaxBytes: 10_000}).Capture(ctx)
	require.NoError(t, err, "what the repository has already costs nothing")
	w.put("large.txt", strings.Repeat("larger\n", 10_000))
	_, err = w.openWith(worktree.Options{MaxBytes: 10_000}).Capture(ctx)
	require.ErrorAs(t, err, &large)

	out := folder(t)
	for i := range 60 {
		out.put(fmt.Sprintf("%d.txt", i), "x")
	}
	_, err = out.openWith(worktree.Options{MaxFiles: 5}).Capture(ctx)
	require.ErrorAs(t, err, &large)
	_, err = out.openWith(worktree.Options{MaxFiles: 59}).Capture(ctx)
	require.ErrorAs(t, err, &large)
	_, err = out.openWith(worktree.Options{MaxFiles: 60}).Capture(ctx)
	require.NoError(t, err)
}
