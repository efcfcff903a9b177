package worktree

import (
	"context"
	"errors"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"appserver/platform/osfile"
)

// maxCompared limits the entries that are compared without git, ignored ones included.
const maxCompared = 3_000

// captured is the last capture of a worktree. On Windows there is none, because osfile.StateOf fails there.
type captured struct {
	object string
	// files is the hash of all that the capture depends on, taken before it.
	files uint64
	// loose reports whether the object has a file of its own. Otherwise it is in a pack.
	loose bool
}

// committed is the last commit of a capture.
type committed struct{ tree, commit string }

// Unchanged returns the last capture of the process if the folder still belongs to the worktree and
// nothing has changed that a capture depends on, or "". It runs git only in a submodule.
func (t *Tree) Unchanged(ctx context.Context, cwd string) string {
	if r, err := find(ctx, t.git, cwd); err != nil || r != t.repository {
		return ""
	}
	files, ok := t.compare()
	return t.last(files, ok)
}

func (t *Tree) last(files uint64, ok bool) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.captured
	if !ok || c.files != files || c.object == "" || c.loose != t.isLoose(c.object) {
		return ""
	}
	return c.object
}

func (t *Tree) setLast(object string, files uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.captured = captured{object, files, t.isLoose(object)}
}

func (t *Tree) isLoose(object string) bool {
	_, err := os.Lstat(filepath.Join(t.objects(), object[:2], object[2:]))
	return err == nil
}

// objects returns the folder that captures write objects to.
func (t *Tree) objects() string {
	if t.git.objects != "" {
		return t.git.objects
	}
	return filepath.Join(t.git.dir, "objects")
}

// comparison hashes the states of files, without their contents.
type comparison struct {
	maphash.Hash
	entries int
	// now is the time at which the comparison began.
	now time.Time
}

var errNotComparable = errors.New("the state of the files does not identify their content")

// compare returns a hash of the states of all files on which a capture depends. It fails if there are
// too many, and if one changed so recently that another change need not show.
func (t *Tree) compare() (hash uint64, ok bool) {
	if t.settings == nil || entries(filepath.Join(t.git.dir, "index")) > maxCompared {
		return 0, false
	}
	c := &comparison{now: time.Now()}
	c.SetSeed(t.seed)
	for _, name := range t.settings {
		if err := c.add(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, false
		}
	}
	err := filepath.WalkDir(t.root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(t.own, name), name == filepath.Join(t.root, ".git") && d.IsDir():
			return fs.SkipDir
		}
		if err := c.add(name); err != nil {
			return err
		}
		if d.IsDir() && d.Name() == ".git" {
			return fs.SkipDir // of a repository inside, which is not captured
		}
		return nil
	})
	return c.Sum64(), err == nil
}

// add adds the state of a file. A missing one is a state, with an error.
func (c *comparison) add(name string) error {
	if c.entries++; c.entries > maxCompared {
		return errNotComparable
	}
	state, err := osfile.StateOf(name)
	_, _ = c.WriteString(name)
	maphash.WriteComparable(&c.Hash, state)
	if err != nil {
		return err
	}
	if !settled(state.Changed, c.now) {
		return errNotComparable
	}
	return nil
}

// settled reports whether any later change of a file sets another time than this one, in Unix nanoseconds. Times
// advance every 10 ms or more often. File systems without fractions of a millisecond advance every two seconds.
func settled(nano int64, now time.Time) bool {
	age := now.Sub(time.Unix(0, nano))
	return age > 2*time.Second || age > 50*time.Millisecond && nano%int64(time.Millisecond) != 0
}

// ownFolders returns the folders of the server inside the worktree, which are not captured.
func (t *Tree) ownFolders() (dirs []string) {
	home := filepath.Dir(t.home)
	for _, dir := range []string{home, filepath.Dir(home)} {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real
		}
		if rel, err := filepath.Rel(t.root, dir); err == nil && rel != "." && filepath.IsLocal(rel) {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// watched returns the files outside the worktree on which a capture depends: the settings of git, the
// patterns, the indexes and the packs. It returns nil if the settings name other files, which are not
// known.
func (t *Tree) watched(excludes string) []string {
	files := append(t.userConfigs(), excludes)
	if t.common != "" {
		if _, err := os.Lstat(filepath.Join(t.common, "objects", "info", "alternates")); err == nil {
			return nil
		}
		files = append(files, filepath.Join(t.common, "config"), filepath.Join(t.common, "info", "exclude"),
			filepath.Join(t.dir, "index"))
	}
	for _, name := range files {
		// A link does not change with its target.
		if info, err := os.Lstat(name); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return nil
		}
	}
	for _, name := range t.userConfigs() {
		if strings.Contains(strings.ToLower(string(readSmall(name))), "include") {
			return nil
		}
	}
	return append(files, filepath.Join(t.objects(), "pack"), filepath.Join(t.objects(), "info", "alternates"),
		filepath.Join(t.git.dir, "index"), filepath.Join(t.git.dir, "config"), filepath.Join(t.git.dir, "info", "exclude"))
}

// userConfigs returns the files that git reads as configuration of the user and of the machine.
func (t *Tree) userConfigs() []string {
	home, _ := os.UserHomeDir()
	system := os.Getenv("GIT_CONFIG_SYSTEM")
	if system == "" {
		system = "/etc/gitconfig"
	}
	files := []string{system, filepath.Join(filepath.Dir(t.git.program), "..", "etc", "gitconfig")}
	if global := os.Getenv("GIT_CONFIG_GLOBAL"); global != "" {
		return append(files, global)
	}
	return append(files, filepath.Join(home, ".gitconfig"), filepath.Join(configFolder(home), "git", "config"))
}

func configFolder(home string) string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(home, ".config")
}

// HasRef reports whether the ref of a capture is in a file of its own. A packed ref is not looked for.
func (t *Tree) HasRef(thread, name string) bool {
	ref, err := t.ref(thread, name+t.mark())
	if err != nil {
		return false
	}
	info, err := os.Lstat(filepath.Join(t.refsGit().dir, filepath.FromSlash(ref)))
	return err == nil && info.Mode().IsRegular()
}
