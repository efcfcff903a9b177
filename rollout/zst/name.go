package zst

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Suffix is the suffix of compressed files.
const Suffix = ".zst"

// Plain returns the name of a file in both of its forms: a path without the suffix of compressed rollouts.
func Plain(path string) string {
	if plain, ok := strings.CutSuffix(path, Suffix); ok && isRollout(plain) {
		return plain
	}
	return path
}

// isRollout reports whether a name can be that of a compressed file without its suffix: that of a rollout, or one that
// begins with it.
func isRollout(path string) bool {
	name, ok := strings.CutPrefix(filepath.Base(path), "rollout-")
	return ok && (strings.HasSuffix(name, ".jsonl") || strings.Contains(name, ".jsonl.")) &&
		!strings.HasSuffix(name, Suffix)
}

// named is a description of a compressed file with the plain name. It overrides Name.
type named struct {
	fs.FileInfo
	name string
}

// Name returns the plain name.
func (n named) Name() string { return n.name }

// unnamed returns the description of the system.
func unnamed(info fs.FileInfo) fs.FileInfo {
	if n, ok := info.(named); ok {
		return n.FileInfo
	}
	return info
}

// entry is a directory entry of a compressed file with the plain name. It overrides Name and Info.
type entry struct {
	fs.DirEntry
	name string
}

// Name returns the plain name.
func (e entry) Name() string { return e.name }

// Info returns the description of the compressed file.
func (e entry) Info() (fs.FileInfo, error) {
	info, err := e.DirEntry.Info()
	if err != nil {
		return nil, err
	}
	return named{info, e.name}, nil
}
