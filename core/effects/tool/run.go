package tool

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"appserver/core"
)

// Run runs a command to its end and returns the result. It calls started once, with the process id,
// when the command runs. Output gets standard output and error in order, in pieces of valid UTF-8,
// with U+FFFD for each invalid byte. Unless the command is a background one, at most WireLimit
// bytes in core.MaxOutputPieces pieces are passed on, then a piece with a notice. Both functions
// may block, and the command with them.
//
// Cancelling ctx ends the command early, as its timeout does. In every case, no process of the
// command lives when Run returns.
//
// Text from keys is typed on the command's terminal, if it has one. Text is lost if the command has
// not read it after a second, or has ended.
func (s *Shell) Run(ctx context.Context, c core.Command, keys <-chan string, started func(pid string),
	output func(text string)) core.ToolResult {
	// Linux sends the parent-death signal when the thread that started the process ends. So this
	// thread is kept until the command has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	result := s.run(ctx, c, keys, started, output)
	result.Duration = time.Since(begin)
	return result
}

func (s *Shell) run(ctx context.Context, c core.Command, keys <-chan string, started,
	output func(string)) core.ToolResult {
	if ctx.Err() != nil {
		return core.ToolResult{Failure: "cancelled before it was started"}
	}
	p, err := s.start(c)
	if err != nil {
		return core.ToolResult{Failure: err.Error()}
	}
	out := newPump(p.source(), or(s.OutputLimit, defaultOutputLimit), s.wireLimit(c), output)
	go out.run(func() { started(strconv.Itoa(p.pid())) })
	if c.TTY {
		go p.typeKeys(keys, out.done)
	}

	reason := p.await(ctx, c.Timeout, out.done)
	p.reap()
	out.setEnded()
	if reason == exited {
		select {
		case <-out.done:
		case <-ctx.Done():
		}
	}
	wait(pumpTime, out.done)

	result := p.outcome()
	result.Output = out.close()
	for _, warning := range p.warnings {
		result.Output += "\n" + warning + "\n"
	}
	result.Warnings = p.warnings
	result.Withheld = withheld(s.env(), s.secrets(), c.Environment)
	result.Output += missing(c.Argv, result.Withheld)
	result.TimedOut = reason == timedOut
	return result
}

// wireLimit returns no limit for a background command: it may be a server that runs for weeks.
func (s *Shell) wireLimit(c core.Command) int {
	if c.Stays {
		return math.MaxInt
	}
	return or(s.WireLimit, defaultWireLimit)
}

// or returns the limit, or the default if it is not set.
func or[T int | uint16 | time.Duration](limit, standard T) T {
	if limit <= 0 {
		return standard
	}
	return limit
}

// wait waits for all events, at most for a time, and reports whether all happened.
func wait(within time.Duration, events ...<-chan struct{}) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	for _, event := range events {
		select {
		case <-event:
		case <-timer.C:
			return !slices.ContainsFunc(events, pending)
		}
	}
	return true
}

// pending reports whether an event has not happened.
func pending(event <-chan struct{}) bool {
	select {
	case <-event:
		return false
	default:
		return true
	}
}
