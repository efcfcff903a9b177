package codeindex

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"syscall"

	"appserver/core/effects/find"
	"appserver/test/posix"
	"appserver/test/sample"
)

// scene is a folder whose files change between looking and reading.
type scene struct {
	t    *testing.T
	root string
	tree *tree
}

func newScene(t *testing.T) scene {
	s := scene{t: t, root: t.TempDir()}
	require.NoError(t, os.Mkdir(filepath.Join(s.root, "in"), 0o755))
	s.put("in/file", "text")
	var err error
	s.tree, err = openTree(s.root)
	require.NoError(t, err)
	t.Cleanup(s.tree.close)
	return s
}

func (s scene) path(name string) string { return filepath.Join(s.root, name) }

func (s scene) put(name, content string) {
	require.NoError(s.t, os.WriteFile(s.path(name), []byte(content), 0o644))
}

// TestFilesThatChangeWhileTheyAreRead do so at the worst moment: after they were seen to be
// files.
func TestFilesThatChangeWhileTheyAreRead(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s scene) error
		want   Reason
	}{
		{"gone", func(s scene) error { return os.Remove(s.path("in/file")) }, Gone},
		{"a link", func(s scene) error {
			_ = os.Remove(s.path("in/file"))
			return os.Symlink("/etc/passwd", s.path("in/file"))
		}, Gone},
		{"a FIFO", func(s scene) error {
			_ = os.Remove(s.path("in/file"))
			return posix.Mkfifo(s.path("in/file"), 0o644)
		}, NoFile},
		{"a folder", func(s scene) error {
			_ = os.Remove(s.path("in/file"))
			return os.Mkdir(s.path("in/file"), 0o755)
		}, NoFile},
		{"grown", func(s scene) error { return os.Truncate(s.path("in/file"), 1000) }, Large},
		{"other text", func(s scene) error { return os.WriteFile(s.path("in/file"), []byte("other"), 0o644) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			_, reason := s.tree.stamp("in/file")
			require.Empty(t, reason)
			require.NoError(t, c.change(s))
			content, seen, reason := s.tree.read("in/file", 100)
			require.Equal(t, c.want, reason)
			if reason == "" {
				require.Equal(t, "other", string(content))
				require.Equal(t, int64(5), seen.size)
			}
		})
	}
}

func TestNoLinkIsFollowed(t *testing.T) {
	s := newScene(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "file"), []byte("secret"), 0o644))
	require.NoError(t, os.Symlink(outside, s.path("out")))
	require.NoError(t, os.Symlink("in", s.path("same")))
	require.NoError(t, os.Symlink("in/file", s.path("link")))
	for name, want := range map[string]Reason{
		"out/file": Gone, "same/file": Gone, "link": NoFile, "in/none": Gone, "none/file": Gone, "in/file/below": Gone,
		"in": NoFile, "in/file": "",
	} {
		_, reason := s.tree.stamp(name)
		require.Equal(t, want, reason, name)
	}
}

func TestReasonsOfTheSystem(t *testing.T) {
	for err, want := range map[error]Reason{
		syscall.EACCES: Unreadable, syscall.EIO: Unreadable, syscall.EMFILE: Unreadable, syscall.ENAMETOOLONG: Unreadable,
		syscall.ENOENT: Gone, syscall.ELOOP: Gone, syscall.ENOTDIR: Gone, &fs.PathError{Err: syscall.ENOENT}: Gone,
	} {
		var tree tree
		require.Equal(t, want, tree.reasonOf(err), "%v", err)
		require.Equal(t, err == syscall.EMFILE, tree.short != nil, "%v", err)
	}
}

func TestMarksAreReadBack(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		m := mark{content: rapid.SampledFrom([]string{hashOf(nil), "!binary"}).Draw(t, "content"),
			size: rapid.Int64().Draw(t, "size"), mtime: rapid.Int64().Draw(t, "mtime"), chunks: rapid.Int().Draw(t, "chunks")}
		require.Equal(t, m, parseMark(m.String()))
	})
	for _, bad := range []string{"", "1", "0:a:1:1:1", "1:a:x!:1:1", "1:a:1:-:1", "1:a:1:1:z", "1:a:1:1:1:1"} {
		require.Equal(t, mark{}, parseMark(bad), bad)
	}
	require.False(t, stamp{}.proves(mark{}))
}

// clock is a time that passes by work and rest alone.
type clock struct{ at, rested time.Duration }

func (c *clock) now() time.Time { return time.Unix(0, 0).Add(c.at) }

