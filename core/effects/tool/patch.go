package tool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"appserver/core"
	"appserver/core/pure/patch"
	"appserver/core/pure/toolspec"
	"appserver/platform/osfile"
)

var errNotRegular = errors.New("it is not a regular file")

// maxPatched bounds the size of a file that a patch changes, in bytes.
const maxPatched = 64 << 20

// Patcher reads and writes the files of patches. A relative name is below the directory of the
// patch. An absolute name is below a root of the workspace, or below its nearest existing folder.
// Links are followed if they stay in that directory. Links to other directories, into a .git or
// into a closed directory are rejected. New content is written to a temporary file in the same
// folder, which is then renamed.
//
// The links of a name are resolved first. Then each folder on the way is opened through no link, so that a command
// that makes one in between makes the patch fail instead of leading it elsewhere.
type Patcher struct {
	// Closed are directories that no patch reads or writes, except a patch that is applied in a
	// directory below them.
	Closed []string
}

// Plan computes the effect of a patch on the files below its directory, and changes none.
func (p Patcher) Plan(e core.PlanPatch) core.PatchPlanned {
	result, err := p.plan(e)
	return core.PatchPlanned{Effect: e.ID, Result: result, Err: err}
}

func (p Patcher) plan(e core.PlanPatch) (*patch.Result, error) {
	read, err := patch.Parse(e.Dir, e.Text, !e.Cut)
	if err != nil {
		return nil, err
	}
	files, err := p.open(e)
	if err != nil {
		return nil, err
	}
	defer files.close()
	return read.Apply(files)
}

// patchDirs are the directories that contain the files of a patch.
type patchDirs struct {
	Patcher
	base  *root
	roots []string
	// protected are the roots with protected folders, into which no link may lead.
	protected []string
	// opened are the directories of absolute names, by the spelling of the name.
	opened map[string]*root
}

// root is a directory with files of a patch, by its path without links.
type root struct {
	disk
	dir    string
	closed []string
}

// open opens the directory of a patch. A link in it must not leave the enclosing directory.
func (p Patcher) open(e core.PlanPatch) (*patchDirs, error) {
	base, err := p.openRoot(e.Root, e.Dir)
	if err != nil {
		return nil, err
	}
	opened := &patchDirs{Patcher: p, base: base, roots: e.Roots, opened: map[string]*root{}}
	if e.Protect {
		opened.protected = resolvedAll(e.Roots)
	}
	return opened, nil
}

func (p Patcher) openRoot(within, dir string) (*root, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("the directory of the patch cannot be used: %w", err)
	}
	if inGit(real) {
		return nil, fmt.Errorf("%s is in .git, which patches do not change", real)
	}
	if outer, err := filepath.EvalSymlinks(within); within != "" && (err != nil || !below(outer, real)) {
		return nil, fmt.Errorf("%s leads out of %s by a link", dir, within)
	}
	folder, err := osfile.OpenRealFolder(real)
	if err != nil {
		return nil, fmt.Errorf("the directory of the patch cannot be used: %w", err)
	}
	r := &root{disk: folderDisk{folder}, dir: real}
	for _, c := range resolvedAll(p.Closed) {
		if !contains(c, filepath.Dir(real)) { // a root within a closed directory is open
			r.closed = append(r.closed, c)
		}
	}
	return r, nil
}

func (p *patchDirs) close() {
	_ = p.base.Close()
	for _, r := range p.opened {
		_ = r.Close()
	}
}

// locate returns the directory of a name, and the name within it, with slashes.
func (p *patchDirs) locate(name string) (*root, string, error) {
	if !filepath.IsAbs(name) {
		return p.base, filepath.ToSlash(name), nil
	}
	within, elsewhere := p.rootOf(name), false
	if within == "" {
		within, elsewhere = existing(filepath.Dir(name)), true
	}
	r := p.opened[within]
	if r == nil {
		var err error
		real := within
		if elsewhere {
			real, err = p.realElsewhere(within)
		}
		if err == nil {
			r, err = p.openRoot("", real)
		}
		if err != nil {
			return nil, "", err
		}
		p.opened[within] = r
	}
	if elsewhere { // do not open folders of the server's home by name
		r.closed = resolvedAll(p.Closed)
	}
	rel, err := filepath.Rel(within, name)
	return r, filepath.ToSlash(rel), err
}

// rootOf returns the root of the workspace that contains an absolute name, or "".
func (p *patchDirs) rootOf(name string) string {
	for _, root := range p.roots {
		if rel, err := filepath.Rel(root, name); err == nil && rel != "." && filepath.IsLocal(rel) {
			return root
		}
	}
	return ""
}

// realElsewhere returns a path outside of the roots without its links. It rejects a link in a directory where
// commands can write, because a command can replace the link after the user has approved the path.
func (p *patchDirs) realElsewhere(name string) (string, error) {
	done, rest, links := filepath.VolumeName(name)+string(filepath.Separator), splitPath(name), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			done = filepath.Dir(done)
			continue
		}
		target, err := os.Readlink(filepath.Join(done, part))
		if err != nil {
			done = filepath.Join(done, part)
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("it leads through too many links")
		}
		if len(p.protected) > 0 && p.writable(done) {
			return "", fmt.Errorf("%s is a link where commands can write; name the file itself", filepath.Join(done, part))
		}
		if filepath.IsAbs(target) {
			done = filepath.VolumeName(target) + string(filepath.Separator)
		}
		rest = append(splitPath(target), rest...)
	}
	return done, nil
}

