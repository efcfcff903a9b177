package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"go.uber.org/zap"

	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/token"
	"appserver/core/engine"
	"appserver/protocol"
	"appserver/rollout"
	"appserver/rollout/store"
	"appserver/server"
	"appserver/server/remote"
)

// LocalClient is a client of an engine in the same process. It calls one method at a time, and
// is the outbox of the engine to receive the results. If another server of this home has a thread open,
// the client calls the method there.
type LocalClient struct {
	Home string
	// Store has the rollouts of the home. The redactor removes secrets from imported lines; it may be nil.
	Store    *rollout.Store
	Redactor engine.Redactor
	// Threads are the threads, in files or in a database.
	Threads store.Threads
	threads *openedStore
	engine  *engine.Engine
	handler protocol.Handler
	calls   uint64
	answers chan answer
	// elsewhere has the connections to the servers that have threads open, by thread.
	elsewhere map[string]*remote.Server
}

// answer is the result of the running call.
type answer struct {
	result any
	err    error
}

// localClientName names the client in the journal of edits.
const localClientName = "appserver"

// localConnection is the connection id of the client.
const localConnection = 1

// OpenLocalClient starts an engine without a provider. It cannot make model requests.
func OpenLocalClient(o *Options, log *zap.Logger) (*LocalClient, error) {
	local, err := loadHome(o, log)
	if err != nil {
		return nil, err
	}
	home := local.home
	if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there are no threads: the home %s does not exist; set CODEX_HOME to a home with threads", home)
	}
	threads, err := openStore(local, false)
	if err != nil {
		return nil, err
	}
	settings := newSetup(local, &model.ModelCache{}, newConfinement(home, log))
	c := &LocalClient{Home: home, Store: local.rollouts, Redactor: settings.Current().Redactor,
		Threads: threads.threads, threads: threads, answers: make(chan answer, 1), elsewhere: map[string]*remote.Server{}}
	c.engine = engine.New(engine.Parts{
		Threads: threads.threads, Config: settings, Defaults: settings,
		Model: &model.Router{Fallback: chat.Render}, Tokens: token.New(),
		Worktrees: worktrees(local.config.Current(), home, log),
		Outbox:    engine.Outbox{Answers: c, Messages: c, Pressure: c},
		Clients:   engine.Clients{Originator: func(uint64) string { return localClientName }},
		Log:       log, Version: protocol.Level, Source: protocol.StoredSource(o.source), Spread: spread,
	})
	c.handler = server.NewMethods(c.engine, server.ServerHandlers{}, nil)
	return c, nil
}

// Close closes the engine, which rewrites changed rollouts. It has no timeout, because it
// waits for the disk only.
func (c *LocalClient) Close() error {
	for _, s := range c.elsewhere {
		s.Close()
	}
	return errors.Join(c.engine.Close(context.Background()), c.threads.Close(context.Background()))
}

// call calls a method and waits for its result.
func (c *LocalClient) call(name string, params any) (any, error) {
	raw, err := protocol.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("encoding the params of %s: %w", name, err)
	}
	methods := protocol.Methods()
	row := slices.IndexFunc(methods, func(m protocol.Method) bool { return m.Name == name })
	if row < 0 {
		return nil, fmt.Errorf("unknown method %s", name)
	}
	c.calls++
	if err := methods[row].Serve(c.handler, protocol.Caller{Conn: localConnection, Request: c.calls}, raw); err != nil {
		return nil, err
	}
	a := <-c.answers
	if isKind(a.err, protocol.KindThreadLocked) || len(c.elsewhere) > 0 && isKind(a.err, protocol.KindThreadNotLoaded) {
		return c.callElsewhere(name, raw, a.err)
	}
	return a.result, a.err
}

func isKind(err error, kind protocol.Kind) bool {
	var refused *protocol.Error
	return errors.As(err, &refused) && refused.Data != nil && refused.Data.Kind == kind
}

// callElsewhere calls a method of the server that has the thread open. It returns the error of the own
// engine if no such server can be found.
func (c *LocalClient) callElsewhere(name string, params json.RawMessage, locked error) (any, error) {
	var of struct {
		ThreadID string `json:"threadId"`
		DraftID  string `json:"draftId"` // begins with the id of its thread
	}
	if err := protocol.Unmarshal(params, &of); err != nil {
		return nil, locked
	}
	draftOf, _, _ := strings.Cut(of.DraftID, ":")
	if of.ThreadID = cmp.Or(of.ThreadID, draftOf); of.ThreadID == "" {
		return nil, locked
	}
	ctx := context.Background()
	s := c.elsewhere[of.ThreadID]
	if s != nil && s.Lost() { // the server was restarted
		s.Close()
		s = nil
	}
	if s == nil {
		if s = remote.Find(ctx, c.Home, of.ThreadID, protocol.ClientInfo{Name: localClientName, Version: Version}); s == nil {
			return nil, fmt.Errorf("%w; to edit the thread from here, start that program with --web or --listen unix://", locked)
		}
		c.elsewhere[of.ThreadID] = s
	}
	return s.Call(ctx, name, params)
}

// Call calls a method with a result of type R.
func Call[R any](c *LocalClient, name string, params any) (R, error) {
	result, err := c.call(name, params)
	if err != nil {
		var none R
		return none, err
	}
	if raw, ok := result.(json.RawMessage); ok { // of another server
		var r R
		return r, protocol.Unmarshal(raw, &r)
	}
	r, ok := result.(R)
	if !ok {
		return r, fmt.Errorf("%s returned %T", name, result)
	}
	return r, nil
}

// Reply receives a result. It encodes a result whose items are read when it is sent.
func (c *LocalClient) Reply(_ protocol.Caller, result any) {
	s, ok := result.(interface{ StoredSize() int })
	if !ok || s.StoredSize() == 0 {
		c.answers <- answer{result: result}
		return
	}
	raw, err := protocol.Marshal(result)
	if err != nil {
		c.answers <- answer{err: protocol.Internal(protocol.KindStorage, "%v", err)}
		return
	}
	c.answers <- answer{result: json.RawMessage(raw)}
}

// Refuse receives an error.
func (c *LocalClient) Refuse(_ protocol.Caller, err *protocol.Error) { c.answers <- answer{err: err} }

// Notify ignores notifications, because the commands print results only.
func (c *LocalClient) Notify(uint64, protocol.Notification) {}

// Ask ignores requests of the server, because only turns send them.
func (c *LocalClient) Ask(uint64, uint64, string, any, func(json.RawMessage, error)) {}

// Congested returns nil, because the client has no queue.
func (c *LocalClient) Congested(uint64) <-chan struct{} { return nil }

// Behind returns false.
func (c *LocalClient) Behind(uint64) bool { return false }
