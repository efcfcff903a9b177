package economy

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

const (
	// maxFile is the length of the longest file that sessions use, in bytes. maxChanges is the number of
	// changed files of a commit that sessions use.
	maxFile, maxChanges = 60 << 10, 5
	// maxCommits is the number of commits of a repository that sessions use: the oldest ones, which do not
	// change when the repository grows.
	maxCommits = 800
)

// repository is the history of a git repository, oldest commit first.
type repository struct {
	name    string
	commits []commit
	blobs   *blobReader
}

// commit has the files that it changes. hash is the beginning of its hash.
type commit struct {
	hash, subject string
	changes       []change
}

// change is a file with the ids of its contents, which are "" if the file does not exist.
type change struct{ path, before, after string }

// openRepository reads the history of a git repository: its first parents, without merges.
func openRepository(t *testing.T, dir string) *repository {
	t.Helper()
	log, err := exec.Command("git", "-C", dir, "log", "--reverse", "--first-parent", "--no-merges", "--raw", "--no-renames",
		"--abbrev=40", "--format=commit %h %s").Output()
	require.NoError(t, err, "git log in %s", dir)
	name := strings.TrimSuffix(path.Base(path.Clean(dir)), ".git")
	if name == "repo" {
		name = path.Base(path.Dir(path.Clean(dir)))
	}
	r := &repository{name: name, blobs: newBlobReader(t, dir)}
	for line := range strings.Lines(string(log)) {
		line = strings.TrimRight(line, "\n")
		if head, ok := strings.CutPrefix(line, "commit "); ok {
			hash, subject, _ := strings.Cut(head, " ")
			r.commits = append(r.commits, commit{hash: hash, subject: subject})
		} else if strings.HasPrefix(line, ":") && len(r.commits) > 0 {
			last := &r.commits[len(r.commits)-1]
			last.changes = append(last.changes, parseChange(line))
		}
	}
	r.commits = r.commits[:min(len(r.commits), maxCommits)]
	return r
}

// parseChange parses a line ":100644 100644 BEFORE AFTER M<tab>PATH".
func parseChange(line string) change {
	fields, name, _ := strings.Cut(line, "\t")
	ids := strings.Fields(fields)
	c := change{name, ids[2], ids[3]}
	for _, id := range []*string{&c.before, &c.after} {
		if strings.Trim(*id, "0") == "" {
			*id = ""
		}
	}
	return c
}

// usable reports whether sessions use a file: text of a common kind.
func usable(name string) bool {
	for _, part := range []string{"testdata/", "vendor/", "dist/", "node_modules/", "go.sum"} {
		if strings.Contains(name, part) {
			return false
		}
	}
	return slices.Contains([]string{".go", ".md", ".js", ".ts", ".py", ".yml", ".yaml", ".sh"}, path.Ext(name)) ||
		path.Base(name) == "Makefile"
}

// edit is a change with its contents.
type edit struct{ path, before, after string }

// edits returns the changes of a commit that sessions can make.
func (r *repository) edits(c *commit) (all []edit) {
	for _, f := range c.changes {
		if !usable(f.path) || f.after == "" || len(all) == maxChanges {
			continue
		}
		e := edit{f.path, r.blobs.read(f.before), r.blobs.read(f.after)}
		if len(e.before) <= maxFile && len(e.after) <= maxFile && utf8.ValidString(e.before+e.after) && e.before != e.after {
			all = append(all, e)
		}
	}
	return all
}

// tree has the ids of the files at a commit, by path.
type tree map[string]string

func (t tree) apply(c *commit) {
	for _, f := range c.changes {
		if f.after == "" {
			delete(t, f.path)
		} else if usable(f.path) {
			t[f.path] = f.after
		}
	}
}

// in returns the paths of the files in a folder, sorted.
func (t tree) in(folder string) (names []string) {
	for name := range t {
		if path.Dir(name) == folder {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// all returns the paths of all files, sorted.
func (t tree) all() []string { return slices.Sorted(maps.Keys(t)) }

// blobReader reads the contents of a repository with one git process.
type blobReader struct {
	t      *testing.T
	in     io.WriteCloser
	out    *bufio.Reader
	cached map[string]string
}

func newBlobReader(t *testing.T, dir string) *blobReader {
	cmd := exec.Command("git", "-C", dir, "cat-file", "--batch")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &blobReader{t, in, bufio.NewReaderSize(out, 1<<20), map[string]string{}}
}

// read returns the content with an id, or "" if it is missing or no text.
func (b *blobReader) read(id string) string {
	if id == "" {
		return ""
	}
	if text, known := b.cached[id]; known {
		return text
	}
	_, err := fmt.Fprintln(b.in, id)
	require.NoError(b.t, err)
	head, err := b.out.ReadString('\n')
	require.NoError(b.t, err)
	fields := strings.Fields(head)
	if len(fields) < 3 {
		b.cached[id] = ""
		return ""
	}
	size, err := strconv.Atoi(fields[2])
	require.NoError(b.t, err)
	content := make([]byte, size+1)
	_, err = io.ReadFull(b.out, content)
	require.NoError(b.t, err)
	content = content[:size]
	if bytes.IndexByte(content, 0) >= 0 || fields[1] != "blob" {
		content = nil
	}
	b.cached[id] = string(content)
	return b.cached[id]
}
