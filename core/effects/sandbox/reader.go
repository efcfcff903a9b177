package sandbox

import (
	"os/exec"
	"path/filepath"
	"sync"
)

// Reader starts programs of the server that read a directory where commands can write, such as git. A command that
// exchanges a folder and a link meanwhile cannot make them read the hidden directory, or /proc: Landlock denies that.
// Where the kernel has no Landlock, they are started without this.
type Reader struct {
	hidden string
	open   []string

	mu sync.Mutex
	// rules are the rules of the last start.
	rules *readRules
}

// NewReader returns a Reader that hides a directory, except the directories open in it.
func NewReader(hidden string, open ...string) *Reader {
	if real, err := filepath.EvalSymlinks(hidden); err == nil {
		hidden = real
	}
	return &Reader{hidden: hidden, open: open}
}

// Start starts a program that reads cmd.Dir. If that directory is the hidden one, is in it or has it, the program
// is started without rules: commands that run there may read it, or the program reads around it.
func (r *Reader) Start(cmd *exec.Cmd) error {
	dir, err := filepath.EvalSymlinks(cmd.Dir)
	if err != nil || isBelow(r.hidden, dir) || isBelow(dir, r.hidden) {
		return cmd.Start()
	}
	return r.start(cmd)
}

func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
