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

	"appserver/core/worktree"
)

// captureRoot and captureHome, in the environment, have the test binary capture a
// worktree again and again; it says so after each time.
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

// capturer is another process that captures the same worktree.
func (w *world) capturer() (*exec.Cmd, func() string) {
	w.t.Helper()
	program, err := os.Executable()
	require.NoError(w.t, err)
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), captureRoot+"="+w.root, captureHome+"="+w.home)
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
	w := everyday(t)
	state := w.state()
	_, next := w.capturer()
	_, other := w.capturer()
	tree := w.open()
	for range 5 {
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
	w := everyday(t)
	for range 5 {
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
	w := everyday(t)
	tree := w.open()
	found, err := filepath.Glob(filepath.Join(w.home, "*", "lock"))
	require.NoError(t, err)
	holder := exec.Command("flock", found[0], "sh", "-c", "echo held; read line")
	in, err := holder.StdinPipe()
	require.NoError(t, err)
	out, err := holder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, holder.Start())
	_, err = out.Read(make([]byte, 5))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = tree.Capture(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "another capture goes on")
	require.NoError(t, in.Close())
	_ = holder.Wait()
	w.capture(tree)
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
	ctx := context.Background()
	w := everyday(t)
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
