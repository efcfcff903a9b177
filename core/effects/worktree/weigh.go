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

// maxFolderFactor limits the entries of a folder outside a repository, ignored ones included, to a
// multiple of MaxFiles. Git lists nothing before it has seen all of them.
const maxFolderFactor = 10

// checkCount returns an error if the worktree is known to be too large without running git.
func (l *locked) checkCount(found *difference) error {
	most := l.options.MaxFiles
	if found.known > most || l.dir != "" && entries(filepath.Join(l.dir, "index")) > most {
		return l.tooMany()
	}
	if l.common != "" {
		return nil
	}
	seen := 0
	err := filepath.WalkDir(l.root, func(_ string, _ fs.DirEntry, _ error) error {
		if seen++; seen > maxFolderFactor*most {
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

// checkSize returns an error if a capture is too large. Nothing is stored before.
func (l *locked) checkSize(ctx context.Context, found *difference) error {
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

// stored estimates the bytes of files that the repository has already: the files whose size is the one
// in its index. Files that git stores in another form count as new, such as files with converted line
// ends or in a large-file store.
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

// parseStaged parses the output of ls-files --stage. It skips conflicts and submodules.
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

// parseFile returns false for a submodule, which is not a file.
func parseFile(mode, object string) (File, bool) {
	n, err := strconv.ParseUint(mode, 8, 32)
	if err != nil || n != ModeFile && n != ModeExecutable && n != ModeLink {
		return File{}, n == 0 && err == nil
	}
	return File{Mode: uint32(n), Object: object}, true
}
