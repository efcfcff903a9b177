package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

// Changes returns the paths that differ between two captures, in order. A rename is two changes. Files
// that git ignored before are left out, because their former state is unknown.
func (t *Tree) Changes(ctx context.Context, before, after string) ([]Change, error) {
	if before == after {
		return nil, nil
	}
	out, err := t.readGit().run(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", before, after)
	if err != nil {
		return nil, err
	}
	var changes []Change
	fields := names(out)
	for i := 0; i+1 < len(fields); i += 2 {
		if c, ok := parseChange(fields[i], fields[i+1]); ok {
			changes = append(changes, c)
		}
	}
	return t.dropIgnored(ctx, before, changes)
}

// parseChange reads ":100644 100755 OBJECT OBJECT M" and a path.
func parseChange(about, name string) (Change, bool) {
	words := strings.Fields(strings.TrimPrefix(about, ":"))
	if len(words) != 5 {
		return Change{}, false
	}
	before, isFile := parseFile(words[0], words[2])
	after, isStill := parseFile(words[1], words[3])
	return Change{Path: name, Before: before, After: after}, isFile && isStill
}

// readGit returns git for reading captures, including the ones from before the folder was a
// repository. It has no worktree.
func (t *Tree) readGit() git {
	g := t.git
	g.work = t.home
	if g.objects != "" {
		g.more = filepath.Join(g.dir, "objects")
	}
	return g
}

// dropIgnored removes new files that were ignored before. They may have existed already, so an undo
// could delete files that the thread did not create.
func (t *Tree) dropIgnored(ctx context.Context, before string, changes []Change) ([]Change, error) {
	var created []string
	for _, c := range changes {
		if c.Before.Mode == 0 {
			created = append(created, c.Path)
		}
	}
	if len(created) == 0 {
		return changes, nil
	}
	ignored, err := t.ignoredAt(ctx, before, created)
	if err != nil {
		return nil, err
	}
	rest := changes[:0]
	for _, c := range changes {
		if c.Before.Mode != 0 || !ignored[c.Path] {
			rest = append(rest, c)
		}
	}
	return rest, nil
}

// ignoredAt returns the paths that the patterns of a capture and of the user ignore.
func (t *Tree) ignoredAt(ctx context.Context, object string, paths []string) (map[string]bool, error) {
	dir, err := t.scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := t.writePatterns(ctx, object, dir, paths); err != nil {
		return nil, err
	}
	g := t.readGit()
	g.work = dir
	// A name that begins with a colon would be a pattern.
	asked := make([]string, len(paths))
	for i, p := range paths {
		asked[i] = "./" + p
	}
	out, err := g.run(ctx, input(asked), "check-ignore", "--no-index", "-z", "--stdin")
	var none *exec.ExitError
	if errors.As(err, &none) && none.ExitCode() == 1 {
		err = nil
	}
	ignored := map[string]bool{}
	for _, name := range names(out) {
		ignored[strings.TrimPrefix(name, "./")] = true
	}
	return ignored, err
}

// writePatterns writes the .gitignore files of a capture below dir, for the folders above the paths.
// Each file is a run of git.
func (t *Tree) writePatterns(ctx context.Context, object, dir string, paths []string) error {
	above := map[string]bool{}
	for _, p := range paths {
		for p != "." {
			p = path.Dir(p)
			above[path.Join(p, ".gitignore")] = true
		}
	}
	out, err := t.readGit().run(ctx, nil, "ls-tree", "-r", "-z", object)
	if err != nil {
		return err
	}
	for _, line := range names(out) {
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if !above[name] || len(words) != 3 || words[0] != fmt.Sprintf("%o", ModeFile) {
			continue
		}
		content, err := t.readGit().run(ctx, nil, "cat-file", "blob", words[2])
		if err != nil {
			return err
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