func TestWorkTakesNoMoreThanItsShare(t *testing.T) {
	sample.Check(t, func(t *rapid.T) {
		share := rapid.SampledFrom([]float64{0.01, 0.25, 0.5, 1}).Draw(t, "share")
		late := time.Duration(rapid.IntRange(0, 30).Draw(t, "late")) * time.Millisecond
		var c clock
		p := pacer{share: share, now: c.now, rest: func(_ context.Context, d time.Duration) {
			c.at += d + late
			c.rested += d + late
		}}
		p.begin()
		var worked time.Duration
		for _, ms := range rapid.SliceOfN(rapid.IntRange(0, 15), 1, 200).Draw(t, "work") {
			work := time.Duration(ms) * time.Millisecond
			c.at += work
			worked += work
			p.step(context.Background())
		}
		require.Equal(t, worked, p.worked)
		due := time.Duration(float64(worked) * (1 - share) / share)
		require.GreaterOrEqual(t, c.rested, due-minRest)
		if late == 0 {
			require.LessOrEqual(t, c.rested, due+minRest, "nor much less")
		}
	})
}

func TestALongPieceOfWorkIsNotMadeUpForWhole(t *testing.T) {
	var c clock
	p := pacer{share: 0.1, now: c.now, rest: func(_ context.Context, d time.Duration) { c.rested += d }}
	p.begin()
	c.at = time.Hour // the machine slept
	p.step(context.Background())
	require.Equal(t, maxRest, c.rested)
}

// memory is a sink.
type memory map[string]File

func (m memory) CodeFiles(context.Context, string) (map[string]string, error) {
	hashes := map[string]string{}
	for path, f := range m {
		hashes[path] = f.Hash
	}
	return hashes, nil
}

func (m memory) PutCode(_ context.Context, _ string, files []File) error {
	for _, f := range files {
		m[f.Path] = f
	}
	return nil
}

func (m memory) DropCode(_ context.Context, _ string, paths []string) error {
	for _, path := range paths {
		delete(m, path)
	}
	return nil
}

// TestTheSinkHasWhatTheDiskHas does random things to a repository, and looks, as one process or
// several; the sink then has what is to be had, and nothing else.
func TestTheSinkHasWhatTheDiskHas(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".gitignore"), []byte("*.log\n"), 0o644))
	finder := find.New()
	clockwise := int64(0)
	sample.Check(t, func(t *rapid.T) {
		sink := memory{}
		var j *job
		restart := func() {
			j = newJob(Options{Sink: sink, Finder: finder, Share: 1}.withDefaults(), "r", root, func() {})
			j.watch = &watch{}
		}
		restart()
		name := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "d/", "d/e/"}).Draw(t, "dir") +
				rapid.SampledFrom([]string{"a.go", "b", "c.md", "x.log", "k.pem"}).Draw(t, "base")
		})
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				path := filepath.Join(root, name.Draw(t, "name"))
				content := rapid.SampledFrom([]string{"", "a\n", "b\n", "\x00", "\xff", strings.Repeat("line\n", 1000)}).Draw(t,
					"content")
				_ = os.MkdirAll(filepath.Dir(path), 0o755)
				require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
				if rapid.Bool().Draw(t, "old") { // each time once, as it is with clocks
					clockwise++
					require.NoError(t, os.Chtimes(path, time.Unix(clockwise, 0), time.Unix(clockwise, 0)))
				}
			},
			"remove": func(t *rapid.T) { _ = os.RemoveAll(filepath.Join(root, name.Draw(t, "name"))) },
			"folder": func(t *rapid.T) { _ = os.RemoveAll(filepath.Join(root, "d")) },
			"rename": func(t *rapid.T) {
				_ = os.Rename(filepath.Join(root, name.Draw(t, "from")), filepath.Join(root, name.Draw(t, "to")))
			},
			"restart": func(*rapid.T) { restart() },
			"": func(t *rapid.T) {
				_, err := j.look(context.Background())
				require.NoError(t, err)
				require.Equal(t, expected(t, finder, root), texts(sink))
				require.Equal(t, len(texts(sink)) > 0, j.now().Chunks > 0)
			},
		})
		require.NoError(t, os.RemoveAll(filepath.Join(root, "d")))
	})
}

func texts(sink memory) map[string]string {
	all := map[string]string{}
	for path, f := range sink {
		for _, c := range f.Chunks {
			all[path] += c.Text
		}
	}
	return all
}

// expected returns the texts on the disk.
func expected(t require.TestingT, finder *find.Finder, root string) map[string]string {
	all := map[string]string{}
	err := finder.WalkOwn(context.Background(), root, func(paths []find.Path) {
		for _, p := range paths {
			if p.Directory || strings.HasSuffix(p.Name, ".pem") {
				continue
			}
			content, err := os.ReadFile(filepath.Join(root, p.Name))
			require.NoError(t, err)
			if len(content) > 0 && content[0] != 0 && content[0] != 0xff {
				all[p.Name] = string(content)
			}
		}
	})
	require.NoError(t, err)
	return all
}
