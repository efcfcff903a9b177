package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"appserver/core"
)

// start starts a command. An error names the cause and the next action.
func (s *Shell) start(c core.Command) (*running, error) {
	p, err := s.prepare(c, s.environmentOf(c))
	if err != nil {
		return nil, err
	}
	if err := p.launch(); err != nil {
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
	program, err := lookPath(c.Argv[0], c.Cwd, env)
	if err != nil {
		return nil, err
	}
	p := &running{
		cmd:    &exec.Cmd{Path: program, Args: c.Argv, Dir: c.Cwd},
		tty:    c.TTY,
		grace:  or(s.KillGrace, defaultKillGrace),
		exited: make(chan struct{}),
	}
	p.cmd.Env = append(env, p.mark()...)
	if c.Cwd != "" {
		p.cmd.Env = append(p.cmd.Env, "PWD="+c.Cwd)
	}
	if rules, confined := s.rules(c); confined {
		if err := p.confine(s.Confiner, rules); err != nil {
			return nil, err
		}
	} else {
		p.lead(s.Supervisor)
	}
	return p, nil
}

// launch starts the process, with a pipe or a terminal for the output. If it fails, it closes them.
func (p *running) launch() error {
	theirs, err := p.openOutput()
	if err != nil {
		return err
	}
	defer theirs.Close() // nil if the terminal needs no file
	if err := p.spawn(); err != nil {
		p.closeOutput()
		return err
	}
	return nil
}

// openOutput opens the output, and returns the file that the process writes to.
func (p *running) openOutput() (theirs *os.File, err error) {
	if p.tty {
		return p.openTerminal()
	}
	p.output, theirs, err = outputPipe()
	p.cmd.Stdout, p.cmd.Stderr = theirs, theirs
	return theirs, err
}

func checkDirectory(dir string) error {
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	if err == nil && info.IsDir() {
		err = checkEnter(dir)
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

// notFound returns the failure of a program that is not in PATH.
func notFound(name, path string) error {
	return fmt.Errorf("the program %q was not found in PATH (%s): install it, or give its full path", name, path)
}

// advice is the next action after an error of the system.
type advice struct {
	errno  syscall.Errno
	action string
}

// startFailure explains why a program did not start, and what to do.
func startFailure(name string, err error) error {
	action := "try again later"
	for _, known := range startAdvice {
		if errors.Is(err, known.errno) {
			err, action = known.errno, known.action
		}
	}
	return fmt.Errorf("cannot start %q (%w): %s", name, err, action)
}
