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

	"appserver/core/effects/worktree"
	"appserver/test/posix"
)

// BenchmarkCapture captures a committed worktree of 20,000 files in 1,600 folders, 89 MB: the first
// time, again, and after one file changed; then it lists the changes. It also reports CPU time,
// including git's.
func BenchmarkCapture(b *testing.B) {
	root, home := large(b), b.TempDir()
	ctx := context.Background()
	open := func() *worktree.Tree {
		tree, err := worktree.Open(ctx, root, worktree.Options{Home: home})
		must(b, err)
		return tree
	}
	var before string
	b.Run("first", func(b *testing.B) {
		sum := time.Duration(0)
		for b.Loop() {
			b.StopTimer()
			must(b, os.RemoveAll(home))
			tree := open()
			began := worked()
			b.StartTimer()
			_, err := tree.Capture(ctx)
			must(b, err)
			sum += worked() - began
		}
		b.ReportMetric(sum.Seconds()*1000/float64(b.N), "cpu-ms/op")
	})
	tree := open()
	b.Run("again", func(b *testing.B) {
		defer processors(b)()
		for b.Loop() {
			var err error
			before, err = tree.Capture(ctx)
			must(b, err)
		}
	})
	n, after := 0, ""
	change := func(b *testing.B) {
		n++
		must(b, os.WriteFile(filepath.Join(root, "d7", "e7", "f3.txt"), fmt.Appendf(nil, "%d\n", n), 0o644))
	}
	b.Run("one changed", func(b *testing.B) {
		defer processors(b)()
		for b.Loop() {
			b.StopTimer()
			change(b)
			b.StartTimer()
			var err error
			after, err = tree.Capture(ctx)
			must(b, err)
		}
	})
	b.Run("open", func(b *testing.B) {
		defer processors(b)()
		for b.Loop() {
			open()
		}
	})
	b.Run("diff", func(b *testing.B) {
		defer processors(b)()
		for b.Loop() {
			changes, err := tree.Changes(ctx, before, after)
			must(b, err)
			_, err = tree.Diff(ctx, changes)
			must(b, err)
		}
	})
	b.Run("keep", func(b *testing.B) {
		defer processors(b)()
		for b.Loop() {
			must(b, tree.Keep(ctx, "thread", "turn", after))
		}
	})
}

// processors reports the time that the processors work for one round, from now until it is ended.
func processors(b *testing.B) (end func()) {
	began := worked()
	return func() {
		b.ReportMetric(float64(worked()-began)/float64(time.Millisecond)/float64(max(b.N, 1)), "cpu-ms/op")
	}
}

func worked() (sum time.Duration) {
	own, _ := posix.ProcessorTime(false)
	children, _ := posix.ProcessorTime(true)
	return own + children
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func large(b *testing.B) string {
	root := b.TempDir()
	for i := range 20_000 {
		dir := filepath.Join(root, fmt.Sprintf("d%d", i%40), fmt.Sprintf("e%d", i%1600))
		must(b, os.MkdirAll(dir, 0o755))
		text := strings.Repeat(fmt.Sprintf("line %d of a file, as files have them\n", i), 115)
		must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.txt", i/1600)), []byte(text), 0o644))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"},
		{"-c", "user.name=U", "-c", "user.email=u@example.org", "commit", "-q", "-m", "all"}} {
		out, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput()
		if err != nil {
			b.Fatalf("git %v: %s", args, out)
		}
	}
	return root
}
