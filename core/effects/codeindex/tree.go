package codeindex

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"appserver/platform/disk"
	"appserver/platform/osfile"
)

// tree opens files below a root, one name at a time and through no link, because another program may
// create a link anywhere in the meantime.
type tree struct {
	root *osfile.Folder
	// dir is the folder that was opened last, at, or nil; files come folder by folder. It may be the root.
	dir *osfile.Folder
	at  string
	// content is the file that was read last.
	content bytes.Buffer
	// short is the error if a file could not be examined because too many files are open.
	short error
}

func openTree(root string) (*tree, error) {
	folder, err := osfile.OpenFolder(root)
	if err != nil {
		return nil, err
	}
	return &tree{root: folder}, nil
}

func (t *tree) close() {
	t.leave()
	_ = t.root.Close()
}

func (t *tree) leave() {
	if t.dir != nil && t.dir != t.root {
		_ = t.dir.Close()
	}
	t.dir = nil
}

// enter opens the folder of a file.
func (t *tree) enter(at string) error {
	if t.dir != nil && t.at == at {
		return nil
	}
	t.leave()
	folder := t.root
	for part := range strings.SplitSeq(at, "/") {
		if at == "." {
			break
		}
		next, err := folder.Open(part)
		if folder != t.root {
			_ = folder.Close()
		}
		if err != nil {
			return err
		}
		folder = next
	}
	t.dir, t.at = folder, at
	return nil
}

// stamp returns the stamp of a regular file.
func (t *tree) stamp(name string) (stamp, Reason) {
	if err := t.enter(path.Dir(name)); err != nil {
		return stamp{}, t.reasonOf(err)
	}
	info, err := t.dir.Stat(path.Base(name))
	if err != nil {
		return stamp{}, t.reasonOf(err)
	}
	if info.Kind != 0 {
		return stamp{}, NoFile
	}
	return stampOf(info), ""
}

// read reads a file that was examined before, up to a limit. It never blocks, even if the path has
// become another kind of file. The content is valid until the next read.
func (t *tree) read(name string, limit int64) (content []byte, seen stamp, reason Reason) {
	file, err := t.dir.OpenFile(path.Base(name))
	if err != nil {
		return nil, stamp{}, t.reasonOf(err)
	}
	defer file.Close()
	info, err := osfile.InfoOf(file)
	if err != nil {
		return nil, stamp{}, Unreadable
	}
	if info.Kind != 0 {
		return nil, stamp{}, NoFile
	}
	t.content.Reset()
	if _, err := t.content.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, stamp{}, Unreadable
	}
	if int64(t.content.Len()) > limit {
		return nil, stamp{}, Large
	}
	return t.content.Bytes(), stampOf(info), ""
}

// reasonOf returns the reason for an error of a file operation. ELOOP and ErrNotFolder mean that something
// has become a link.
func (t *tree) reasonOf(err error) Reason {
	if disk.IsShortage(err) {
		t.short = err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, osfile.ErrNotFolder), osfile.Is(err, syscall.ENOTDIR),
		osfile.Is(err, syscall.ELOOP):
		return Gone
	}
	return Unreadable
}
