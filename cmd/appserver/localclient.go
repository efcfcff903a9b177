package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"go.uber.org/zap"

	"appserver/core/engine"
	"appserver/core/model"
	"appserver/core/model/chat"
	"appserver/protocol"
	"appserver/server"
)

// desk is a client of an engine in this process. It calls one method at a time, and is
// the outbox that takes the answers.
type localClient struct {
	home    string
	engine  *engine.Engine
	handler protocol.Handler
	calls   uint64
	answers chan answer
}

// answer is that to the call under way.
type answer struct {
	result any
	err    error
}

// deskConnection is the connection that the desk calls from.
const localConnection = 1

// openDesk needs no provider: no model is asked for anything.
func openLocalClient(o *options, log *zap.Logger) (*localClient, error) {
	_, home, parts, err := gather(o, log)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no threads: %s does not exist; set CODEX_HOME to the folder that has them", home)
	}
	c := &localClient{home: home, answers: make(chan answer, 1)}
	parts.Model, parts.Outbox, parts.Version = &model.Router{Fallback: chat.Render}, c, protocol.Level
	parts.Originator = func(uint64) string { return "appserver" }
	c.engine = engine.New(parts)
	c.handler = server.NewMethods(c.engine, server.ServerHandlers{}, nil)
	return c, nil
}

// close ends the engine, which rewrites what was changed and lets its threads go. It
// waits however long that takes: the disk is all that it waits for.
func (c *localClient) close() error { return c.engine.Close(context.Background()) }

// call calls a method of the table, and waits for its answer.
func (c *localClient) call(name string, params any) (any, error) {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("writing the params of %s: %w", name, err)
	}
	methods := protocol.Methods()
	row := slices.IndexFunc(methods, func(m protocol.Method) bool { return m.Name == name })
	if row < 0 {
		return nil, fmt.Errorf("there is no method %s", name)
	}
	c.calls++
	if err := methods[row].Serve(c.handler, protocol.Caller{Conn: localConnection, Request: c.calls}, raw); err != nil {
		return nil, err
	}
	a := <-c.answers
	return a.result, a.err
}

// ask calls a method whose result is an R.
func ask[R any](c *localClient, name string, params any) (R, error) {
	result, err := c.call(name, params)
	if err != nil {
		var none R
		return none, err
	}
	r, ok := result.(R)
	if !ok {
		return r, fmt.Errorf("%s answers with %T", name, result)
	}
	return r, nil
}

// Reply takes an answer.
func (c *localClient) Reply(_ protocol.Caller, result any) { c.answers <- answer{result: result} }

// Refuse takes an answer that is an error.
func (c *localClient) Refuse(_ protocol.Caller, err *protocol.Error) { c.answers <- answer{err: err} }

// Notify drops what is told: answers say all that is shown.
func (c *localClient) Notify(uint64, protocol.Notification) {}

// Ask drops questions, which only turns have.
func (c *localClient) Ask(uint64, uint64, string, any, func(json.RawMessage, error)) {}

// Congested is nil: the desk keeps up.
func (c *localClient) Congested(uint64) <-chan struct{} { return nil }

// Behind is false, too.
func (c *localClient) Behind(uint64) bool { return false }
