//go:build linux

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

// Run runs a command to its end and tells how it ended. Started is called once,
// with the process id, when it runs. Output gets what it writes to its standard
// output and error, in order, in pieces of valid UTF-8, of commands that do not stay at
// most WireLimit bytes in core.MaxOutputPieces pieces, and then a piece that says so; bytes that are not UTF-8 become U+FFFD. Both may
// block: the command then waits.
//
// Cancelling ctx ends the command early, as its timeout does. In every case nothing
// of it lives when Run returns.
//
// What keys gives is typed on the command's terminal, where it has one. A text that it has
// not read a second later is lost; so is one that comes after its end.
func (s *Shell) Run(ctx context.Context, c core.Command, keys <-chan string, started func(pid string), output func(text string)) core.ToolResult {
	// The kernel sends the parent-death signal when the thread ends that started
	// the process, so this one is kept until the command has ended.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := time.Now()
	result := s.run(ctx, c, keys, started, output)
	result.Duration = time.Since(begin)
	return result
}

func (s *Shell) run(ctx context.Context, c core.Command, keys <-chan string, started, output func(string)) core.ToolResult {
	if ctx.Err() != nil {
		return core.ToolResult{Failure: "cancelled before it was started"}
	}
	p, err := s.start(c)
	if err != nil {
		return core.ToolResult{Failure: err.Error()}
	}
	out := newPump(p.output, or(s.OutputLimit, defaultOutputLimit), s.wireLimit(c), output)
	go out.run(func() { started(strconv.Itoa(p.pid())) })
	if c.TTY {
		go p.typist(keys, out.done)
	}

	why := p.await(ctx, c.Timeout, out.done)
	p.bury()
	out.hurry()
	if why == exited {
		select {
		case <-out.done:
		case <-ctx.Done():
		}
	}
	wait(pumpTime, out.done)

	result := p.outcome()
	result.Output = out.close()
	for _, file := range p.refused {
		result.Output += "\nThe sandbox has removed " + file + ", which could make git run programs that this command chose.\n"
	}
	result.TimedOut = why == timedOut
	return result
}

// wireLimit is none for a command that stays: the server that it is may run for weeks.
func (s *Shell) wireLimit(c core.Command) int {
	if c.Stays {
		return math.MaxInt
	}
	return or(s.WireLimit, defaultWireLimit)
}

// or is the limit, or the default where it is not set.
func or[T int | uint16 | time.Duration](limit, standard T) T {
	if limit <= 0 {
		return standard
	}
	return limit
}

// wait waits until all of the events have happened, at most for a time, and tells
// whether they have.
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

// pending tells whether an event has not happened.
func pending(event <-chan struct{}) bool {
	select {
	case <-event:
		return false
	default:
		return true
	}
}
