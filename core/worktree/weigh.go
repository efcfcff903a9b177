package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// crowd is how many times the files that may be captured a folder outside a repository
// may have, those that git ignores included, before it is not even looked at by git,
// which says nothing until it has seen all.
const crowd = 10

// glance refuses what is too large already by what is known without git.
func (l *locked) glance(found *findings) error {
	most := l.options.MaxFiles
	if found.known > most || l.dir != "" && entries(filepath.Join(l.dir, "index")) > most {
		return l.tooMany()
	}
	if l.common != "" {
		return nil
	}
	seen := 0
	err := filepath.WalkDir(l.root, func(_ string, _ fs.DirEntry, _ error) error {
		if seen++; seen > crowd*most {
			return errTooLong
		}
		return nil
	})
	if errors.Is(err, errTooLong) {
		return l.tooMany()
	}
	return nil
}

func (t *Tree) tooMany() error {
	return &TooLargeError{Root: t.root, Files: t.options.MaxFiles + 1, MaxFiles: t.options.MaxFiles}
}

// weigh refuses a capture that is too large, before anything of it is stored.
func (l *locked) weigh(ctx context.Context, found *findings) error {
	if found.known+found.added > l.options.MaxFiles {
		return l.tooMany()
	}
	size := found.size
	if size > l.options.MaxBytes {
		size -= l.stored(ctx, found.store)
	}
	if size > l.options.MaxBytes {
		return &TooLargeError{Root: l.root, Bytes: size, MaxBytes: l.options.MaxBytes}
	}
	return nil
}

// stored is how many bytes of some files the repository has already: those that its
// index says are as long as the files are. That is an estimate. A file that is kept in
// another form, as with line ends changed or in a large-file store, counts as new.
func (l *locked) stored(ctx context.Context, paths []string) (sum int64) {
	if l.trackedState() == "" {
		return 0
	}
	g := l.git
	g.index = filepath.Join(l.dir, "index")
	staged, err := g.run(ctx, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return 0
	}
	files := parseStaged(staged)
	var asked []string
	var objects strings.Builder
	for _, p := range paths {
		if f, ok := files[p]; ok {
			asked = append(asked, p)
			objects.WriteString(f.Object + "\n")
		}
	}
	sizes, err := l.git.run(ctx, strings.NewReader(objects.String()), "cat-file", "--batch-check=%(objectsize)",
		"--buffer")
	if err != nil {
		return 0
	}
	for i, size := range strings.Split(strings.TrimSpace(string(sizes)), "\n") {
		if i >= len(asked) {
			break
		}
		info, err := os.Lstat(filepath.Join(l.root, asked[i]))
		if n, bad := strconv.ParseInt(size, 10, 64); err == nil && bad == nil && n == info.Size() {
			sum += n
		}
	}
	return sum
}

// parseStaged reads what ls-files says of an index. Conflicts and submodules are left
// out.
func parseStaged(out []byte) map[string]File {
	files := map[string]File{}
	for _, line := range names(out) {
		about, name, _ := strings.Cut(line, "\t")
		words := strings.Fields(about)
		if len(words) != 3 || words[2] != "0" {
			continue
		}
		if f, ok := parseFile(words[0], words[1]); ok {
			files[name] = f
		}
	}
	return files
}

// parseFile is false for what is no file: a submodule.
func parseFile(mode, object string) (File, bool) {
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || n != ModeFile && n != ModeExecutable && n != ModeLink {
		return File{}, n == 0 && err == nil
	}
	return File{Mode: uint32(n), Object: object}, true
}
