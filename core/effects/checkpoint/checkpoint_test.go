package checkpoint_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"appserver/core"
	"appserver/core/effects/checkpoint"
	"appserver/core/effects/worktree"
	"appserver/platform/osfile"
	"appserver/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a folder with a keeper.
type place struct {
	*checkpoint.Keeper
	t         *testing.T
	dir, home string
	reports   []error
}

func newPlace(t *testing.T) *place {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	p := &place{t: t, dir: filepath.Join(top, "work"), home: filepath.Join(top, "home", "appserver-checkpoints")}
	require.NoError(t, os.Mkdir(p.dir, 0o755))
	p.Keeper = checkpoint.New(worktree.Options{Home: p.home}, func(err error) { p.reports = append(p.reports, err) })
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	require.NoError(p.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(p.t, os.WriteFile(path, []byte(text), 0o644))
}

func (p *place) git(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", p.dir}, args...)...).CombinedOutput()
	require.NoError(p.t, err, string(out))
	return string(out)
}

func (p *place) capture(thread, turn string) protocol.StoredTree {
	p.t.Helper()
	tree, err := p.Capture(context.Background(), thread, core.CaptureTree{Turn: turn, Dir: p.dir})
	require.NoError(p.t, err)
	return tree
}

func (p *place) track(t core.Track, paths []string, do func()) *core.Tracked {
	p.t.Helper()
	tracked := p.Track(context.Background(), "thread", t, paths, do)
	require.NoError(p.t, tracked.Err)
	return tracked
}

func pathsIn(changes []protocol.WorktreeChange) (paths []string) {
	for _, c := range changes {
		paths = append(paths, c.Path)
	}
	return paths
}

// TestTrackedPaths are those of a directory that has another name, and may lie outside.
func TestTrackedPaths(t *testing.T) {
	p := newPlace(t)
	p.git("init", "-q")
	p.write(".gitignore", "ignored\n")
	p.write("sub/a", "a\n")
	link := filepath.Join(filepath.Dir(p.dir), "link")
	require.NoError(t, os.Symlink(filepath.Join(p.dir, "sub"), link))
	tracked := p.track(core.Track{Turn: "turn", Dir: link},
		[]string{filepath.Join(link, "a"), filepath.Join(link, "ignored"), "/elsewhere/b"}, func() {
			p.write("sub/a", "b\n")
			p.write("sub/ignored", "new\n")
			p.write("sub/not-named", "new\n")
		})
	require.Equal(t, p.dir, tracked.Changes.Root)
	require.Equal(t, []string{"sub/a", "sub/ignored"}, pathsIn(tracked.Changes.Changes))
	require.Equal(t, 1, tracked.Diff.Summary.FilesCreated)
	require.Empty(t, p.git("for-each-ref", "refs/appserver"), "nothing is kept that nobody asked for")
}

// TestTrackedTurn has the diff of all that a turn changed, and nothing once that is taken back.
func TestTrackedTurn(t *testing.T) {
	p := newPlace(t)
	p.write("a", "one\n")
	first := p.track(core.Track{Turn: "turn", Dir: p.dir, Keep: true}, nil,
		func() { p.write("a", "two\n"); p.write("b", "new\n") })
	require.Len(t, first.Diff.Summary.Files, 2)
	nothing := p.track(core.Track{Turn: "turn", Dir: p.dir, Before: []protocol.WorktreeChanges{first.Changes}, Keep: true},
		nil, func() {})
	require.Nil(t, nothing.Diff)
	require.Empty(t, nothing.Changes.Changes)
	last := p.track(core.Track{Turn: "turn", Dir: p.dir, Before: []protocol.WorktreeChanges{first.Changes}, Keep: true},
		nil, func() {
			p.write("a", "one\n")
			require.NoError(t, os.Remove(filepath.Join(p.dir, "b")))
		})
	require.Empty(t, last.Diff.Text)
	require.Empty(t, last.Diff.Summary.Files)
}

// TestATrackThatIsCancelled looks once more.
func TestATrackThatIsCancelled(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tracked := p.Track(ctx, "thread", core.Track{Turn: "turn", Dir: p.dir}, nil,
		func() { p.write("half", "done"); cancel() })
	require.NoError(t, tracked.Err)
	require.Equal(t, []string{"half"}, pathsIn(tracked.Changes.Changes))
}

// TestATrackThatWasCancelledBefore does not look at what a command would have changed.
func TestATrackThatWasCancelledBefore(t *testing.T) {
	p := newPlace(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	done := false
	require.Nil(t, p.Track(ctx, "thread", core.Track{Turn: "turn", Dir: p.dir}, nil, func() { done = true }))
	require.True(t, done)
	patched := p.Track(ctx, "thread", core.Track{Turn: "turn", Dir: p.dir}, []string{filepath.Join(p.dir, "a")},
		func() { p.write("a", "b") })
	require.NoError(t, patched.Err)
	require.Equal(t, []string{"a"}, pathsIn(patched.Changes.Changes), "what is not cancelled is told")
}

func TestWhatCannotBeTracked(t *testing.T) {
	p := newPlace(t)
	done := false
	tracked := p.Track(context.Background(), "thread", core.Track{Turn: "turn", Dir: filepath.Join(p.dir, "gone")}, nil,
		func() { done = true })
	require.True(t, done, "it is done all the same")
	require.Error(t, tracked.Err)
	_, err := p.Diff(context.Background(),
		[]protocol.WorktreeChanges{{Root: filepath.Join(p.dir, "gone"), Changes: []protocol.WorktreeChange{{Path: "a"}}}})
	require.Error(t, err)
}

func TestRestoreIsAllOrNothing(t *testing.T) {
	p := newPlace(t)
	p.git("init", "-q")
	p.write("a", "one\n")
	p.capture("thread", "turn")
	changes := []protocol.WorktreeChanges{p.track(core.Track{Turn: "turn", Dir: p.dir, Keep: true}, nil,
		func() { p.write("a", "two\n"); p.write("b", "new\n") }).Changes}
	p.write("b", "mine\n")
	for _, dry := range []bool{true, false} {
		_, err := p.Restore(context.Background(), "thread", "revert", changes, dry)
		var refusal *protocol.Error
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, []string{filepath.Join(p.dir, "b")}, refusal.Data.Paths)
	}
	require.NotContains(t, p.git("for-each-ref", "refs/appserver/thread"), "revert")
	p.write("b", "new\n")
	restored, err := p.Restore(context.Background(), "thread", "revert", changes, false)
	require.NoError(t, err)
	require.Equal(t, 1, restored.Diff.Summary.FilesDeleted)
	require.NoFileExists(t, filepath.Join(p.dir, "b"))
	was, err := p.Compare(context.Background(), restored.Trees, nil)
	require.NoError(t, err)
	require.Equal(t, 1, was.Summary.FilesModified)
	again, err := p.Restore(context.Background(), "thread", "again", changes, false)
	require.NoError(t, err, "what is as it should be is passed over")
	require.Len(t, again.Trees, 1)
}

func TestForgetAndCopy(t *testing.T) {
	p := newPlace(t)
	p.git("init", "-q")
	p.write("a", "one\n")
	points := []protocol.StoredCheckpoint{{ID: "one", Trees: []protocol.StoredTree{p.capture("thread", "one")}}}
	tracked := p.track(core.Track{Turn: "one", Dir: p.dir, Keep: true}, nil, func() { p.write("a", "two\n") })
	p.capture("thread", "two")
	p.Copy(context.Background(), "fork",
		core.CopyCheckpoints{Points: points, Changes: []protocol.WorktreeChanges{tracked.Changes}})
	p.Forget(context.Background(), "thread", core.DeleteCheckpoints{Points: points})
	refs := p.git("for-each-ref", "--format=%(refname)", "refs/appserver")
	require.Equal(t, "refs/appserver/fork/one\nrefs/appserver/fork/one-files\nrefs/appserver/thread/two\n", refs)
	p.ForgetThread(context.Background(), "thread")
	p.ForgetThread(context.Background(), "nobody")
	require.Equal(t, "refs/appserver/fork/one\nrefs/appserver/fork/one-files\n",
		p.git("for-each-ref", "--format=%(refname)", "refs/appserver"))
	require.NoFileExists(t, filepath.Join(p.home, "threads", "thread"))
	require.Empty(t, p.reports)
	p.Copy(context.Background(), "fork",
		core.CopyCheckpoints{Points: []protocol.StoredCheckpoint{{ID: "x",
			Trees: []protocol.StoredTree{{Root: p.dir, Tree: "4b825dc642cb6eb9a060e54bf8d69288fbee4900"}}}}})
	require.Len(t, p.reports, 1, "one that is gone is left out")
}

// TestDeletedThreadsLeaveTheCheckpointsOfOthers uses threads that share files of notes and refs.
func TestDeletedThreadsLeaveTheCheckpointsOfOthers(t *testing.T) {
	p := newPlace(t)
	p.git("init", "-q")
	p.write("a", "one\n")
	elsewhere := filepath.Join(filepath.Dir(p.dir), "elsewhere")
	require.NoError(t, os.Mkdir(elsewhere, 0o755))
	for _, thread := range []string{"one", "two", "three"} {
		p.capture(thread, "turn")
	}
	_, err := p.Capture(context.Background(), "two", core.CaptureTree{Turn: "turn", Dir: elsewhere})
	require.NoError(t, err)
	note := func(thread string) string {
		text, err := os.ReadFile(filepath.Join(p.home, "threads", thread))
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, p.dir+"\x00", note("one"))
	require.Equal(t, p.dir+"\x00"+elsewhere+"\x00", note("two"))
	require.Equal(t, p.dir+"\x00", note("three"))
	p.ForgetThread(context.Background(), "one")
	refs := func() string { return p.git("for-each-ref", "--format=%(refname)", "refs/appserver") }
	require.Equal(t, "refs/appserver/three/turn\nrefs/appserver/two/turn\n", refs())
	p.capture("four", "turn")
	p.ForgetThread(context.Background(), "two")
	p.ForgetThread(context.Background(), "three")
	require.Equal(t, p.dir+"\x00", note("four"))
	require.Equal(t, "refs/appserver/four/turn\n", refs())
	require.Empty(t, p.reports)
}

// TestAWorktreeThatIsWaitedForHoldsUpNoOther: its lock may be another server's, for a minute.
func TestAWorktreeThatIsWaitedForHoldsUpNoOther(t *testing.T) {
	p := newPlace(t)
	tree := p.capture("thread", "turn")
	locks, err := filepath.Glob(filepath.Join(p.home, "*", "lock"))
	require.NoError(t, err)
	require.Len(t, locks, 1)
	lock, err := os.Open(locks[0])
	require.NoError(t, err)
	defer lock.Close()
	taken, err := osfile.TryLock(lock)
	require.NoError(t, err)
	require.True(t, taken)

	again := checkpoint.New(worktree.Options{Home: p.home}, func(error) {})
	ctx, cancel := context.WithCancel(context.Background())
	compared := make(chan error, 1)
	go func() {
		_, err := again.Compare(ctx, []protocol.StoredTree{tree}, nil)
		compared <- err
	}()
	require.Eventually(t, func() bool { return timesOpen(locks[0]) > 1 }, 10*time.Second, time.Millisecond)

	other := filepath.Join(filepath.Dir(p.dir), "other")
	require.NoError(t, os.Mkdir(other, 0o755))
	captured := make(chan error, 1)
	go func() {
		_, err := again.Capture(context.Background(), "another", core.CaptureTree{Turn: "turn", Dir: other})
		captured <- err
	}()
	select {
	case err := <-captured:
		require.NoError(t, err)
	case <-time.After(10 * time.Second):
		require.Fail(t, "the other worktree waits, too")
	}
	cancel()
	require.ErrorIs(t, <-compared, context.Canceled)
}

// timesOpen counts the descriptors that this process has of a file.
func timesOpen(name string) (n int) {
	files, _ := filepath.Glob("/proc/self/fd/*")
	for _, file := range files {
		if target, err := os.Readlink(file); err == nil && target == name {
			n++
		}
	}
	return n
}

// TestACheckpointWithoutChangesSharesTheRefOfTheLast expects the ref to stay for as long as one of the
// checkpoints uses it.
func TestACheckpointWithoutChangesSharesTheRefOfTheLast(t *testing.T) {
	p := newPlace(t)
	p.git("init", "-q")
	p.write("a", "a\n")
	capture := func(turn string, last protocol.StoredCheckpoint) protocol.StoredCheckpoint {
		tree, err := p.Capture(context.Background(), "thread", core.CaptureTree{Turn: turn, Dir: p.dir, Last: last})
		require.NoError(t, err)
		return protocol.StoredCheckpoint{ID: turn, Trees: []protocol.StoredTree{tree}}
	}
	refs := func() string { return p.git("for-each-ref", "--format=%(refname)", "refs/appserver") }
	one := capture("one", protocol.StoredCheckpoint{})
	two := capture("two", one)
	three := capture("three", two)
	require.Equal(t, "one", two.Trees[0].Ref)
	require.Equal(t, "one", three.Trees[0].Ref)
	require.Equal(t, "refs/appserver/thread/one\n", refs())
	p.Copy(context.Background(), "fork", core.CopyCheckpoints{Points: []protocol.StoredCheckpoint{two, three}})
	require.Equal(t, "refs/appserver/fork/one\nrefs/appserver/thread/one\n", refs())
	p.ForgetThread(context.Background(), "fork")

	p.Forget(context.Background(), "thread",
		core.DeleteCheckpoints{Points: []protocol.StoredCheckpoint{one, two}, Kept: []protocol.StoredCheckpoint{three}})
	require.Equal(t, "refs/appserver/thread/one\n", refs())
	p.write("a", "b\n")
	four := capture("four", three)
	require.Empty(t, four.Trees[0].Ref)
	p.Forget(context.Background(), "thread",
		core.DeleteCheckpoints{Points: []protocol.StoredCheckpoint{three}, Kept: []protocol.StoredCheckpoint{four}})
	require.Equal(t, "refs/appserver/thread/four\n", refs())

	p.git("pack-refs", "--all")
	require.Empty(t, capture("five", four).Trees[0].Ref, "a packed ref is not shared")
	require.Empty(t, p.reports)
}

// TestThreadsOfADirectoryShareACapture captures for many threads at once.
func TestThreadsOfADirectoryShareACapture(t *testing.T) {
	p := newPlace(t)
	p.git("init", "-q")
	p.write("a", "a\n")
	const threads = 20
	trees := make([]protocol.StoredTree, threads)
	var all sync.WaitGroup
	for n := range threads {
		all.Go(func() {
			tree, err := p.Capture(context.Background(), fmt.Sprint("thread", n), core.CaptureTree{Turn: "turn", Dir: p.dir})
			assert.NoError(t, err)
			trees[n] = tree
		})
	}
	all.Wait()
	for _, tree := range trees {
		require.Equal(t, trees[0], tree)
	}
	require.Len(t, strings.Fields(p.git("for-each-ref", "--format=%(refname)", "refs/appserver")), threads)
	commits := strings.Fields(p.git("for-each-ref", "--format=%(objectname)", "refs/appserver"))
	slices.Sort(commits)
	require.Less(t, len(slices.Compact(commits)), threads, "later threads share the commit of an earlier one")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := p.Capture(ctx, "thread", core.CaptureTree{Turn: "turn", Dir: p.dir})
	require.ErrorIs(t, err, context.Canceled)
}
