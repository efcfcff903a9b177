package forward

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"appserver/protocol"
)

// maxPause is the longest pause between two attempts of a request.
const maxPause = 400 * time.Millisecond

// request is a request for a thread. Its method answered is called once for each attempt. unserved is set if
// the node rejected the request because it is not the owner.
type request struct {
	thread, method string
	params         json.RawMessage
	answered       func(result any, err *protocol.Error, unserved bool)
}

// session has the links of one client.
type session struct {
	*Forwarder
	conn   uint64
	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex
	// queues has what must be done for a thread in this order. A thread has a queue, maybe an empty one,
	// while a goroutine works on it.
	queues map[string][]func()
	links  map[string]*link // by address
	routes map[string]*link // by thread
	// followed are the threads whose notifications the client gets through a link.
	followed map[string]*followed
}

func newSession(f *Forwarder, conn uint64) *session {
	s := &session{Forwarder: f, conn: conn, queues: map[string][]func(){}, links: map[string]*link{},
		routes: map[string]*link{}, followed: map[string]*followed{}}
	s.ctx, s.cancel = context.WithCancel(f.ctx)
	return s
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	for _, l := range s.links {
		l.close()
	}
}

// isBusy reports whether requests of a thread must be forwarded, or wait.
func (s *session) isBusy(thread string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, waiting := s.queues[thread]
	return waiting || s.routes[thread] != nil
}

// submit sends a request to the owner of its thread, after the earlier requests of the thread.
func (s *session) submit(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, busy := s.queues[r.thread]
	if l := s.routes[r.thread]; !busy && l != nil && l.send(r) {
		return
	}
	s.enqueueLocked(r.thread, func() { s.place(r) })
}

// enqueueLocked runs do after what waits for the thread. After the disconnect it does nothing.
func (s *session) enqueueLocked(thread string, do func()) {
	waiting, busy := s.queues[thread]
	s.queues[thread] = append(waiting, do)
	if !busy {
		s.runLocked(thread)
	}
}

// runLocked starts the work on the queue of a thread.
func (s *session) runLocked(thread string) {
	if s.ctx.Err() != nil {
		return
	}
	s.work.Go(func() {
		for do := s.next(thread); do != nil && s.ctx.Err() == nil; do = s.next(thread) {
			do()
		}
	})
}

// next takes the first element of a queue. It removes an empty queue, and returns nil.
func (s *session) next(thread string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting := s.queues[thread]
	if len(waiting) == 0 {
		delete(s.queues, thread)
		return nil
	}
	s.queues[thread] = waiting[1:]
	return waiting[0]
}

// sleep returns early if the client disconnects.
func (s *session) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// place sends a request to the owner of its thread. A thread without an owner is served here, or by a
// node that has its directory.
func (s *session) place(r *request) {
	at, err := s.Find(s.ctx, r.thread)
	if err == nil && at.Owner == (Node{}) {
		at.Owner = s.nodeFor(at.Cwd)
	}
	s.placeAt(at.Owner, r)
}

// placeAt sends a request to a node. If the node cannot be reached, it serves the request here.
func (s *session) placeAt(n Node, r *request) {
	if n.Address != "" && s.forward(n, r) {
		return
	}
	s.Server.Call(s.conn, r.method, r.params, func(result any, err *protocol.Error) {
		r.answered(result, err, isKind(err, protocol.KindStaleOwner))
	})
}

// forward sends a request to a node. It returns false if the node cannot be reached.
func (s *session) forward(owner Node, r *request) bool {
	l, err := s.link(owner)
	if err != nil {
		s.reportNode("it cannot be reached", owner, err)
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !l.send(r) {
		return false
	}
	if r.thread != "" {
		s.routes[r.thread] = l
	}
	return true
}

// retry sends a request again that was not served, because the owner of its thread has changed. If the
// client follows the thread, it is resumed before.
func (s *session) retry(r *request, pause time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.routes, r.thread)
	again := func() {
		s.sleep(pause)
		s.place(r)
	}
	if f := s.followed[r.thread]; f != nil {
		delete(s.followed, r.thread)
		s.enqueueLocked(r.thread, func() { s.rejoin(r.thread, f) })
	}
	s.enqueueLocked(r.thread, again)
}

func isKind(err *protocol.Error, kind protocol.Kind) bool {
	return err != nil && err.Data != nil && err.Data.Kind == kind
}

var errDisconnected = errors.New("the client has disconnected")

// link returns the link to a node. It makes one if there is none.
func (s *session) link(owner Node) (*link, error) {
	s.mu.Lock()
	l := s.links[owner.Address]
	s.mu.Unlock()
	if l != nil {
		return l, nil
	}
	state, ok := s.Server.Client(s.conn)
	if !ok {
		return nil, errDisconnected
	}
	t, err := s.dial(s.ctx, owner, hello{Kind: helloClient, Client: state})
	if err != nil {
		return nil, err
	}
	return s.addLink(newLink(s, owner, t)), nil
}

// addLink starts a link, unless another goroutine was faster.
func (s *session) addLink(l *link) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.links[l.owner.Address]; first != nil {
		l.close()
		return first
	}
	if s.ctx.Err() != nil {
		l.close()
		return l
	}
	s.links[l.owner.Address] = l
	s.work.Go(l.write)
	s.work.Go(l.read)
	return l
}
