package worktree

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"

	"appserver/platform/osfile"
)

// blockedError is the error for a path that leads through something other than a folder, such as a
// link.
type blockedError struct{ at string }

func (e *blockedError) Error() string { return fmt.Sprintf("%q is in the way: it is no folder", e.at) }

// openFolder opens a folder below the root, one name at a time and through no link, because a running
// command may create a link anywhere. If missing is set, it creates missing folders and returns their
// names.
func (t *Tree) openFolder(dir string, missing bool) (folder *osfile.Folder, made []string, err error) {
	folder, err = osfile.OpenRealFolder(t.root)
	if err != nil || dir == "." {
		return folder, nil, err
	}
	at := ""
	for part := range strings.SplitSeq(dir, "/") {
		at = path.Join(at, part)
		next, err := folder.Open(part)
		if errors.Is(err, fs.ErrNotExist) && missing {
			if err = folder.Mkdir(part, 0o777); err == nil {
				made = append(made, at)
				next, err = folder.Open(part)
			}
		}
		_ = folder.Close()
		if errors.Is(err, osfile.ErrNotFolder) {
			err = &blockedError{at: at}
		}
		if err != nil {
			return nil, made, err
		}
		folder = next
	}
	return folder, made, nil
}

// sight describes what is at a path, without its content.
type sight struct {
	there bool
	osfile.Info
	// blocked is the first part of the path that is not a folder, or "".
	blocked string
}

func (s sight) isFile() bool { return s.there && (s.Kind == 0 || s.Kind == fs.ModeSymlink) }

// see returns the state of a path.
func (t *Tree) see(name string) (sight, error) {
	if err := checkPath(name); err != nil {
		return sight{}, err
	}
	folder, _, err := t.openFolder(path.Dir(name), false)
	var blocked *blockedError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sight{}, nil
	case errors.As(err, &blocked):
		return sight{blocked: blocked.at}, nil
	}
	if err != nil {
		return sight{}, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	defer folder.Close()
	return seeAt(folder, path.Base(name))
}

func seeAt(folder *osfile.Folder, name string) (sight, error) {
	info, err := folder.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return sight{}, nil
	}
	return sight{there: err == nil, Info: info}, err
}

// file returns the file at a path as a capture would have it. Mode 1 means that it is not a file.
func (t *Tree) file(name string) (File, sight, error) {
	seen, err := t.see(name)
	if err != nil || !seen.there {
		return File{}, seen, err
	}
	if !seen.isFile() {
		return File{Mode: 1}, seen, nil
	}
	folder, _, err := t.openFolder(path.Dir(name), false)
	if err != nil {
		return File{}, seen, err
	}
	defer folder.Close()
	f := File{Mode: ModeFile}
	switch {
	case seen.Kind == fs.ModeSymlink:
		f.Mode = ModeLink
		f.Object, err = t.nameLink(folder, path.Base(name))
	case seen.Perm&0o100 != 0:
		f.Mode = ModeExecutable
		fallthrough
	default:
		f.Object, err = t.nameContent(folder, path.Base(name))
	}
	return f, seen, err
}

func (t *Tree) nameLink(folder *osfile.Folder, name string) (string, error) {
	target, err := folder.Readlink(name)
	if err != nil {
		return "", err
	}
	h := t.blob(int64(len(target)))
	_, _ = h.Write([]byte(target))
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// nameContent returns git's object name of a file's content.
func (t *Tree) nameContent(folder *osfile.Folder, name string) (string, error) {
	file, err := folder.OpenFile(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	h := t.blob(info.Size())
	_, err = io.Copy(h, file)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func (t *Tree) blob(size int64) hash.Hash {
	h := sha1.New()
	if t.sha256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", size)
	return h
}
