package codeindex_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/codeindex"
	"appserver/test/posix"
)

func TestFilesAreKeptInChunks(t *testing.T) {
	r := newRig(t, codeindex.Options{}, "main.go: package main\n\nfunc main() {}\n", "docs/a.md: # A\n", "empty.txt: ",
		".gitignore: *.log\nout/\n", "a.log: x", "out/b: y")
	s := r.looked()
	require.Equal(t, map[string]string{"main.go": "package main\n\nfunc main() {}\n", "docs/a.md": "# A\n",
		".gitignore": "*.log\nout/\n"}, r.shelf.texts())
	require.Equal(t, "main.go:1-3 main", r.shelf.files["main.go"].Chunks[0].Title)
	require.Equal(t, codeindex.Status{Repo: repo, Phase: codeindex.Idle, FilesDone: 4, FilesTotal: 4, Chunks: 3, Bytes: 44,
		Read: 4, Skipped: map[codeindex.Reason]int{}, Watched: true}, s)
}

func TestOnlyWhatHasChangedIsReadAgain(t *testing.T) {
	r := newRig(t, codeindex.Options{}, "a.go: package a\n", "b.go: package b\n", "in/c.go: package c\n", "d.bin: \x00",
		"e.txt: e\n")
	require.Equal(t, 5, r.looked().Read)
	r.shelf.taken()

	s := r.looked()
	require.Zero(t, s.Read, "a new process reads nothing, not even what it skips")
	require.Equal(t, 4, s.Chunks)
	require.Equal(t, map[codeindex.Reason]int{codeindex.Binary: 1}, s.Skipped)

	r.write("a.go: package changed\n")
	require.NoError(t, os.Remove(r.path("b.go")))
	require.NoError(t, os.Rename(r.path("in"), r.path("other")))
	require.NoError(t, os.Chtimes(r.path("e.txt"), time.Unix(1, 0), time.Unix(1, 0)))
	require.Equal(t, 3, r.looked().Read)
	puts, drops := r.shelf.taken()
	require.Equal(t, []string{"a.go", "other/c.go"}, puts, "e.txt was read, and is the same")
	require.Equal(t, []string{"b.go", "in/c.go"}, drops)
}

func TestAChangeInTheSameMomentIsSeen(t *testing.T) {
	r := newRig(t, codeindex.Options{})
	now := time.Now()
	for _, content := range []string{"one", "two"} {
		r.write("a.txt: " + content)
		require.NoError(t, os.Chtimes(r.path("a.txt"), now, now))
		r.looked()
		require.Equal(t, map[string]string{"a.txt": content}, r.shelf.texts(), "size and time are the same")
	}
}

func TestNewlyIgnoredFilesAreDropped(t *testing.T) {
	r := newRig(t, codeindex.Options{}, "a.go: package a\n", "gen/b.go: package b\n")
	r.looked()
	r.write(".gitignore: gen\n")
	r.looked()
	require.Equal(t, []string{".gitignore", "a.go"}, keys(r.shelf.texts()))
}

// TestHostileFilesAreSkipped has a file for each reason.
func TestHostileFilesAreSkipped(t *testing.T) {
	r := newRig(t, codeindex.Options{MaxFile: 200_000, MaxFiles: 30}, "ok.txt: fine\n",
		"huge.txt: "+strings.Repeat("x\n", 100_001), "lines.txt: "+strings.Repeat("\n", 60_000),
		"binary: "+strings.Repeat("x", 8000)+"\x00", "late.txt: "+strings.Repeat("x\n", 5000)+"\x00",
		"latin.txt: \xe4\n", "half.txt: \xe6\x97", "min.txt: "+strings.Repeat("x", 2001), "bundle.min.js: x\n",
		"gen.go: // Code generated"+" by x. DO NOT EDIT.\npackage x\n", "gen.py: #!/usr/bin/python\n# @gener"+"ated\n",
		"go.sum: x\n", "web/package-lock.json: {}\n", "Cargo.lock: x\n",
		".env: KEY=1\n", ".env.production: KEY=1\n", ".env.example: KEY=\n", "tls/server.pem: x\n",
		"web/node_modules/x/a.js: x\n", "module/.git: gitdir: elsewhere\n", "module/a.go: package a\n")
	require.NoError(t, os.Symlink(r.path("ok.txt"), r.path("link.txt")))
	require.NoError(t, os.Symlink(".", r.path("loop")))
	require.NoError(t, os.Symlink("/etc", r.path("outside")))
	require.NoError(t, posix.Mkfifo(r.path("fifo"), 0o644))
	s := r.looked()
	want := map[codeindex.Reason]int{
		codeindex.Large: 2, codeindex.Binary: 1, codeindex.Encoding: 2, codeindex.Generated: 4, codeindex.LockFile: 3,
		codeindex.Private: 3, codeindex.NoFile: 4, codeindex.Foreign: 1,
	}
	require.Equal(t, want, s.Skipped)
	require.Equal(t, []string{".env.example", "late.txt", "ok.txt"}, keys(r.shelf.texts()))
	require.Equal(t, want, r.looked().Skipped, "also where they are not read again")
}

