package worktree

import (
	"errors"
	"os/exec"
)

// Modes of files, as in git.
const (
	ModeFile       = 0o100644
	ModeExecutable = 0o100755
	ModeLink       = 0o120000
)

// File is the state of a path: the mode, and the name of the object with the content or with the
// target of a link. Mode 0 means that the path does not exist.
type File struct {
	Mode   uint32
	Object string
}

// Change is a path with different states before and after. Path is relative to the root, has slashes,
// and need not be UTF-8.
type Change struct {
	Path          string
	Before, After File
}

// Options are the folder and the limits of captures.
type Options struct {
	// Home is the folder of our own git folders, one for each worktree. It and its parent are never
	// captured.
	Home string
	// MaxFiles limits the files of a worktree, and MaxBytes the bytes that one capture stores. With 0
	// they are 50,000 files and 512 MiB, outside a repository 5,000 files and 64 MiB.
	MaxFiles int
	MaxBytes int64
	// Git is the program. The default is the git in PATH.
	Git string
	// Start starts git. It keeps git from reading what commands must not see. The default only starts it.
	Start func(*exec.Cmd) error
}

func (o Options) filled(inRepository bool) Options {
	files, size := 50_000, int64(512<<20)
	if !inRepository {
		files, size = 5_000, 64<<20
	}
	if o.MaxFiles == 0 {
		o.MaxFiles = files
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = size
	}
	return o
}

// ErrNoGit means that git is missing or too old.
var ErrNoGit = errors.New("git 2.36 or later is needed")

// Kind is the change of one file in a diff.
type Kind string

// The kinds of changes.
const (
	Modified Kind = "modified"
	Created  Kind = "created"
	Deleted  Kind = "deleted"
	Renamed  Kind = "renamed"
)

// Diff is a text for git apply, and its files. Short means that the full text would exceed 16 MiB. The
// text then lacks the content of binary files and, if it is still too long, the last files.
type Diff struct {
	Text  string
	Files []FileStat
	Short bool
}
