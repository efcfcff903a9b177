//go:build linux || darwin

package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// outputPipe returns a pipe that a command writes to, and inputPipe one that it reads from. Theirs is
// the end of the command, and is blocking; ours has deadlines.
func outputPipe() (ours, theirs *os.File, err error) { return os.Pipe() }

func inputPipe() (ours, theirs *os.File, err error) {
	theirs, ours, err = os.Pipe()
	return ours, theirs, err
}

// source returns the source of the command's output.
func (p *running) source() *source { return newSource(p.output) }

// checkEnter checks that a command can run in a folder.
func checkEnter(dir string) error { return unix.Access(dir, unix.X_OK) }

// lookPath finds a program as execvp does, by the PATH in env. It skips relative entries of PATH,
// because the program would depend on the working directory.
func lookPath(name, _ string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(dir) {
			return program, nil
		}
	}
	return "", notFound(name, path)
}

var startAdvice = []advice{
	{unix.ENOENT, "check that it exists, and the interpreter that its first line names"},
	{unix.EACCES, "check that it is a file and executable (chmod +x)"},
	{unix.ENOEXEC, "it is neither a program for this machine nor a script with a #! line"},
	{unix.E2BIG, "pass fewer or shorter arguments, for example in a file"},
	{unix.EINVAL, "an argument or a variable holds a NUL byte"},
}
