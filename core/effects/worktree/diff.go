package worktree

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// maxDiff is the longest text of a diff, in bytes.
const maxDiff = 16 << 20

// Diff returns the text of changes, with renames detected.
func (t *Tree) Diff(ctx context.Context, changes []Change) (Diff, error) {
	if len(changes) == 0 {
		return Diff{}, nil
	}
	dir, err := t.scratch()
	if err != nil {
		return Diff{}, err
	}
	defer os.RemoveAll(dir)
	g, err := t.compareGit(dir)
	if err != nil {
		return Diff{}, err
	}
	before, after := map[string]File{}, map[string]File{}
	for _, c := range changes {
		before[c.Path], after[c.Path] = c.Before, c.After
	}
	tree, err := compose(ctx, g, before)
	if err != nil {
		return Diff{}, err
	}
	g.index = filepath.Join(dir, "after")
	if err := g.stage(ctx, after); err != nil {
		return Diff{}, err
	}
	return compare(ctx, g, tree)
}

// compareGit returns git with an index and objects of its own below dir, which reads our objects. It
// has no worktree.
func (t *Tree) compareGit(dir string) (git, error) {
	g := t.readGit()
	objects := g.objects
	if objects == "" {
		objects = filepath.Join(g.dir, "objects")
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return g, err
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(quote(objects)+"\n"), 0o600); err != nil {
		return g, err
	}
	g.work, g.objects, g.index = dir, filepath.Join(dir, "objects"), filepath.Join(dir, "before")
	return g, nil
}

// compare returns the diff between a tree and an index.
func compare(ctx context.Context, g git, tree string) (Diff, error) {
	args := []string{"diff-index", "--cached", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color",
		"--full-index"}
	r, err := g.run(ctx, nil, append(args, "--raw", "--numstat", "-z", tree)...)
	if err != nil {
		return Diff{}, err
	}
	d := Diff{Files: parseStats(r)}
	args = append(args, "-p", "--src-prefix=a/", "--dst-prefix=b/", tree)
	text, err := g.truncated(ctx, append(args, "--binary")...)
	if errors.Is(err, errTooLong) {
		d.Short = true
		if text, err = g.truncated(ctx, args...); errors.Is(err, errTooLong) {
			text, err = wholeFiles(text), nil
		}
	}
	d.Text = string(text)
	return d, err
}

// truncated returns at most maxDiff bytes of an output.
func (g git) truncated(ctx context.Context, args ...string) ([]byte, error) {
	r, err := g.start(ctx, nil, limited{most: maxDiff}, args...)
	if err != nil {
		return nil, err
	}
	return r.output()
}

// wholeFiles removes the last file of a truncated text. Only the head of a file begins with these
// words, because lines of files have a prefix.
func wholeFiles(text []byte) []byte {
	return text[:bytes.LastIndex(text, []byte("\ndiff --git "))+1]
}

// parseStats parses the output of --raw --numstat -z: all raw lines, then all counts.
func parseStats(out []byte) (files []FileStat) {
	at := map[string]int{}
	fields := names(out)
	for i := 0; i < len(fields); i++ {
		switch words := strings.Fields(fields[i]); {
		case strings.HasPrefix(fields[i], ":") && len(words) == 5 && i+2 < len(fields):
			i++
			f := FileStat{Path: fields[i], Kind: kindOf(words[4])}
			if f.Kind == Renamed {
				i++
				f.OldPath, f.Path = f.Path, fields[i]
			}
			at[f.Path] = len(files)
			files = append(files, f)
		default:
			counts := strings.SplitN(fields[i], "\t", 3)
			if len(counts) != 3 {
				continue
			}
			name := counts[2]
			if name == "" && i+2 < len(fields) {
				name = fields[i+2]
				i += 2
			}
			if n, ok := at[name]; ok {
				files[n].count(counts[0], counts[1])
			}
		}
	}
	return files
}

func kindOf(status string) Kind {
	switch status[0] {
	case 'A':
		return Created
	case 'D':
		return Deleted
	case 'R':
		return Renamed
	}
	return Modified
}

// FileStat is one file of a diff. Only a rename has OldPath. Additions and Deletions are lines. They
// are 0 for a binary file.
type FileStat struct {
	Path, OldPath        string
	Kind                 Kind
	Additions, Deletions int
	Binary               bool
}

// count sets the numbers of lines. "-" marks a binary file.
func (f *FileStat) count(additions, deletions string) {
	if additions == "-" {
		f.Binary = true
		return
	}
	f.Additions, _ = strconv.Atoi(additions)
	f.Deletions, _ = strconv.Atoi(deletions)
}

// quote writes a path as git reads it in a list of object folders.
func quote(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(name) + `"`
}
