package engine

import (
	"strings"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// ownTimeout ends a command of the user's own for which the client names no timeout.
const ownTimeout = time.Hour

// ThreadShellCommand runs a command of the user's own.
func (e *Engine) ThreadShellCommand(to protocol.Caller, p *protocol.ThreadShellCommandParams) error {
	if strings.TrimSpace(p.Command) == "" {
		return protocol.InvalidParams("command", "`command` must not be empty")
	}
	timeout := ownTimeout
	if p.TimeoutMs != nil {
		if *p.TimeoutMs < 0 {
			return protocol.InvalidParams("timeoutMs", "`timeoutMs` must not be negative")
		}
		timeout = max(1, time.Duration(min(*p.TimeoutMs, longestTimeoutMs))*time.Millisecond)
	}
	return e.toWorld(to, p.ThreadID, func(w core.World) core.Input {
		return core.RunOwnCommand{To: to, Script: p.Command, Timeout: timeout, World: w}
	})
}

// longestTimeoutMs is the longest timeout that a duration holds.
const longestTimeoutMs = int64(1<<63-1) / int64(time.Millisecond)
