package worktree

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"appserver/platform/osfile"
)

// Capture stores the files of the worktree and returns the name of a git tree. It fails with a
// [*TooLargeError].
func (t *Tree) Capture(ctx context.Context) (object string, err error) {
	files, ok := t.compare()
	if object := t.last(files, ok); object != "" {
		return object, nil
	}
	if object, err = t.captureFiles(ctx); err == nil && ok {
		t.setLast(object, files)
	}
	return object, err
}

func (t *Tree) captureFiles(ctx context.Context) (object string, err error) {
	l, err := t.lock(ctx)
	if err != nil {
		return "", err
	}
	defer l.close()
	if err := l.clear(); err != nil {
		return "", err
	}
	object, err = l.capture(ctx)
	var failed *gitError
	if !errors.As(err, &failed) || ctx.Err() != nil {
		return object, err
	}
	// Files change while they are read, a crash may have torn our index, and git may have removed objects
	// that the index names. A capture without the index has none of these problems.
	if err := t.dropIndex(); err != nil {
		return "", err
	}
	return l.capture(ctx)
}

// clear removes the leftovers of a killed server, and updates the patterns.
func (l *locked) clear() error {
	l.removeStagings()
	err := os.Remove(filepath.Join(l.git.dir, "index.lock"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return writeIfChanged(filepath.Join(l.git.dir, "info", "exclude"), l.patterns())
}

// patterns returns the repository's patterns, and patterns for our own files in the worktree.
func (t *Tree) patterns() string {
	text := ""
	if t.common != "" {
		text = string(readSmall(filepath.Join(t.common, "info", "exclude")))
	}
	text += "\n/" + stagingPrefix + "*\n"
	for _, dir := range t.own {
		text += "/" + escapePattern(filepath.ToSlash(strings.TrimPrefix(dir, t.root+"/"))) + "\n"
	}
	return text
}

func escapePattern(name string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, " ", `\ `).Replace(name)
}

func (l *locked) capture(ctx context.Context) (string, error) {
	found, err := l.findChanges(ctx)
	if err != nil {
		return "", err
	}
	if err := l.checkSize(ctx, found); err != nil {
		return "", err
	}
	if err := l.store(ctx, found); err != nil {
		return "", err
	}
	if err := l.remember(found.tracked); err != nil {
		return "", err
	}
	return l.git.word(ctx, nil, "write-tree")
}

// difference is the paths at which the worktree differs from the last capture.
type difference struct {
	// store has the paths to store. A path without a file is removed from the index. drop has the paths
	// of entries that are not files for git.
	store, drop []string
	// known is the number of files of the last capture, added the number of new ones.
	known, added int
	// size is the length of the files together, in bytes.
	size int64
	// tracked identifies the state of the repository's index.
	tracked string
}

// findChanges finds files that changed, untracked files, and, if the repository's index changed,
// tracked files that are ignored.
func (l *locked) findChanges(ctx context.Context) (*difference, error) {
	found := &difference{known: entries(filepath.Join(l.git.dir, "index")), tracked: l.trackedState()}
	if err := l.checkCount(found); err != nil {
		return nil, err
	}
	changed, err := l.git.start(ctx, nil, limited{most: maxOutput}, "diff-files", "--name-only", "--ignore-submodules=all",
		"--no-renames", "-z")
	if err != nil {
		return nil, err
	}
	untracked, failed := l.untracked(ctx)
	out, err := changed.output()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	l.sort(found, names(out), true)
	l.sort(found, untracked, false)
	l.sort(found, l.trackedIgnored(ctx, found.tracked), false)
	return found, nil
}

// untracked returns the files that git neither tracks nor ignores.
func (l *locked) untracked(ctx context.Context) ([]string, error) {
	r, err := l.git.start(ctx, nil, limited{most: maxOutput, names: l.options.MaxFiles}, "ls-files", "--others",
		"--exclude-standard", "-z")
	if err != nil {
		return nil, err
	}
	out, err := r.output()
	if errors.Is(err, errTooLong) {
		err = l.tooMany()
	}
	return names(out), err
}

// trackedIgnored returns the files that the repository tracks although it ignores them. It returns nil
// if the repository's index cannot be read; git's own commands fail then as well.
func (l *locked) trackedIgnored(ctx context.Context, state string) []string {
	if state == "" || state == string(readSmall(filepath.Join(l.git.dir, "tracked"))) {
		return nil
	}
	g := l.git
	g.index = filepath.Join(l.dir, "index")
	out, _ := g.run(ctx, nil, "ls-files", "--cached", "--ignored", "--exclude-standard", "-z")
	return names(out)
}

// trackedState returns a text that changes with the repository's index, or "" without an index.
func (t *Tree) trackedState() string {
	if t.dir == "" {
		return ""
	}
	folder, err := osfile.OpenFolder(t.dir)
	if err != nil {
		return ""
	}
	defer folder.Close()
	info, err := folder.Stat("index")
	if err != nil || info.Kind != 0 {
		return ""
	}
	return fmt.Sprintf("%d %d %d", info.Size, info.ModTime, info.File)
}

func (l *locked) remember(state string) error {
	return writeIfChanged(filepath.Join(l.git.dir, "tracked"), state)
}

// sort examines the files at paths. known is set if our index has the paths.
func (l *locked) sort(found *difference, paths []string, known bool) {
	for _, p := range paths {
		if p == "" || strings.HasSuffix(p, "/") {
			continue
		}
		full := l.root + "/" + p
		info, err := os.Lstat(full)
		switch {
		case err != nil || info.IsDir():
			found.store = append(found.store, p)
			continue
		case info.Mode().IsRegular():
			if !osfile.MayRead(full) {
				continue
			}
		case info.Mode().Type() != fs.ModeSymlink:
			found.drop = append(found.drop, p)
			continue
		}
		found.store = append(found.store, p)
		found.size += info.Size()
		if !known {
			found.added++
		}
	}
}

// store updates our index, which stores the files.
func (l *locked) store(ctx context.Context, found *difference) error {
	if len(found.drop) > 0 {
		var lines strings.Builder
		for _, p := range found.drop {
			lines.WriteString("0 " + l.zeroObject() + "\t" + p + "\x00")
		}
		if _, err := l.git.run(ctx, strings.NewReader(lines.String()), "update-index", "-z", "--index-info"); err != nil {
			return err
		}
	}
	if len(found.store) == 0 {
		return nil
	}
	_, err := l.git.run(ctx, input(found.store), "update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	return err
}

// zeroObject returns the object name that means no object.
func (t *Tree) zeroObject() string {
	if t.sha256 {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

// entries returns the number of entries in the head of an index, or 0.
func entries(index string) int {
	file, err := osfile.Open(index, os.O_RDONLY, 0)
	if err != nil {
		return 0
	}
	defer file.Close()
	head := make([]byte, 12)
	if _, err := file.ReadAt(head, 0); err != nil || !bytes.HasPrefix(head, []byte("DIRC")) {
		return 0
	}
	return int(binary.BigEndian.Uint32(head[8:]))
}
