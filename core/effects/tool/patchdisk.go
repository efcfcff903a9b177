package tool

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"appserver/platform/osfile"
)

// disk is the set of disk operations of a Patcher. Names have slashes, and lead through no link: a part of a name that
// has become a link is an error. Commands that run meanwhile can put links anywhere.
type disk interface {
	Stat(name string) (osfile.Info, error)
	Readlink(name string) (string, error)
	OpenFile(name string) (*os.File, error)
	// List returns names in a folder, at most limit. The name of the open folder is empty.
	List(name string, limit int) ([]string, error)
	Create(name string, perm fs.FileMode) (*os.File, error)
	Mkdir(name string, perm fs.FileMode) error
	Link(old, name string) error
	Rename(old, name string) error
	Remove(name string) error
	RemoveFolder(name string) error
	Close() error
}

// folderDisk is the disk below an open folder.
type folderDisk struct{ folder *osfile.Folder }

// in calls do with the folder of a name and the last part of the name.
func (d folderDisk) in(name string, do func(f *osfile.Folder, last string) error) error {
	folder, parts := d.folder, strings.Split(path.Clean(name), "/")
	for _, part := range parts[:len(parts)-1] {
		next, err := folder.Open(part)
		if folder != d.folder {
			_ = folder.Close()
		}
		if err != nil {
			return err
		}
		folder = next
	}
	if folder != d.folder {
		defer folder.Close()
	}
	return do(folder, parts[len(parts)-1])
}

func (d folderDisk) Close() error { return d.folder.Close() }

func (d folderDisk) Stat(name string) (info osfile.Info, err error) {
	if path.Clean(name) == "." {
		return osfile.Info{Kind: fs.ModeDir}, nil
	}
	err = d.in(name, func(f *osfile.Folder, last string) error {
		info, err = f.Stat(last)
		return err
	})
	return info, err
}

func (d folderDisk) Readlink(name string) (target string, err error) {
	err = d.in(name, func(f *osfile.Folder, last string) error {
		target, err = f.Readlink(last)
		return err
	})
	return target, err
}

func (d folderDisk) OpenFile(name string) (file *os.File, err error) {
	err = d.in(name, func(f *osfile.Folder, last string) error {
		file, err = f.OpenFile(last)
		return err
	})
	return file, err
}

func (d folderDisk) List(name string, limit int) (names []string, err error) {
	if name == "" {
		return d.folder.Names(limit)
	}
	err = d.in(name, func(f *osfile.Folder, last string) error {
		folder, err := f.Open(last)
		if err != nil {
			return err
		}
		defer folder.Close()
		names, err = folder.Names(limit)
		return err
	})
	return names, err
}

func (d folderDisk) Create(name string, perm fs.FileMode) (file *os.File, err error) {
	err = d.in(name, func(f *osfile.Folder, last string) error {
		file, err = f.Create(last, perm)
		return err
	})
	return file, err
}

func (d folderDisk) Mkdir(name string, perm fs.FileMode) error {
	return d.in(name, func(f *osfile.Folder, last string) error { return f.Mkdir(last, perm) })
}

func (d folderDisk) Remove(name string) error {
	return d.in(name, func(f *osfile.Folder, last string) error { return f.Remove(last) })
}

func (d folderDisk) RemoveFolder(name string) error {
	return d.in(name, func(f *osfile.Folder, last string) error { return f.RemoveFolder(last) })
}

func (d folderDisk) Link(old, name string) error {
	return d.in(old, func(from *osfile.Folder, oldLast string) error {
		return d.in(name, func(to *osfile.Folder, last string) error { return from.Link(oldLast, to, last) })
	})
}

func (d folderDisk) Rename(old, name string) error {
	return d.in(old, func(from *osfile.Folder, oldLast string) error {
		return d.in(name, func(to *osfile.Folder, last string) error { return from.Rename(oldLast, to, last) })
	})
}
