package codeindex

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"appserver/rollout/disk"
)

// tree opens files below a root, one name at a time and through no link, because another program may
// create a link anywhere in the meantime.
type tree struct {
	root int
	// dir is the folder that was opened last, at; files come folder by folder.
	dir int
	at  string
	// content is the file that was read last.
	content bytes.Buffer
	// short is the error if too many files are open to examine one.
	short error
}

const folderFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

func openTree(root string) (*tree, error) {
	fd, err := unix.Open(root, folderFlags&^unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	return &tree{root: fd, dir: -1}, nil
}

func (t *tree) close() {
	t.leave()
	_ = unix.Close(t.root)
}

func (t *tree) leave() {
	if t.dir >= 0 {
		_ = unix.Close(t.dir)
	}
	t.dir = -1
}

// enter opens the folder of a file.
func (t *tree) enter(at string) error {
	if t.dir >= 0 && t.at == at {
		return nil
	}
	t.leave()
	fd, err := unix.FcntlInt(uintptr(t.root), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	for _, part := range strings.Split(at, "/") {
		if at == "." {
			break
		}
		next, err := unix.Openat(fd, part, folderFlags, 0)
		_ = unix.Close(fd)
		if err != nil {
			return err
		}
		fd = next
	}
	t.dir, t.at = fd, at
	return nil
}

// stamp returns the stamp of a regular file.
func (t *tree) stamp(name string) (stamp, Reason) {
	if err := t.enter(path.Dir(name)); err != nil {
		return stamp{}, t.reasonOf(err)
	}
	var st unix.Stat_t
	if err := unix.Fstatat(t.dir, path.Base(name), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return stamp{}, t.reasonOf(err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return stamp{}, NoFile
	}
	return stampOf(&st), ""
}

// read reads a file whose stamp was seen, up to a limit. It never blocks, even if the path has become
// another kind of file. The content is valid until the next read.
func (t *tree) read(name string, limit int64) (content []byte, seen stamp, reason Reason) {
	fd, err := unix.Openat(t.dir, path.Base(name),
		unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, stamp{}, t.reasonOf(err)
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, stamp{}, Unreadable
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, stamp{}, NoFile
	}
	t.content.Reset()
	if _, err := t.content.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, stamp{}, Unreadable
	}
	if int64(t.content.Len()) > limit {
		return nil, stamp{}, Large
	}
	return t.content.Bytes(), stampOf(&st), ""
}

// reasonOf returns the reason for an error of a file operation. ELOOP and ENOTDIR mean that something
// has become a link.
func (t *tree) reasonOf(err error) Reason {
	if disk.IsShortage(err) {
		t.short = err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return Gone
	}
	return Unreadable
}