func TestFilesAreBoundedInNumber(t *testing.T) {
	r := newRig(t, codeindex.Options{MaxFiles: 3}, "a: 1", "b: 1", "c: 1", "d: 1", "in/e: 1")
	for range 2 {
		require.Equal(t, map[codeindex.Reason]int{codeindex.TooMany: 2}, r.looked().Skipped)
		require.Equal(t, []string{"a", "b", "c"}, keys(r.shelf.texts()), "the same every time")
	}
}

func TestWatchesTellOfChanges(t *testing.T) {
	r := newRig(t, codeindex.Options{}, "a.txt: one\n", "in/b.txt: b\n")
	r.start()
	require.True(t, r.await(in(codeindex.Idle)).Watched)
	r.write("a.txt: changed\n")
	r.await(func(codeindex.Status) bool { return r.shelf.texts()["a.txt"] == "changed\n" })
	r.write("new/deep/c.txt: c\n")
	r.await(func(codeindex.Status) bool { return r.shelf.texts()["new/deep/c.txt"] != "" })
	r.write("new/deep/d.txt: d\n")
	r.await(func(codeindex.Status) bool { return r.shelf.texts()["new/deep/d.txt"] != "" })
	require.NoError(t, os.RemoveAll(r.path("in")))
	r.await(func(codeindex.Status) bool { return r.shelf.texts()["in/b.txt"] == "" })
	require.Equal(t, []string{"a.txt", "new/deep/c.txt", "new/deep/d.txt"}, keys(r.shelf.texts()))
}

func TestLooksMakeUpForMissingWatches(t *testing.T) {
	for name, o := range map[string]codeindex.Options{"none": {MaxWatches: -1}, "too few": {MaxWatches: 1}} {
		t.Run(name, func(t *testing.T) {
			o.Rescan = 50 * time.Millisecond
			r := newRig(t, o, "z/a.txt: one\n", "z/b/c.txt: c\n")
			r.start()
			require.False(t, r.await(in(codeindex.Idle)).Watched)
			r.write("z/a.txt: changed\n")
			r.await(func(codeindex.Status) bool { return r.shelf.texts()["z/a.txt"] == "changed\n" })
		})
	}
}

func TestAFailingSinkIsAskedAgain(t *testing.T) {
	for n := 1; ; n++ {
		r := newRig(t, codeindex.Options{Rescan: 10 * time.Millisecond, MaxWatches: -1}, "a: 1\n", "b: 2\n")
		r.shelf.files["gone"] = codeindex.File{Path: "gone", Hash: "old", Chunks: []codeindex.Chunk{{Text: "x"}}}
		r.shelf.fail = n
		r.start()
		s := r.await(func(s codeindex.Status) bool { return s.Phase == codeindex.Failed || s.Phase == codeindex.Idle })
		if s.Phase == codeindex.Idle {
			require.Greater(t, n, 3)
			return
		}
		require.Contains(t, s.Error, "the shelf is full")
		require.Empty(t, r.await(in(codeindex.Idle)).Error)
		require.Equal(t, map[string]string{"a": "1\n", "b": "2\n"}, r.shelf.texts())
		r.index.Close()
	}
}

func TestARepositoryThatIsNotThereLosesNothing(t *testing.T) {
	r := newRig(t, codeindex.Options{Rescan: 10 * time.Millisecond, MaxWatches: -1}, "a: 1\n")
	r.start()
	r.await(in(codeindex.Idle))
	away := r.root + ".away"
	require.NoError(t, os.Rename(r.root, away))
	require.Contains(t, r.await(in(codeindex.Failed)).Error, r.root)
	require.Equal(t, []string{"a"}, keys(r.shelf.texts()))
	require.NoError(t, os.Rename(away, r.root))
	r.await(in(codeindex.Idle))
}

