//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// access is the access that a command has to a place.
type access int

const (
	// held places have the access of their parent, and cannot be renamed.
	held access = iota
	written
	shut
	hidden
)

// plan is the set of places that get a mount of their own.
type plan struct {
	places map[string]access
	// trees are the mounts made so far, by path.
	trees map[string]int
}

// newPlan collects the places of the rules: the roots, the protected names in them, and the folders
// between.
func newPlan(r Rules) *plan {
	p := &plan{places: map[string]access{}, trees: map[string]int{}}
	roots := map[string]string{} // by name, with links resolved
	for _, root := range r.Writable {
		if at := outermost(roots, root); at != "" {
			roots[root] = filepath.Join(roots[at], root[len(at):])
		} else if real, err := filepath.EvalSymlinks(root); err == nil {
			roots[root] = real
		}
	}
	for _, root := range roots {
		p.add(root, written)
		for _, name := range protected(root) {
			p.add(filepath.Join(root, name), shut)
		}
	}
	if home, err := filepath.EvalSymlinks(r.Home); r.Home != "" && err == nil {
		p.addHome(home, r.Hidden)
	}
	for _, path := range slices.Collect(maps.Keys(p.places)) {
		p.hold(path)
	}
	return p
}

// outermost returns the root that contains another one, or "". Paths below a root are not resolved,
// because commands could have put a link there.
func outermost(roots map[string]string, path string) string {
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		if within(name, path) {
			return name
		}
	}
	return ""
}

// add adds a place; of two accesses, the stricter one wins.
func (p *plan) add(path string, a access) { p.places[path] = max(p.places[path], a) }

func (p *plan) addHome(home string, hide bool) {
	if hide {
		p.add(home, hidden)
		return
	}
	p.add(home, shut)
}

// hold adds the folders between a place and the writable root that contains it.
func (p *plan) hold(path string) {
	root := p.above(path)
	if root == "" {
		return
	}
	for dir := filepath.Dir(path); within(root, dir) && dir != root; dir = filepath.Dir(dir) {
		p.add(dir, held)
	}
}

// above returns the nearest place that contains a path.
func (p *plan) above(path string) string {
	for dir := path; dir != "/"; {
		dir = filepath.Dir(dir)
		if _, ok := p.places[dir]; ok {
			return dir
		}
	}
	return ""
}

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
