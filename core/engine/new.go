package engine

import (
	"context"
	"fmt"

	"appserver/protocol"
)

// New returns an engine without threads.
func New(p Parts) *Engine {
	if p.NewID == nil {
		p.NewID = newID
	}
	if p.Source == nil {
		p.Source = protocol.StoredSource(protocol.SourceVSCode)
	}
	open := &proxiedRequests{open: map[protocol.Caller]*proxiedRequest{}}
	p.Outbox.Answers = proxyAnswers{p.Outbox.Answers, open}
	return &Engine{parts: p, proxied: open, team: newTeam(),
		agents:        agentWork{watch: (*actor).watchAgent, call: (*actor).callAgents, begin: (*Engine).beginAgents},
		globalNotices: globalMethods(), threads: map[string]*actor{},
		announced: map[string]bool{}, prepared: map[string]bool{}, watchers: map[uint64]bool{},
		readers:        make(chan struct{}, maxReaders),
		oneshotServers: make(chan struct{}, maxOneshotServers), haveList: make(chan struct{}, 1), ended: make(chan struct{})}
}

// Close ends all turns, waits until their ends are written and sent, and closes the journals. It
// returns an error if ctx ends before.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	if !e.closing {
		e.closing = true
		close(e.ended)
	}
	e.mu.Unlock()
	for _, a := range e.actors() {
		a.stop()
	}
	done := make(chan struct{})
	go func() {
		e.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("engine: threads did not end in time: %w", ctx.Err())
	}
}
