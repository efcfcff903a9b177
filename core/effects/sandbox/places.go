package sandbox

import (
	"maps"
	"path/filepath"
	"slices"
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

// places are the files and folders whose access differs from that of their parent, or that cannot
// be renamed. Of two places that contain a file, the inner one decides.
type places map[string]access

// newPlaces collects the places of the rules: the roots, the protected names in them, and the folders
// between.
func newPlaces(r Rules) places {
	p := places{}
	roots := map[string]string{} // by name, with links resolved
	for _, root := range r.Writable {
		if at := outermost(roots, root); at != "" {
			roots[root] = filepath.Join(roots[at], root[len(at):])
		} else if real, err := canonical(root); err == nil {
			roots[root] = real
		}
	}
	for _, root := range roots {
		p.add(root, written)
		for _, name := range protected(root) {
			p.add(filepath.Join(root, name), shut)
		}
	}
	if home, err := canonical(r.Home); r.Home != "" && err == nil {
		p.addHome(home, r.Hidden)
	}
	for _, path := range slices.Collect(maps.Keys(p)) {
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
func (p places) add(path string, a access) { p[path] = max(p[path], a) }

func (p places) addHome(home string, hide bool) {
	if hide {
		p.add(home, hidden)
		return
	}
	p.add(home, shut)
}

// hold adds the folders between a place and the writable root that contains it.
func (p places) hold(path string) {
	root := p.above(path)
	if root == "" {
		return
	}
	for dir := filepath.Dir(path); within(root, dir) && dir != root; dir = filepath.Dir(dir) {
		p.add(dir, held)
	}
}

// above returns the nearest place that contains a path.
func (p places) above(path string) string {
	for dir := path; dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if _, ok := p[dir]; ok {
			return dir
		}
	}
	return ""
}
