package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ThreadContextTrim trims the context.
func (e *Engine) ThreadContextTrim(to protocol.Caller, p *protocol.ThreadContextTrimParams) error {
	in := core.TrimContext{To: to, Summary: p.Summary}
	if p.KeepLastNTurns != nil {
		in.KeepLast = *p.KeepLastNTurns
	}
	return e.changeThread(to, p.ThreadID, in)
}

// ThreadContextSummarize sets the summary of a trim point.
func (e *Engine) ThreadContextSummarize(to protocol.Caller, p *protocol.ThreadContextSummarizeParams) error {
	in := core.SummarizeContext{To: to, Point: p.TrimPointID, Summary: p.Summary}
	if p.CompactDurationMs != nil {
		in.TookMs = new(int64(*p.CompactDurationMs))
	}
	return e.changeThread(to, p.ThreadID, in)
}