func TestAPausedJobDoesNothing(t *testing.T) {
	r := newRig(t, codeindex.Options{}, "a.txt: one\n")
	r.start()
	r.await(in(codeindex.Idle))
	require.True(t, r.index.Pause(repo))
	r.await(in(codeindex.Paused))
	r.write("a.txt: changed\n")
	s, ok := r.index.Status(repo)
	require.True(t, ok)
	require.Equal(t, codeindex.Paused, s.Phase)
	require.Equal(t, "one\n", r.shelf.texts()["a.txt"])
	require.True(t, r.index.Pause(repo), "twice is once")
	require.True(t, r.index.Resume(repo))
	require.True(t, r.index.Resume(repo))
	r.await(func(codeindex.Status) bool { return r.shelf.texts()["a.txt"] == "changed\n" })
	require.True(t, r.index.Pause(repo))
	r.index.Stop(repo)
	require.False(t, r.index.Resume(repo), "a paused job ends as well")
}

func TestAJobEndsWhileItsSinkWaits(t *testing.T) {
	for name, end := range map[string]func(*rig, context.CancelFunc){
		"stop":    func(r *rig, _ context.CancelFunc) { r.index.Stop(repo) },
		"close":   func(r *rig, _ context.CancelFunc) { r.index.Close() },
		"context": func(r *rig, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, codeindex.Options{}, "a: 1\n")
			r.shelf.blocked = make(chan struct{})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			require.NoError(t, r.index.Start(ctx, repo, r.root))
			<-r.shelf.blocked
			end(r, cancel)
			r.index.Close()
			_, ok := r.index.Status(repo)
			require.False(t, ok)
			require.Empty(t, r.shelf.files)
			require.ErrorIs(t, r.index.Start(t.Context(), repo, r.root), codeindex.ErrClosed)
		})
	}
}

func TestARepositoryHasOneJob(t *testing.T) {
	r := newRig(t, codeindex.Options{}, "a: 1\n")
	r.start()
	r.await(in(codeindex.Idle))
	require.NoError(t, r.index.Start(t.Context(), repo, t.TempDir()), "the first goes on")
	r.write("b: 2\n")
	r.await(func(codeindex.Status) bool { return len(r.shelf.texts()) == 2 })
}

func TestTwoProcessesDoNotReadTheSame(t *testing.T) {
	first := newRig(t, codeindex.Options{}, "a: 1\n")
	first.start()
	first.await(in(codeindex.Idle))

	second := newRig(t, codeindex.Options{Locks: first.o.Locks, Finder: first.o.Finder, Rescan: 20 * time.Millisecond})
	second.root = first.root
	second.start()
	second.await(in(codeindex.Elsewhere))
	require.Empty(t, second.shelf.texts())
	first.index.Stop(repo)
	second.await(in(codeindex.Idle))
	require.Equal(t, []string{"a"}, keys(second.shelf.texts()))
}

func TestFoldersThatAreNoProjectAreRejected(t *testing.T) {
	r := newRig(t, codeindex.Options{})
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, root := range []string{"/", home, home + "/.", r.path("nothing")} {
		require.Error(t, r.index.Start(t.Context(), repo, root), root)
	}
	_, ok := r.index.Status(repo)
	require.False(t, ok)
	require.False(t, r.index.Pause(repo))
	r.index.Stop(repo)
}

func TestLocksThatCannotBeCreatedAreReported(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r := newRig(t, codeindex.Options{Locks: filepath.Join(file, "locks"), Rescan: 10 * time.Millisecond}, "a: 1\n")
	r.start()
	require.Contains(t, r.await(in(codeindex.Failed)).Error, file)
	require.NoError(t, os.Remove(file))
	r.await(in(codeindex.Idle))
}

func TestProgressIsReportedAFewTimesASecond(t *testing.T) {
	var entries []string
	for i := range 500 {
		entries = append(entries, fmt.Sprintf("d%d/f%d.go: package f\n", i%20, i))
	}
	r := newRig(t, codeindex.Options{Share: 0.05}, entries...)
	began := time.Now()
	r.start()
	told, last := 1, codeindex.Status{}
	r.await(func(s codeindex.Status) bool {
		told++
		require.GreaterOrEqual(t, s.FilesDone, last.FilesDone)
		last = s
		return s.Phase == codeindex.Idle
	})
	require.LessOrEqual(t, told, int(time.Since(began)/(250*time.Millisecond))+2)
	require.Equal(t, 500, last.FilesDone)
}

func TestPackagesTakeNoPlace(t *testing.T) {
	r := newRig(t, codeindex.Options{MaxFiles: 1, MaxWatches: 2}, "node_modules/a/b.js: 1", "node_modules/c/d/e.js: 1",
		"src/f.js: 1")
	s := r.looked()
	require.Equal(t, []string{"src/f.js"}, keys(r.shelf.texts()))
	require.True(t, s.Watched, "nor are they watched")
	require.Equal(t, 1, s.FilesTotal)
}
