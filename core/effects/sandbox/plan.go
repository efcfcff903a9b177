//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// plan is the set of places, each of which gets a mount of its own.
type plan struct {
	places
	// trees are the mounts made so far, by path.
	trees map[string]int
}

func newPlan(r Rules) *plan { return &plan{places: newPlaces(r), trees: map[string]int{}} }

// mount makes the mounts, outer ones first.
func (p *plan) mount() error {
	defer func() {
		for _, tree := range p.trees {
			unix.Close(tree)
		}
	}()
	for _, path := range slices.Sorted(maps.Keys(p.places)) {
		err := p.mountAt(path, p.places[path])
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ELOOP) {
			return fmt.Errorf("mount over %s: %w", path, err)
		}
	}
	return nil
}

// mountAt mounts a place. A place that does not exist, or that is behind a symbolic link, keeps the
// access of its parent.
func (p *plan) mountAt(path string, a access) error {
	if path == "/" {
		return p.mountRoot(a)
	}
	at, err := p.open(path)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if a == hidden {
		return p.hide(path, at)
	}
	tree, err := treeFor(at, a)
	if err != nil {
		return err
	}
	p.trees[path] = tree
	return unix.MoveMount(tree, "", at, "", attached)
}

// hide mounts an empty folder over a place, with its shared folder if it has one.
func (p *plan) hide(path string, at int) error {
	empty, err := newMount("tmpfs", map[string]string{"mode": "0755", "size": "4k"}, harmless|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return err
	}
	p.trees[path] = empty
	shared, err := cloneShared(at)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ELOOP) {
		return errors.Join(forbidWriting(empty), unix.MoveMount(empty, "", at, "", attached))
	}
	if err != nil {
		return err
	}
	defer unix.Close(shared)
	if err := unix.Mkdirat(empty, SharedFolder, 0o555); err != nil {
		return err
	}
	if err := errors.Join(forbidWriting(empty), unix.MoveMount(empty, "", at, "", attached)); err != nil {
		return err
	}
	place, err := openPath(empty, SharedFolder)
	if err != nil {
		return err
	}
	defer unix.Close(place)
	return unix.MoveMount(shared, "", place, "", attached)
}

// cloneShared returns a mount of the shared folder of a folder. Nothing in it can be written or run.
func cloneShared(dir int) (int, error) {
	at, err := openPath(dir, SharedFolder)
	if err != nil {
		return -1, err
	}
	defer unix.Close(at)
	tree, err := cloneAt(at)
	if err != nil {
		return -1, err
	}
	err = unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE,
		&unix.MountAttr{Attr_set: readOnly | harmless | unix.MOUNT_ATTR_NOEXEC})
	if err != nil {
		unix.Close(tree)
		return -1, err
	}
	return tree, nil
}

// mountRoot opens the root file system itself. Other mounts below it keep their access.
func (p *plan) mountRoot(a access) error {
	if a != written {
		return nil
	}
	root, err := openPath(unix.AT_FDCWD, "/")
	if err != nil {
		return err
	}
	p.trees["/"] = root
	return unix.MountSetattr(root, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_clr: readOnly})
}

// open opens a place, from the mount that contains it, one name at a time.
func (p *plan) open(path string) (int, error) {
	above := p.above(path)
	if above == "" {
		return openPath(unix.AT_FDCWD, path)
	}
	tree, ok := p.trees[above]
	if !ok {
		return -1, unix.ELOOP
	}
	fd := -1
	for name := range strings.SplitSeq(strings.TrimPrefix(path[len(above):], "/"), "/") {
		next, err := openPath(tree, name)
		if fd >= 0 {
			unix.Close(fd)
		}
		if err != nil {
			return -1, err
		}
		fd, tree = next, next
	}
	return fd, nil
}

// treeFor returns a mount of a file or folder with an access.
func treeFor(at int, a access) (int, error) {
	tree, err := cloneAt(at)
	if err != nil {
		return -1, err
	}
	switch a {
	case written:
		err = allowWriting(tree)
	case shut:
		err = forbidWriting(tree)
	}
	return tree, err
}
