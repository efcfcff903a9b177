package server

import (
	"errors"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"appserver/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	initializeLine   = `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"}}}`
	experimentalLine = `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"test","version":"1"},` +
		`"capabilities":{"experimentalApi":true}}}`
	initializeAnswer = `{"jsonrpc":"2.0","id":0,"result":{}}`
)

// fake is a handler whose methods show different ways to respond:
//
//	initialize          replies {}
//	model/list          replies {"model":"m"}
//	thread/read         does not reply; held has the request
//	thread/start        replies {}
//	turn/start          replies {}, then sends a notification
//	turn/steer          returns a *protocol.Error
//	turn/interrupt      returns a wrapped *protocol.Error
//	thread/list         returns another error
//	config/read         replies with a value that cannot be encoded
//	thread/loaded/list  panics
//	thread/name/set     replies twice and returns an error
//
// Other methods panic, because the embedded handler is nil.
type fake struct {
	protocol.Handler
	server *Server
	held   []protocol.Caller
}

func newFake(s *Server) protocol.Handler { return &fake{server: s} }

func (f *fake) Initialize(to protocol.Caller, p *protocol.InitializeParams) error {
	state := ClientState{Info: p.ClientInfo}
	if c := p.Capabilities; c != nil {
		state.ExperimentalAPI, state.OptOut = c.ExperimentalAPI, c.OptOutNotificationMethods
	}
	f.server.Initialized(to.Conn, state)
	f.server.Reply(to, protocol.Empty{})
	return nil
}

func (f *fake) ModelList(to protocol.Caller, _ *protocol.ModelListParams) error {
	f.server.Reply(to, map[string]string{"model": "m"})
	return nil
}

func (f *fake) ThreadRead(to protocol.Caller, _ *protocol.ThreadReadParams) error {
	f.held = append(f.held, to)
	return nil
}

func (f *fake) ThreadStart(to protocol.Caller, _ *protocol.ThreadStartParams) error {
	f.server.Reply(to, protocol.Empty{})
	return nil
}

func (f *fake) TurnStart(to protocol.Caller, p *protocol.TurnStartParams) error {
	f.server.Reply(to, protocol.Empty{})
	f.server.Notify(to.Conn, protocol.ThreadClosedNotification{ThreadID: p.ThreadID})
	return nil
}

func (f *fake) TurnSteer(protocol.Caller, *protocol.TurnSteerParams) error {
	return &protocol.Error{Code: protocol.CodeInvalidRequest, Message: "no active turn to steer"}
}

func (f *fake) TurnInterrupt(protocol.Caller, *protocol.TurnInterruptParams) error {
	return errors.Join(errors.New("unwrap me"), protocol.Refuse(protocol.KindNoActiveTurn, "no active turn to interrupt"))
}

func (f *fake) ThreadList(protocol.Caller, *protocol.ThreadListParams) error {
	return errors.New("disk on fire")
}

func (f *fake) ConfigRead(to protocol.Caller, _ *protocol.ConfigReadParams) error {
	f.server.Reply(to, func() {})
	return nil
}

func (f *fake) ThreadLoadedList(protocol.Caller, *protocol.ThreadLoadedListParams) error {
	panic("handler bug")
}

func (f *fake) ThreadSetName(to protocol.Caller, _ *protocol.ThreadSetNameParams) error {
	f.server.Reply(to, protocol.Empty{})
	f.server.Refuse(to, protocol.Refuse(protocol.KindConfig, "second answer"))
	return errors.New("third answer")
}

// awaitConn waits until Serve has created the first connection.
func awaitConn(s *Server) {
	for s.conn(1) == nil {
		runtime.Gosched()
	}
}
