package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// callLimit is the time after which a client gives a node up that does not answer.
const callLimit = 4 * time.Second

// errLost reports that a node did not answer a request: it may have been executed, or may be later.
var errLost = errors.New("the connection was lost")

// refusal is the error of a response.
type refusal struct{ apptest.RPCError }

// Error includes the kind.
func (r *refusal) Error() string { return r.Data.Kind + ": " + r.Message }

// kindOf returns the kind of a refusal, or "".
func kindOf(err error) string {
	var r *refusal
	if errors.As(err, &r) {
		return r.Data.Kind
	}
	return ""
}

// isRefused reports whether a request changed nothing, so that it can be repeated through any node.
func isRefused(err error) bool {
	switch kindOf(err) {
	case "threadLocked", "threadNotLoaded", "threadNotFound", "shuttingDown", "staleOwner", "overloaded":
		return true
	}
	return false
}

// session is a connection to a node that may fail at any time. Any goroutine may use it.
type session struct {
	ws     *websocket.Conn
	notify func(apptest.Message)

	mu      sync.Mutex
	last    int
	pending map[int]chan apptest.Message
	// ended are the statuses of turns whose end was reported, and closed are closed threads.
	ended  map[string]string
	closed map[string]bool
	// silent is the thread whose requests are left to other clients, or "". answered are the turns with
	// requests that this client has answered.
	silent   string
	answered map[string]bool
	// changed is closed when ended or closed changes. lost is closed at the end of the connection.
	changed, lost chan struct{}
}

// openSession connects to a node. It calls notify with each notification, before any later response
// is returned.
func openSession(d *apptest.Daemon, notify func(apptest.Message)) (*session, error) {
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	ws, err := d.DialWebSocket(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{ws: ws, notify: notify, pending: map[int]chan apptest.Message{}, ended: map[string]string{},
		closed: map[string]bool{}, answered: map[string]bool{}, changed: make(chan struct{}), lost: make(chan struct{})}
	go s.read()
	_, err = s.call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "test", "version": "1"},
		"capabilities": apptest.Object{"experimentalApi": true}})
	if err == nil {
		err = s.write(apptest.Object{"method": "initialized"})
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) close() { _ = s.ws.CloseNow() }

func (s *session) read() {
	defer close(s.lost)
	for {
		_, line, err := s.ws.Read(context.Background())
		if err != nil {
			return
		}
		m := apptest.Message{Line: string(line)}
		if json.Unmarshal(line, &m) == nil {
			s.handle(m)
		}
	}
}

func (s *session) handle(m apptest.Message) {
	if m.Method != "" {
		s.notify(m)
	}
	if m.Method == approval {
		s.answer(m)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Method {
	case "":
		var id int
		if json.Unmarshal(m.ID, &id) == nil && s.pending[id] != nil {
			s.pending[id] <- m
			delete(s.pending, id)
		}
		return
	case "turn/completed":
		turn := gjson.GetBytes(m.Params, "turn")
		s.ended[turn.Get("id").Str] = turn.Get("status").Str
	case "thread/closed", "thread/deleted":
		s.closed[gjson.GetBytes(m.Params, "threadId").Str] = true
	default:
		return
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// approval asks whether a command may run, and forbidden is a word in commands that may not.
const (
	approval  = "item/commandExecution/requestApproval"
	forbidden = "forbidden"
)

// answer answers a request for the approval of a command, unless another client must.
func (s *session) answer(m apptest.Message) {
	p := gjson.ParseBytes(m.Params)
	decision := "accept"
	if strings.Contains(p.Get("command").Raw, forbidden) {
		decision = "decline"
	}
	s.mu.Lock()
	isSilent := s.silent == p.Get("threadId").Str
	if !isSilent {
		s.answered[p.Get("turnId").Str] = true
	}
	s.mu.Unlock()
	if !isSilent {
		_ = s.write(apptest.Object{"id": m.ID, "result": apptest.Object{"decision": decision}})
	}
}

// silence leaves the requests of a thread to other clients. With "" it answers all.
func (s *session) silence(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = thread
}

// hasAnswered reports whether the client has answered a request of a turn.
func (s *session) hasAnswered(turn string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered[turn]
}

func (s *session) write(m apptest.Object) error {
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	return s.ws.Write(ctx, websocket.MessageText, line)
}

// call returns the result of a request. The error is a *refusal, or errLost.
func (s *session) call(method string, params apptest.Object) (gjson.Result, error) {
	answer := make(chan apptest.Message, 1)
	s.mu.Lock()
	s.last++
	id := s.last
	s.pending[id] = answer
	s.mu.Unlock()
	err := s.write(apptest.Object{"id": id, "method": method, "params": params})
	limit := time.NewTimer(callLimit)
	defer limit.Stop()
	select {
	case m := <-answer:
		if m.Error != nil {
			return gjson.Result{}, &refusal{*m.Error}
		}
		return gjson.ParseBytes(m.Result), nil
	case <-s.lost:
	case <-limit.C:
		s.close()
	}
	return gjson.Result{}, fmt.Errorf("%w: %s: %v", errLost, method, err)
}

// isLost reports whether the connection has ended.
func (s *session) isLost() bool {
	select {
	case <-s.lost:
		return true
	default:
		return false
	}
}

// subscribe forgets that a thread was closed, before it is resumed.
func (s *session) subscribe(thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.closed, thread)
}

// awaitTurn returns the status with which a turn ends, or "" if the thread or the connection is lost.
func (s *session) awaitTurn(thread, turn string) string {
	limit := time.NewTimer(2 * callLimit)
	defer limit.Stop()
	for {
		s.mu.Lock()
		status, isClosed, changed := s.ended[turn], s.closed[thread], s.changed
		s.mu.Unlock()
		if status != "" || isClosed {
			return status
		}
		select {
		case <-changed:
		case <-s.lost:
			return ""
		case <-limit.C:
			s.close()
			return ""
		}
	}
}
