package worktree

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// CapturePaths stores the files at some paths. It applies neither the limit of files nor ignore
// patterns. The result has every path; a path without a file has File{}. It fails with a
// [*TooLargeError] if the files together are too long.
func (t *Tree) CapturePaths(ctx context.Context, paths []string) (map[string]File, error) {
	files := map[string]File{}
	var present []string
	var size int64
	for _, p := range paths {
		seen, err := t.see(p)
		if err != nil {
			return nil, err
		}
		if files[p] = (File{}); seen.isFile() {
			present = append(present, p)
			size += seen.Size
		}
	}
	if size > t.options.MaxBytes {
		return nil, &TooLargeError{Root: t.root, Bytes: size, MaxBytes: t.options.MaxBytes}
	}
	if len(present) == 0 {
		return files, nil
	}
	return files, t.withIndex(func(g git) error {
		if _, err := g.run(ctx, input(present), "update-index", "--add", "--remove", "-z", "--stdin"); err != nil {
			return err
		}
		staged, err := g.run(ctx, nil, "ls-files", "--stage", "-z")
		for name, f := range parseStaged(staged) {
			files[name] = f
		}
		return err
	})
}

// Compose returns a git tree of a result of [Tree.CapturePaths], for [Tree.Keep]. To find the
// difference of two results, compare them: [Tree.Changes] leaves out files that the user's patterns
// ignore.
func (t *Tree) Compose(ctx context.Context, files map[string]File) (object string, err error) {
	err = t.withIndex(func(g git) error {
		object, err = compose(ctx, g, files)
		return err
	})
	return object, err
}

// compose writes the files into the index of git, then into a tree.
func compose(ctx context.Context, g git, files map[string]File) (string, error) {
	if err := g.stage(ctx, files); err != nil {
		return "", err
	}
	return g.word(ctx, nil, "write-tree")
}

// stage adds files to the index. It skips files of mode 0.
func (g git) stage(ctx context.Context, files map[string]File) error {
	var lines strings.Builder
	for name, f := range files {
		if f.Mode != 0 {
			fmt.Fprintf(&lines, "%o %s\t%s\x00", f.Mode, f.Object, name)
		}
	}
	_, err := g.run(ctx, strings.NewReader(lines.String()), "update-index", "--add", "-z", "--index-info")
	return err
}

// withIndex calls do with git and a new, empty index.
func (t *Tree) withIndex(do func(git) error) error {
	dir, err := t.scratch()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	g := t.git
	g.index = filepath.Join(dir, "index")
	return do(g)
}

// checkPath returns an error for a path that is not below the root, or is in a .git.
func checkPath(name string) error {
	inGit := slices.ContainsFunc(strings.Split(name, "/"), isGitFolder)
	switch {
	case name == "." || !filepath.IsLocal(name) || path.Clean(name) != name || strings.Contains(name, "\x00"):
		return fmt.Errorf("%q is not a path below the root", name)
	case inGit:
		return fmt.Errorf("%q is in a .git, which is not captured", name)
	}
	return nil
}

// isGitFolder reports whether a name leads to .git on Windows, which has a short name for each file and
// ignores dots and spaces at the end. Git rejects these names on every system.
func isGitFolder(name string) bool {
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
