package engine

import (
	"strconv"
	"strings"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// userCommandTimeout is the default timeout of a user's command.
const userCommandTimeout = time.Hour

// ThreadShellCommand runs a user's command.
func (e *Engine) ThreadShellCommand(to protocol.Caller, p *protocol.ThreadShellCommandParams) error {
	if strings.TrimSpace(p.Command) == "" {
		return protocol.InvalidParams("command", "`command` must not be empty")
	}
	timeout := userCommandTimeout
	if p.TimeoutMs != nil {
		if *p.TimeoutMs < 0 {
			return protocol.InvalidParams("timeoutMs", "`timeoutMs` must not be negative")
		}
		timeout = max(1, time.Duration(min(*p.TimeoutMs, longestTimeoutMs))*time.Millisecond)
	}
	return e.toThreadWithEnv(to, p.ThreadID, func(env core.TurnEnv) core.Input {
		return core.RunUserCommand{To: to, Script: p.Command, Timeout: timeout, Env: env}
	})
}

// longestTimeoutMs is the largest timeout that a time.Duration holds.
const longestTimeoutMs = int64(1<<63-1) / int64(time.Millisecond)

// ThreadBackgroundTerminalsList lists the background commands of a thread.
func (e *Engine) ThreadBackgroundTerminalsList(to protocol.Caller,
	p *protocol.ThreadBackgroundTerminalsListParams) error {
	return e.toThread(to, p.ThreadID, func(a *actor) { a.step(core.ListTerminals{To: to}) })
}

// ThreadBackgroundTerminalsTerminate ends one background command.
func (e *Engine) ThreadBackgroundTerminalsTerminate(to protocol.Caller,
	p *protocol.ThreadBackgroundTerminalsTerminateParams) error {
	if _, err := strconv.ParseInt(p.ProcessID, 10, 64); err != nil {
		return protocol.InvalidParams("processId",
			"`processId` must be that of a command in thread/backgroundTerminals/list, not %q", p.ProcessID)
	}
	return e.toThread(to, p.ThreadID, func(a *actor) { a.step(core.TerminateTerminal{To: to, ID: p.ProcessID}) })
}

// ThreadBackgroundTerminalsClean ends all background commands.
func (e *Engine) ThreadBackgroundTerminalsClean(to protocol.Caller,
	p *protocol.ThreadBackgroundTerminalsCleanParams) error {
	return e.toThread(to, p.ThreadID, func(a *actor) { a.step(core.CleanTerminals{To: to}) })
}

// endTerminals ends the background commands and waits until their ends are written. The thread is
// unloaded afterwards.
func (a *actor) endTerminals() {
	if a.thread == nil || !a.thread.HasTerminals() {
		return
	}
	a.step(core.EndTerminals{})
	for a.thread != nil && a.thread.HasTerminals() {
		a.handleResult(<-a.results)
	}
}
