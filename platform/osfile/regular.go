package osfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The errors of ReadRegular for files that it does not read.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrKernelFile = errors.New("a file of the kernel, such as one in /proc")
)

// OutsideError is the error of ReadRegular for a file that is in none of the folders.
type OutsideError struct{ Folder string }

func (e *OutsideError) Error() string { return "a link leads out of " + e.Folder }

// Bounds limit what ReadRegular reads.
type Bounds struct {
	// Max is the maximum number of bytes.
	Max int64
	// Within are folders, one of which has the file when all links are followed. If it is empty, the file is
	// anywhere on a disk.
	Within []string
	// Closed are folders that do not have the file.
	Closed []string
}

// ReadRegular reads the beginning of a file that [OpenRegular] opens. Errors do not name the path.
func ReadRegular(path string, b Bounds) ([]byte, error) {
	f, err := OpenRegular(path, b)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, b.Max))
	return text, Reason(err)
}

// OpenRegular opens a regular file to read. It never blocks. It examines the file before it opens it, because opening a
// device can have effects, and again when it is open, because the name can lead elsewhere by then. Files of the kernel
// are not opened: they have the environment of processes. A second name of a file, a hard link, cannot be detected.
// Errors do not name the path. Max has no effect.
func OpenRegular(path string, b Bounds) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Reason(err)
	}
	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	f, err := Open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, Reason(err)
	}
	if err := b.check(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// check checks an open file.
func (b Bounds) check(f *os.File) error {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ErrNotRegular
	}
	if isKernelFile(f) {
		return ErrKernelFile
	}
	if len(b.Within)+len(b.Closed) == 0 {
		return nil
	}
	path, err := pathOf(f)
	if err != nil {
		return Reason(err)
	}
	for _, dir := range b.Closed {
		if Contains(dir, path) {
			return fmt.Errorf("it is in %s, which the sandbox policy closes", dir)
		}
	}
	for _, dir := range b.Within {
		if Contains(dir, path) {
			return nil
		}
	}
	if len(b.Within) > 0 {
		return &OutsideError{b.Within[0]}
	}
	return nil
}

// Contains reports whether a path without links is dir, which can be a link, or below it.
func Contains(dir, path string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Reason returns the error of a file operation without the operation and the path.
func Reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}
