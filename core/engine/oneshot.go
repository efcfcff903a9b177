package engine

import (
	"appserver/core"
	"appserver/protocol"
)

// changeStored loads a stored thread, applies one input and unloads it.
func (a *actor) changeStored(to protocol.Caller, input func(*actor) (core.Input, error)) {
	var in core.Input
	contents, err := a.openThread("", true)
	if err == nil {
		err = contents.Backup.Err // without its backup the thread lacks items
	}
	if err == nil {
		in, err = input(a)
	}
	if err != nil {
		a.closeOnError(to, err)
		return
	}
	out, err := a.commit(in)
	if err != nil {
		a.closeOnError(to, errStorage(err))
		return
	}
	a.subscribe(to.Conn)
	a.deliver(out)
	a.unload()
}
