package codeindex

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/find"
	"appserver/test/posix"
)

// grove returns a repository of so many files of about 4 KB, a hundred in a folder, half of them Go.
func grove(b *testing.B, files int) string {
	b.Helper()
	root := b.TempDir()
	require.NoError(b, os.Mkdir(filepath.Join(root, ".git"), 0o755))
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("part%d/in%d", i/1000, i/100%10))
		if i%100 == 0 {
			require.NoError(b, os.MkdirAll(dir, 0o755))
		}
		name, unit := fmt.Sprintf("f%d.go", i), "// F%d does %d.\nfunc F%d(x int) int {\n%s}\n\n"
		if i%2 == 0 {
			name, unit = fmt.Sprintf("f%d.py", i), "# F%d is %d.\ndef f%d(x):\n%s\n\n"
		}
		var text strings.Builder
		text.WriteString("package part\n\n")
		for k := range 10 {
			fmt.Fprintf(&text, unit, k, i, k, strings.Repeat("\tx = compute(x, y)\n", 18))
		}
		path := filepath.Join(dir, name)
		require.NoError(b, os.WriteFile(path, []byte(text.String()), 0o644))
		old := time.Now().Add(-time.Hour)
		require.NoError(b, os.Chtimes(path, old, old))
	}
	return root
}

// spent returns the processor time of this process.
func spent(b *testing.B) time.Duration {
	b.Helper()
	d, err := posix.ProcessorTime(false)
	require.NoError(b, err)
	return d
}

func benchLook(b *testing.B, root string, share float64, again bool) {
	finder, sink := find.New(), memory{}
	look := func() *job {
		j := newJob(Options{Sink: sink, Finder: finder, Share: share}.withDefaults(), "r", root, func() {})
		j.watch = &watch{}
		_, err := j.look(context.Background())
		require.NoError(b, err)
		return j
	}
	if again {
		look()
	}
	files, bytes := 0, int64(0)
	before := spent(b)
	for b.Loop() {
		if !again {
			clear(sink)
		}
		j := look()
		files, bytes = j.now().FilesTotal, j.now().Bytes
	}
	b.SetBytes(bytes)
	b.ReportMetric(float64(files)*float64(b.N)/b.Elapsed().Seconds(), "files/s")
	b.ReportMetric(100*(spent(b)-before).Seconds()/b.Elapsed().Seconds(), "%cpu")
}

// BenchmarkLook looks at this repository and at one of 20,000 files: at the default share of a
// processor, at all of one, and again where nothing has changed. The sink costs nothing.
func BenchmarkLook(b *testing.B) {
	b.Setenv("HOME", b.TempDir())
	ours, err := filepath.Abs("../../..")
	require.NoError(b, err)
	for _, r := range []struct{ name, root string }{{"ours", ours}, {"20000", grove(b, 20_000)}} {
		b.Run(r.name+"/whole", func(b *testing.B) { benchLook(b, r.root, 1, false) })
		b.Run(r.name+"/share", func(b *testing.B) { benchLook(b, r.root, 0.25, false) })
		b.Run(r.name+"/again", func(b *testing.B) { benchLook(b, r.root, 1, true) })
	}
}

// BenchmarkCut cuts files of a megabyte, of one unit and of many.
func BenchmarkCut(b *testing.B) {
	for _, c := range []struct{ name, unit string }{
		{"a.go", "// F does.\nfunc (t *T) F(x int) int {\n\treturn x\n}\n\n"}, {"one.go", "\tx = append(x, y)\n"},
		{"a.py", "def f(x):\n    return x\n\n"},
		{"one.py", "    y = x\n"}, {"a.md", "# Head\n\nWords.\n"}, {"a.txt", "\n"}, {"deep.go", "{("},
	} {
		content := []byte(strings.Repeat(c.unit, 1<<20/len(c.unit)))
		if c.name == "deep.go" {
			content = []byte(strings.Repeat(strings.Repeat(c.unit, 500)+"\n", 1000))
		}
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				Cut(c.name, content)
			}
		})
	}
}
