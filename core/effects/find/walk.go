package find

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

const (
	// walkers is how many directories are read at a time.
	walkers = 8
	// maxPaths is how many paths a walk gives at most, maxDepth how deep it goes.
	maxPaths = 1_000_000
	maxDepth = 128
)

// Path is a file or a directory, relative to the root of a walk, with slashes.
type Path struct {
	Name      string
	Directory bool
	// Other is set if the path is neither a file nor a directory, such as a link. Only WalkOwn
	// yields such paths.
	Other bool
}

// walk is the state of a walk.
type walk struct {
	ctx  context.Context
	root string
	// found receives the paths of one directory. Calls are serialized.
	found func([]Path)
	busy  chan struct{} // holds a token for each goroutine
	// own is set if the walk is limited to the repository's own files.
	own  bool
	work sync.WaitGroup

	mu   sync.Mutex
	left int // paths that may still be given
	// failed is the first error because of which files may be missing.
	failed error
}

// Finder walks and ranks.
type Finder struct{ personal string }

// Walk yields the paths below a directory, in no order, and returns when it has yielded all or ctx
// ends. It skips unreadable paths.
func (f *Finder) Walk(ctx context.Context, root string, found func([]Path)) {
	f.walk(&walk{ctx: ctx, root: root, found: found, busy: make(chan struct{}, walkers), left: maxPaths})
}

// WalkOwn yields the same files as Walk, but follows no links and enters no repositories inside, such
// as submodules. It reads one directory at a time, always in the same order and in the caller's
// goroutine, so the caller can slow it down. An error means that files may be missing. It yields
// nothing of a directory whose rules cannot be read.
func (f *Finder) WalkOwn(ctx context.Context, root string, found func([]Path)) error {
	w := &walk{ctx: ctx, root: root, found: found, own: true, left: maxPaths}
	f.walk(w)
	return cmp.Or(w.failed, ctx.Err())
}

func (f *Finder) walk(w *walk) {
	real, err := filepath.EvalSymlinks(w.root)
	if err != nil || w.root == "" {
		w.fail(err)
		return
	}
	w.root = real
	w.directory(place{rules: above(real, f.personal), real: real})
	w.work.Wait()
}

func (w *walk) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = cmp.Or(w.failed, err)
}

// place is a directory to read: at is its path in the walk, real its path without links.
type place struct {
	rules    rules
	at, real string
	depth    int
	hops     *hop
}

// hop is a link that a walk has followed, by the directory that has it.
type hop struct {
	from  string
	outer *hop
}

// leadsBack reports whether the walk came through a directory.
func (p place) leadsBack(real string) bool {
	if within(p.real, real) {
		return true
	}
	for h := p.hops; h != nil; h = h.outer {
		if within(h.from, real) {
			return true
		}
	}
	return false
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// directory reads a directory, and the directories in it in parallel, up to the limit.
func (w *walk) directory(p place) {
	if w.ctx.Err() != nil || p.depth > maxDepth {
		return
	}
	dir := filepath.Join(w.root, p.at)
	entries, err := os.ReadDir(dir)
	if passing(err) {
		w.fail(err)
	}
	if err != nil {
		return
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name })
	}
	if w.own && p.depth > 0 && has(".git") {
		return
	}
	if p.rules = p.rules.with(dir, has); p.rules.failed != nil {
		w.fail(p.rules.failed)
		if w.own {
			return
		}
	}
	var paths []Path
	var inner []place
	for _, entry := range entries {
		path, below, ok := w.entry(p, entry)
		if !ok {
			continue
		}
		paths = append(paths, path)
		if path.Directory {
			inner = append(inner, below)
		}
	}
	if w.give(paths) {
		for _, below := range inner {
			w.enter(below)
		}
	}
}

// entry returns the path of an entry, or false if it is ignored.
func (w *walk) entry(p place, entry os.DirEntry) (path Path, below place, ok bool) {
	name := entry.Name()
	path.Name = name
	if p.at != "" {
		path.Name = p.at + "/" + name
	}
	below = place{rules: p.rules, at: path.Name, real: filepath.Join(p.real, name), depth: p.depth + 1, hops: p.hops}
	mode := entry.Type()
	if mode&os.ModeSymlink != 0 && !w.own {
		if mode, ok = p.follow(&below); !ok {
			return path, below, false
		}
	}
	path.Directory, path.Other = mode.IsDir(), !mode.IsDir() && !mode.IsRegular()
	if name == ".git" || path.Other && !w.own {
		return path, below, false
	}
	return path, below, !p.rules.ignored(filepath.Join(w.root, path.Name), path.Directory)
}

// follow resolves the link below. It returns false if the link is broken or leads back.
func (p place) follow(below *place) (os.FileMode, bool) {
	real, err := filepath.EvalSymlinks(below.real)
	if err != nil {
		return 0, false
	}
	info, err := os.Stat(real)
	if err != nil || info.IsDir() && p.leadsBack(real) {
		return 0, false
	}
	below.real, below.hops = real, &hop{from: p.real, outer: p.hops}
	return info.Mode(), true
}

// enter reads a directory in a goroutine of its own, or in this one.
func (w *walk) enter(p place) {
	select {
	case w.busy <- struct{}{}:
		w.work.Add(1)
		go func() {
			defer w.work.Done()
			defer func() { <-w.busy }()
			w.directory(p)
		}()
	default:
		w.directory(p)
	}
}

// give yields paths. It returns false after too many.
func (w *walk) give(paths []Path) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil || w.left <= 0 {
		return false
	}
	paths = paths[:min(len(paths), w.left)]
	w.left -= len(paths)
	if len(paths) > 0 {
		w.found(paths)
	}
	return w.left > 0
}
