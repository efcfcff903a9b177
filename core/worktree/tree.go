package worktree

import (
	"context"
	"errors"
)

// Modes of files, as in git.
const (
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeLink       = 0o120000
)

// File is what a path holds: a mode and the name of the object with the content, for a
// link its target. Mode 0 is nothing.
type File struct {
	Mode   uint32
	Object string
}

// Change is a path that holds something else than before. Path is relative to the root,
// its parts separated by slashes, and need not be UTF-8.
type Change struct {
	Path          string
	Before, After File
}

// Options tell where captures are kept and how large they may become.
type Options struct {
	// Home is the folder of our own git folders, one per worktree. It and the folder
	// that it is in are never captured.
	Home string
	// MaxFiles is how many files a worktree may have, and MaxBytes how long the files
	// may be together that one capture would have to store. 0 stands for 50,000 files
	// and 512 MiB, outside a repository for 5,000 files and 64 MiB.
	MaxFiles int
	MaxBytes int64
	// Git is the program; "" is the git on the PATH.
	Git string
}

// ErrNoGit is the error where there is no git, or one that is too old.
var ErrNoGit = errors.New("git 2.36 or later is needed")

// TooLargeError says that a worktree is larger than the options allow. Nothing of it
// was stored. The figures are those at which the count ended; 0 for one that was not
// the reason.
type TooLargeError struct {
	Root     string
	Files    int
	MaxFiles int
	Bytes    int64
	MaxBytes int64
}

// ConflictError lists the paths, in order, that hold neither what is to be undone nor
// what is to be put back. Nothing was written.
type ConflictError struct{ Paths []string }

// Open finds the worktree of a folder: the folder with the .git that is next above it,
// or itself. It fails with [ErrNoGit].
func Open(ctx context.Context, cwd string, o Options) (*Tree, error) {
	return nil, errNotBuilt
}

// Tree is a worktree. Its methods may be called at once.
type Tree struct {
	root string
}

// Root is the folder that paths are relative to, with links followed.
func (t *Tree) Root() string { return t.root }

// Capture stores what the worktree holds, and is the name of that as a git tree. It
// fails with a [*TooLargeError].
func (t *Tree) Capture(ctx context.Context) (object string, err error) { return "", errNotBuilt }

// CapturePaths stores what some paths hold, whatever the size of the worktree and
// whatever git ignores. Each path is in the answer, a path that holds no file as File{}.
func (t *Tree) CapturePaths(ctx context.Context, paths []string) (map[string]File, error) {
	return nil, errNotBuilt
}

// Compose is a git tree of what [Tree.CapturePaths] gave, for [Tree.Keep].
func (t *Tree) Compose(ctx context.Context, files map[string]File) (object string, err error) {
	return "", errNotBuilt
}

// Changes are the paths that differ between two captures, in order. Renames are two.
// What git ignored before has no known former state, and is left out.
func (t *Tree) Changes(ctx context.Context, before, after string) ([]Change, error) {
	return nil, errNotBuilt
}

// Kind tells what a diff says of a file.
type Kind string

// The kinds of files in diffs.
const (
	Modified Kind = "modified"
	Created  Kind = "created"
	Deleted  Kind = "deleted"
	Renamed  Kind = "renamed"
)

// FileStat is one file of a diff. OldPath is set for renames only. Additions and
// Deletions are lines, and 0 for binary files.
type FileStat struct {
	Path, OldPath        string
	Kind                 Kind
	Additions, Deletions int
	Binary               bool
}

// Diff is a text that git apply takes, and what is in it. Where the text would be
// longer than 16 MiB, Short is set: it leaves out the content of binary files, and
// where that is not enough the last files.
type Diff struct {
	Text  string
	Files []FileStat
	Short bool
}

// Diff is the text of changes, renames found.
func (t *Tree) Diff(ctx context.Context, changes []Change) (Diff, error) {
	return Diff{}, errNotBuilt
}

// Keep gives a capture the name refs/appserver/THREAD/NAME. Once it returns, the
// capture is on disk, and stays until it is forgotten.
func (t *Tree) Keep(ctx context.Context, thread, name, object string) error { return errNotBuilt }

// Forget removes names of captures, all of the thread where names is nil. It is no
// error if one does not exist.
func (t *Tree) Forget(ctx context.Context, thread string, names []string) error {
	return errNotBuilt
}

// Pack puts the objects of captures that are kept into a pack.
func (t *Tree) Pack(ctx context.Context) error { return errNotBuilt }

// Restored are the paths that a restore changes, in order.
type Restored struct {
	Written, Removed []string
}

// Restore puts back what was before some changes. A path that holds this already is
// passed over; where one holds anything else than what is to be undone, it fails with a
// [*ConflictError]. A dry restore only looks.
func (t *Tree) Restore(ctx context.Context, changes []Change, dry bool) (Restored, error) {
	return Restored{}, errNotBuilt
}
