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
	tree, err := treeFor(at, a)
	if err != nil {
		return err
	}
	p.trees[path] = tree
	return unix.MoveMount(tree, "", at, "", attached)
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
	if a == hidden {
		return newMount("tmpfs", map[string]string{"mode": "0555", "size": "4k"}, readOnly|harmless|unix.MOUNT_ATTR_NOEXEC)
	}
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
