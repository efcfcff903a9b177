package worktree

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// blockedError is the error for a path that leads through something other than a folder, such as a
// link.
type blockedError struct{ at string }

func (e *blockedError) Error() string { return fmt.Sprintf("%q is in the way: it is no folder", e.at) }

// openFolder opens a folder below the root, one name at a time and through no link, because a running
// command may create a link anywhere. If missing is set, it creates missing folders and returns their
// names.
func (t *Tree) openFolder(dir string, missing bool) (fd int, made []string, err error) {
	fd, err = unix.Open(t.root, folderFlags, 0)
	if err != nil || dir == "." {
		return fd, nil, err
	}
	at := ""
	for _, part := range strings.Split(dir, "/") {
		at = path.Join(at, part)
		next, err := unix.Openat(fd, part, folderFlags, 0)
		if errors.Is(err, fs.ErrNotExist) && missing {
			if err = unix.Mkdirat(fd, part, 0o777); err == nil {
				made = append(made, at)
				next, err = unix.Openat(fd, part, folderFlags, 0)
			}
		}
		_ = unix.Close(fd)
		if errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) {
			err = &blockedError{at: at}
		}
		if err != nil {
			return -1, made, err
		}
		fd = next
	}
	return fd, made, nil
}

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// sight describes what is at a path, without its content.
type sight struct {
	there         bool
	kind, perm    uint32
	dev, ino      uint64
	size          int64
	seconds, nano int64
	// blocked is the first part of the path that is not a folder, or "".
	blocked string
}

func (s sight) isFile() bool {
	return s.there && (s.kind == unix.S_IFREG || s.kind == unix.S_IFLNK)
}

// see returns the state of a path.
func (t *Tree) see(name string) (sight, error) {
	if err := checkPath(name); err != nil {
		return sight{}, err
	}
	fd, _, err := t.openFolder(path.Dir(name), false)
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
	defer unix.Close(fd)
	return seeAt(fd, path.Base(name))
}

func seeAt(fd int, name string) (sight, error) {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, fs.ErrNotExist) {
		return sight{}, nil
	}
	if err != nil {
		return sight{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	return sight{
		there: true, kind: uint32(st.Mode) & unix.S_IFMT, perm: uint32(st.Mode) & 0o777, dev: uint64(st.Dev), ino: st.Ino,
		size: st.Size, seconds: int64(st.Mtim.Sec), nano: int64(st.Mtim.Nsec),
	}, nil
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
	fd, _, err := t.openFolder(path.Dir(name), false)
	if err != nil {
		return File{}, seen, err
	}
	defer unix.Close(fd)
	f := File{Mode: ModeFile}
	switch {
	case seen.kind == unix.S_IFLNK:
		f.Mode = ModeLink
		f.Object, err = t.nameLink(fd, path.Base(name))
	case seen.perm&0o100 != 0:
		f.Mode = ModeExecutable
		fallthrough
	default:
		f.Object, err = t.nameContent(fd, path.Base(name))
	}
	return f, seen, err
}

func (t *Tree) nameLink(fd int, name string) (string, error) {
	target := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, name, target)
	if err != nil {
		return "", err
	}
	h := t.blob(int64(n))
	_, _ = h.Write(target[:n])
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// nameContent returns git's object name of a file's content.
func (t *Tree) nameContent(fd int, name string) (string, error) {
	own, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: name, Err: err}
	}
	file := os.NewFile(uintptr(own), name)
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
