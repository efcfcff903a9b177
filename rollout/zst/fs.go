package zst

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"appserver/platform/disk"
)

// FS is a file system in which compressed rollouts have plain names. It overrides the operations of its FS, which has
// both forms, that take or return names.
type FS struct {
	disk.FS
	// space is the folder for the contents of long files.
	space string
	// decoders has unused decoders.
	decoders sync.Pool
}

var _ disk.FS = (*FS)(nil)

// New returns a file system that has compressed rollouts of another one as plain ones. The folder space is for long
// contents; it need not exist.
func New(fs disk.FS, space string) *FS { return &FS{FS: fs, space: space} }

// stored returns the path at which a file is stored: that of its plain form, or that of its compressed one if there is
// no other.
func (z *FS) stored(path string) (at string, compressed bool, err error) {
	path = Plain(path)
	if !isRollout(path) {
		return path, false, nil
	}
	plain, err := z.exists(path)
	if err != nil || plain {
		return path, false, err
	}
	if compressed, err = z.exists(path + Suffix); compressed {
		path += Suffix
	}
	return path, compressed, err
}

// Stored returns the path at which a file is stored.
func (z *FS) Stored(path string) string {
	at, _, _ := z.stored(path) // the plain path if that is unknown
	return at
}

func (z *FS) exists(path string) (bool, error) {
	_, err := z.FS.Lstat(path)
	if disk.IsNotExist(err) {
		return false, nil
	}
	return err == nil, err
}

// eitherForm calls do with the plain name of a file and, if there is no such file, with the compressed one. A file may
// change its form in between, so it tries both names again.
func eitherForm(path string, do func(path string, compressed bool) error) error {
	path = Plain(path)
	err := do(path, false)
	for range 2 {
		if !disk.IsNotExist(err) || !isRollout(path) {
			return err
		}
		other := do(path+Suffix, true)
		if !disk.IsNotExist(other) {
			return other
		}
		err = do(path, false)
	}
	return err
}

// OpenFile opens a file in either form. A compressed one that is opened to append is decompressed first.
func (z *FS) OpenFile(path string, flag int, perm fs.FileMode) (opened disk.File, err error) {
	if flag&(os.O_CREATE|os.O_APPEND) != 0 {
		at, compressed, err := z.stored(path)
		switch {
		case err != nil:
			return nil, err
		case compressed && flag&os.O_CREATE != 0:
			return nil, &fs.PathError{Op: "open", Path: at, Err: fs.ErrExist}
		case compressed:
			if _, err := z.Expand(path); err != nil {
				return nil, err
			}
		}
		return z.FS.OpenFile(Plain(path), flag, perm)
	}
	err = eitherForm(path, func(at string, compressed bool) error {
		raw, err := z.FS.OpenFile(at, flag, perm)
		if err == nil && compressed {
			raw = z.newFile(raw, Plain(path))
		}
		opened = raw
		return err
	})
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// ReadDir returns the entries of a folder. A compressed file has its plain name, and is hidden by a plain one.
func (z *FS) ReadDir(path string) ([]fs.DirEntry, error) {
	entries, err := z.FS.ReadDir(path)
	if err != nil {
		return nil, err
	}
	plain := map[string]bool{}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return Plain(e.Name()) != e.Name() }) {
		for _, e := range entries {
			plain[e.Name()] = true
		}
	}
	shown := entries[:0]
	for _, e := range entries {
		name := Plain(e.Name())
		if name != e.Name() && !e.IsDir() {
			if plain[name] {
				continue
			}
			e = entry{e, name}
		}
		shown = append(shown, e)
	}
	return shown, nil
}

// Stat describes the stored form of a file under its plain name.
func (z *FS) Stat(path string) (fs.FileInfo, error) { return z.stat(path, z.FS.Stat) }

// Lstat does the same as Stat, without following symbolic links.
func (z *FS) Lstat(path string) (fs.FileInfo, error) { return z.stat(path, z.FS.Lstat) }

func (z *FS) stat(path string, stat func(string) (fs.FileInfo, error)) (info fs.FileInfo, err error) {
	err = eitherForm(path, func(at string, compressed bool) error {
		found, err := stat(at)
		if info = found; err == nil && compressed {
			info = named{found, filepath.Base(Plain(path))}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return info, nil
}

// SameFile compares the stored files.
func (z *FS) SameFile(a, b fs.FileInfo) bool { return z.FS.SameFile(unnamed(a), unnamed(b)) }

// Remove removes all forms of a file.
func (z *FS) Remove(path string) error {
	path = Plain(path)
	if !isRollout(path) {
		return z.FS.Remove(path)
	}
	compressed, err := z.exists(path + Suffix)
	if err != nil {
		return err
	}
	if !compressed {
		return z.FS.Remove(path)
	}
	if err := z.FS.Remove(path + Suffix); err != nil {
		return err
	}
	if err := z.FS.Remove(path); !disk.IsNotExist(err) {
		return err
	}
	return nil
}

// Link creates a second name for a file, in the form in which it is stored.
func (z *FS) Link(path, second string) error {
	at, compressed, err := z.stored(path)
	if err != nil {
		return err
	}
	second = Plain(second)
	if !isRollout(second) {
		if compressed {
			return &os.LinkError{Op: "link", Old: at, New: second, Err: fs.ErrInvalid}
		}
		return z.FS.Link(at, second)
	}
	to, other := second, second+Suffix
	if compressed {
		to, other = other, to
	}
	taken, err := z.exists(other)
	switch {
	case err != nil:
		return err
	case taken:
		return &os.LinkError{Op: "link", Old: at, New: other, Err: fs.ErrExist}
	}
	return z.FS.Link(at, to)
}

// Rename renames a file, in the form in which it is stored. It removes the other form of both names. If the other form
// of the new name is compressed and cannot be removed, it stays hidden, which is no error.
func (z *FS) Rename(path, to string) error {
	at, compressed, err := z.stored(path)
	if err != nil {
		return err
	}
	to = Plain(to)
	switch {
	case compressed && !isRollout(to):
		return &os.LinkError{Op: "rename", Old: at, New: to, Err: fs.ErrInvalid}
	case compressed:
		if err := z.FS.Rename(at, to+Suffix); err != nil {
			return err
		}
		return z.removeOther(to, to)
	case isRollout(at):
		if err := z.removeOther(at+Suffix, at); err != nil {
			return err
		}
	}
	err = z.FS.Rename(at, to)
	if err == nil && isRollout(to) {
		_ = z.removeOther(to+Suffix, to)
	}
	return err
}

// removeOther removes another form of a file, if it exists, after the present form has its name durably.
func (z *FS) removeOther(other, present string) error {
	exists, err := z.exists(other)
	if err != nil || !exists {
		return err
	}
	if err := z.FS.SyncDir(filepath.Dir(present)); err != nil {
		return err
	}
	return z.FS.Remove(other)
}

// SetAttributes changes the stored form of a file.
func (z *FS) SetAttributes(path string, like fs.FileInfo) error {
	at, _, err := z.stored(path)
	if err != nil {
		return err
	}
	return z.FS.SetAttributes(at, like)
}
