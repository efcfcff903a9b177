package worktree

import "errors"

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
