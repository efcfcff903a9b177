//go:build linux && !posix

package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"appserver/core/effects/sandbox"
	"appserver/protocol"
)

// Confine makes this process the supervisor of a command under a sandbox policy, like [Supervise].
// Args are the rules as JSON and the arguments of Supervise. With the rules alone, it applies them
// and reports nothing. It is the first process of its namespaces, so all that the command leaves
// behind ends with it.
func Confine(args []string) int {
	return report(func() (string, error) {
		runtime.LockOSThread()
		rules, err := confine(args)
		switch {
		case err != nil:
			return "", fmt.Errorf("cannot confine the command, so it was not run: %w", err)
		case len(args) == 1:
			return "", nil
		case rules.Bare:
			return supervise(args[1:], signalBelow())
		}
		return supervise(args[1:], signalNamespace)
	})
}

// signalNamespace sends a signal to every process of the namespace except its first. It needs no
// resource that the command could exhaust, such as processes.
func signalNamespace(sig unix.Signal) { unix.Kill(-1, sig) }

// confine applies the rules to this process and to all that this thread starts.
func confine(args []string) (rules sandbox.Rules, err error) {
	if len(args) == 0 {
		return rules, errors.New("want rules")
	}
	if err := protocol.Unmarshal([]byte(args[0]), &rules); err != nil {
		return rules, err
	}
	if err := rules.Enter(); err != nil {
		return rules, err
	}
	return rules, rules.Restrict()
}

// confine inserts a confining supervisor before the command.
func (p *running) confine(confiner []string, rules sandbox.Rules) error {
	text, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	p.rules, p.repositories = rules, rules.Repositories()
	p.absent = p.repositories.Absent(rules)
	p.supervise(slices.Concat(confiner, []string{string(text)}), p.grace)
	p.cmd.SysProcAttr, err = rules.Attributes()
	return err
}

// Probe checks whether the kernel can confine commands, by confining a process that does nothing.
// The error names the missing feature, and what to change on this machine if that is known. It takes some milliseconds.
func Probe(confiner []string) error { return probe(confiner, sandbox.ReadOnly()) }

// ProbeReading checks whether the kernel can confine commands that only read without namespaces.
func ProbeReading(confiner []string) error {
	rules := sandbox.ReadOnly()
	rules.Bare = true
	return probe(confiner, rules)
}

func probe(confiner []string, rules sandbox.Rules) error {
	text, err := json.Marshal(rules)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p := &running{cmd: &exec.Cmd{Path: confiner[0], Args: append(slices.Clip(confiner), string(text)), Dir: "/"},
		processSet: processSet{supervised: true}, exited: make(chan struct{})}
	if p.cmd.SysProcAttr, err = rules.Attributes(); err != nil {
		return err
	}
	if err := p.launch(); err != nil {
		return withRemedy(namespaceFailure(err))
	}
	return withRemedy(p.probed())
}

// namespaceFailure explains why namespaces cannot be made.
func namespaceFailure(err error) error {
	switch {
	case errors.Is(err, unix.ENOSPC):
		return errors.New("cannot make namespaces: there are as many as sysctl user.max_user_namespaces allows; raise it")
	case errors.Is(err, unix.EPERM):
		return fmt.Errorf("cannot make namespaces: this system does not allow user namespaces for this program: %w", err)
	}
	return fmt.Errorf("cannot make namespaces: %w", err)
}

// probed waits for the end of a probe.
func (p *running) probed() error {
	defer p.report.Close()
	defer p.output.Close()
	timer := time.AfterFunc(probeTime, func() { unix.Kill(p.pid(), unix.SIGKILL) })
	text, _ := io.ReadAll(p.report)
	<-p.exited
	timer.Stop()
	err := p.cmd.Wait()
	switch {
	case len(text) > 0:
		return errors.New(string(text))
	case err != nil:
		return fmt.Errorf("cannot try to confine a process: %w", err)
	}
	return nil
}