func splitPath(name string) []string {
	name = strings.TrimPrefix(filepath.Clean(name), filepath.VolumeName(name))
	parts := strings.Split(filepath.ToSlash(name), "/")
	return slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == "." })
}

// writable reports whether commands may be able to write in a directory without links.
func (p *patchDirs) writable(dir string) bool {
	return slices.ContainsFunc(append(resolvedAll([]string{"/tmp", os.TempDir()}), p.protected...),
		func(root string) bool { return below(root, dir) })
}

// existing returns the nearest existing folder at or above a path.
func existing(dir string) string {
	for dir != filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// resolvedAll returns the existing directories without links.
func resolvedAll(dirs []string) (real []string) {
	for _, dir := range dirs {
		if dir, err := filepath.EvalSymlinks(dir); err == nil {
			real = append(real, dir)
		}
	}
	return real
}

// resolve follows the links of a name below r. It rejects a link into a protected folder. A name
// that itself is in that folder is allowed, because the user has approved it.
func (p *patchDirs) resolve(r *root, name string, follow bool) (string, error) {
	resolved, err := r.resolve(name, follow)
	if err != nil {
		return "", err
	}
	if toolspec.Protected(p.protected, filepath.Join(r.dir, resolved)) &&
		!toolspec.Protected(p.protected, filepath.Join(r.dir, name)) {
		return "", errors.New("it leads into a protected folder by a link; name the file itself")
	}
	return resolved, nil
}

// Read returns the content of a file, for patch.Files.
func (p *patchDirs) Read(name string) (content string, exists bool, err error) {
	r, name, err := p.locate(name)
	if err != nil {
		return "", false, err
	}
	resolved, err := p.resolve(r, name, true)
	if err != nil {
		return "", false, err
	}
	content, _, err = r.read(resolved)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return content, err == nil, err
}

// maxListed bounds the names of a folder in which a name in another form of Unicode is searched.
const maxListed = 20_000

// List returns the names in a folder, for patch.Files. It lists no folder into which the patch may not write, and
// none with too many names.
func (p *patchDirs) List(folder string) []string {
	const below = "name"
	r, name, err := p.locate(filepath.Join(filepath.FromSlash(folder), below))
	if err != nil {
		return nil
	}
	resolved, err := p.resolve(r, name, false)
	if err != nil {
		return nil
	}
	if folder = path.Dir(resolved); folder == "." {
		folder = ""
	}
	names, err := r.List(folder, maxListed+1)
	if err != nil || len(names) > maxListed {
		return nil
	}
	return names
}

// read returns the content and the mode of a regular file, by its resolved name.
func (r *root) read(name string) (string, fs.FileMode, error) {
	info, err := r.Stat(name)
	if err == nil && info.Kind != 0 {
		err = errNotRegular
	}
	if err != nil {
		return "", 0, err
	}
	f, err := r.OpenFile(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	switch info, err = osfile.InfoOf(f); {
	case err != nil:
		return "", 0, err
	case info.Kind != 0:
		return "", 0, errNotRegular
	case info.Size > maxPatched:
		return "", 0, fmt.Errorf("the file is longer than %d MiB; use a command to change it", maxPatched>>20)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxPatched+1))
	return string(content), info.Perm, err
}

// maxLinks bounds the links that a name may lead through.
const maxLinks = 40

// resolve follows the links of a name. It follows a link in the last part only if follow is set.
// Parts that do not exist stay as they are.
func (r *root) resolve(name string, follow bool) (string, error) {
	done, rest, links := "", strings.Split(name, "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		if part == ".." && done == "" {
			return "", fmt.Errorf("it leads out of %s by a link", r.dir)
		}
		next := path.Join(done, part)
		target, err := r.Readlink(next)
		if err != nil || len(rest) == 0 && !follow {
			if done = next; done == "." {
				done = ""
			}
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("it leads through too many links")
		}
		if filepath.IsAbs(target) {
			if target, err = filepath.Rel(r.dir, target); err != nil || !filepath.IsLocal(target) {
				return "", fmt.Errorf("it leads out of %s by a link", r.dir)
			}
			done = ""
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return done, r.check(done)
}

// check rejects files that patches may not change, by the resolved name.
func (r *root) check(name string) error {
	if inGit(name) {
		return errors.New("it leads into .git by a link")
	}
	if slices.ContainsFunc(strings.Split(name, "/"), isAlias) {
		return errors.New("it has a short name or a stream; use the name of the file itself")
	}
	full := filepath.Join(r.dir, name)
	for _, c := range r.closed {
		if below(c, full) || contains(c, full) {
			return fmt.Errorf("it is in %s, which patches do not change", c)
		}
	}
	return nil
}

// inGit reports whether a name of the path is .git, in any case: volumes may ignore it.
func inGit(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"),
		func(part string) bool { return strings.EqualFold(part, ".git") })
}

// contains reports whether a path is below a directory. It compares the directories themselves
// instead of their names, which may differ on volumes that ignore case.
func contains(dir, path string) bool {
	closed, err := os.Stat(dir)
	if err != nil {
		return false
	}
	for at := path; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, closed) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// below reports whether a path is a directory or in it.
func below(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
