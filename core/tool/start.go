//go:build linux || darwin

package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"appserver/core"
)

// markName is the environment variable that marks the processes of a command.
const markName = "APPSERVER_COMMAND"

// start starts a command. An error names the cause and the next action.
func (s *Shell) start(c core.Command) (*running, error) {
	p, err := s.prepare(c, environment(s.Env, c.Environment))
	if err != nil {
		return nil, err
	}
	if err := p.launch(); err != nil {
		p.output.Close()
		p.report.Close()
		return nil, startFailure(c.Argv[0], err)
	}
	return p, nil
}

// prepare returns a command that is ready to start.
func (s *Shell) prepare(c core.Command, env []string) (*running, error) {
	if len(c.Argv) == 0 || c.Argv[0] == "" {
		return nil, errors.New("no command to run: the argument vector names no program")
	}
	if err := checkDirectory(c.Cwd); err != nil {
		return nil, err
	}
	program, err := lookPath(c.Argv[0], env)
	if err != nil {
		return nil, err
	}
	p := &running{
		cmd:    &exec.Cmd{Path: program, Args: c.Argv, Dir: c.Cwd},
		tree:   processTree{mark: markName + "=" + rand.Text()},
		tty:    c.TTY,
		grace:  or(s.KillGrace, defaultKillGrace),
		exited: make(chan struct{}),
	}
	p.cmd.Env = append(env, p.tree.mark)
	if c.Cwd != "" {
		p.cmd.Env = append(p.cmd.Env, "PWD="+c.Cwd)
	}
	// A session of its own is also a group of its own, and has no terminal to ask for passwords on.
	p.cmd.SysProcAttr = leaderAttributes()
	if rules, confined := s.rules(c); confined {
		if err := p.confine(s.Confiner, rules); err != nil {
			return nil, err
		}
	} else if len(s.Supervisor) > 0 {
		p.supervise(s.Supervisor, p.grace)
	} else {
		p.cmd.SysProcAttr.Setctty = c.TTY
	}
	return p, nil
}

// supervise inserts the supervisor before the command.
func (p *running) supervise(supervisor []string, grace time.Duration) {
	p.supervised = true
	p.cmd.Path = supervisor[0]
	p.cmd.Args = slices.Concat(supervisor, []string{grace.String()}, p.cmd.Args)
	p.cmd.SysProcAttr = supervisorAttributes()
}

// launch starts the process, with a pipe or a terminal for the output, and a pipe for the
// supervisor's report.
func (p *running) launch() error {
	var in *os.File
	var err error
	if p.output, in, err = p.openOutput(); err != nil {
		return err
	}
	defer in.Close()
	p.cmd.Stdout, p.cmd.Stderr = in, in
	if p.tty {
		p.cmd.Stdin = in
	}
	return p.spawn()
}

// spawn starts the process, with a pipe for the supervisor's report.
func (p *running) spawn() error {
	var reporting *os.File
	var err error
	if p.supervised {
		if p.report, reporting, err = os.Pipe(); err != nil {
			return err
		}
		defer reporting.Close()
		p.cmd.ExtraFiles = []*os.File{reporting}
		theirs, err := p.tieSupervisor()
		if err != nil {
			return err
		}
		defer theirs.Close() // nil if the kernel needs no pipe
	}
	setCloseOnExec()
	p.placeholders = p.rules.Placeholders()
	if err := p.cmd.Start(); err != nil {
		p.placeholders.Release()
		p.tie.Close()
		return err
	}
	p.tree.root, p.tree.start = p.pid(), startOf(p.pid())
	go p.watch()
	return nil
}

// openOutput returns the file that the process writes to, and the file to read its output from.
func (p *running) openOutput() (out, in *os.File, err error) {
	if p.tty {
		return openTerminal(p.size)
	}
	return os.Pipe()
}

// setCloseOnExec marks the descriptors that this process inherited as close-on-exec. The other
// descriptors are marked already.
func setCloseOnExec() {
	folder, err := os.Open(descriptors)
	if err != nil {
		return
	}
	defer folder.Close()
	names, _ := folder.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

func checkDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		err = unix.Access(dir, unix.X_OK)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the working directory %s does not exist: create it, or run the command in another one", dir)
	case err != nil:
		return fmt.Errorf("the working directory %s cannot be used (%w): run the command in another one", dir, err)
	case !info.IsDir():
		return fmt.Errorf("the working directory %s is not a directory: run the command in another one", dir)
	}
	return nil
}

// lookPath finds a program as execvp does, by the PATH in env. It skips relative entries of PATH,
// because the program would depend on the working directory.
func lookPath(name string, env []string) (string, error) {
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
	return "", fmt.Errorf("the program %q was not found in PATH (%s): install it, or give its full path", name, path)
}

// startFailure explains why a program did not start, and what to do.
func startFailure(name string, err error) error {
	advice := "try again later"
	for _, known := range []struct {
		errno  syscall.Errno
		advice string
	}{
		{unix.ENOENT, "check that it exists, and the interpreter that its first line names"},
		{unix.EACCES, "check that it is a file and executable (chmod +x)"},
		{unix.ENOEXEC, "it is neither a program for this machine nor a script with a #! line"},
		{unix.E2BIG, "pass fewer or shorter arguments, for example in a file"},
		{unix.EINVAL, "an argument or a variable holds a NUL byte"},
	} {
		if errors.Is(err, known.errno) {
			err, advice = known.errno, known.advice
		}
	}
	return fmt.Errorf("cannot start %q (%w): %s", name, err, advice)
}
