package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// ThreadInjectItems adds entries to the history of a loaded thread.
func (e *Engine) ThreadInjectItems(to protocol.Caller, p *protocol.ThreadInjectItemsParams) error {
	items, err := p.Decode()
	if err != nil {
		return err
	}
	return e.toThread(to, p.ThreadID, func(a *actor) {
		in := core.InjectItems{To: to, Items: items}
		if world, err := a.worldOf(a.thread.Settings()); err == nil || notReady(err) {
			in.Env = &world
		}
		a.step(in)
	})
}
