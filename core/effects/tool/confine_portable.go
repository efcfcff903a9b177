//go:build darwin || (linux && posix)

package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"appserver/core/effects/sandbox"
)

// Confine makes this process the supervisor of a confined command. Args are those of [Supervise]:
// the supervisor itself is not confined, and sandbox-exec is part of the command.
func Confine(args []string) int { return Supervise(args) }

// trueProgram does nothing.
const trueProgram = "/usr/bin/true"

// confine inserts a supervisor, and sandbox-exec before the command.
func (p *running) confine(confiner []string, rules sandbox.Rules) error {
	if err := checkProgram(p.cmd.Dir, p.cmd.Path); err != nil {
		return startFailure(p.cmd.Args[0], err)
	}
	confined, err := rules.Seatbelt().Command(p.cmd.Path, p.cmd.Args)
	if err != nil {
		return err
	}
	p.rules, p.repositories = rules, rules.Repositories()
	p.absent = p.repositories.Absent(rules)
	p.cmd.Args = confined
	p.supervise(confiner, p.grace)
	return nil
}

// checkProgram checks what sandbox-exec would report as output of the command.
func checkProgram(dir, program string) error {
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	return unix.Access(program, unix.X_OK)
}

// Probe checks whether sandbox-exec can confine commands, by confining a program that does nothing. Its
// profile has every form of rule, because a macOS that does not know one of them refuses the profile.
func Probe([]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	rules := sandbox.ReadOnly()
	rules.Writable, rules.Network = []string{os.TempDir()}, true
	confined, err := rules.Seatbelt().Command(trueProgram, []string{trueProgram})
	if err != nil {
		return err
	}
	text, err := exec.CommandContext(ctx, confined[0], confined[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	return errors.New(strings.TrimSpace(fmt.Sprintf("cannot confine a program with %s (%v): %s", confined[0], err, text)))
}

// ProbeReading fails: sandbox-exec confines all commands or none.
func ProbeReading([]string) error {
	return errors.New("only Linux confines commands that only read in another way")
}
