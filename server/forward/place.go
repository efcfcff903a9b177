package forward

import (
	"context"
	"errors"
	"time"

	"appserver/protocol"
)

// errNoFolder reports that no node that can be reached has the directory of a thread. It may be restarting.
func errNoFolder(dir string) *protocol.Error {
	return protocol.Refuse(protocol.KindStaleOwner, "no server that can be reached has the folder %s", dir)
}

// place sends a request to the node that serves its thread: its owner, or else a node that has its directory. If
// that node cannot be reached, this one serves the request, unless the request waits for the directory.
func (s *session) place(r *request) {
	s.mu.Lock()
	isSent := s.sendLocked(r)
	s.mu.Unlock()
	if isSent {
		return
	}
	at, err := s.Find(s.ctx, r.thread)
	hasFolder := err != nil || at.Owner != (Node{}) || at.Cwd == "" || Covers(s.Workspaces, at.Cwd)
	if !hasFolder {
		at.Owner = s.nodeFor(at.Cwd, nil)
	}
	switch {
	case at.Owner.Address != "" && s.forward(at.Owner, r):
	case r.awaitsFolder && !hasFolder:
		r.done(outcome{err: errNoFolder(at.Cwd)})
	default:
		s.serve(r)
	}
}

// forward sends a request to a node. It returns false if the node cannot be reached.
func (s *session) forward(to Node, r *request) bool {
	l, err := s.link(to)
	if err != nil {
		s.reportNode("it cannot be reached", to, err)
		return false
	}
	return l.send(r)
}

// serve serves a request here. Unless the thread is loaded, it returns after the response: a later request of the
// thread could be served while this one is rejected.
func (s *session) serve(r *request) {
	isLoaded, answered := s.IsLoaded(r.thread), make(chan struct{})
	s.Server.Call(s.conn, r.method.Name, r.params, func(result any, err *protocol.Error) {
		s.settle(r, outcome{result: result, err: err, unserved: isKind(err, protocol.KindStaleOwner)})
		close(answered)
	})
	if isLoaded {
		return
	}
	select {
	case <-answered:
	case <-s.ctx.Done():
	}
}

var (
	errDisconnected = errors.New("the client has disconnected")
	errNoAnswer     = errors.New("it did not answer some seconds ago")
)

// isSilent reports whether a node did not answer the last attempt to connect, which ended less than DialTimeout ago.
// Requests do not wait for such a node again.
func (f *Forwarder) isSilent(n Node) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.silent[n.Address]
	return ok && time.Since(at) < f.DialTimeout
}

// noteSilence records whether a node has answered an attempt to connect. A node that refuses a connection at once
// has.
func (f *Forwarder) noteSilence(n Node, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.silent, n.Address)
	if errors.Is(err, context.DeadlineExceeded) {
		f.silent[n.Address] = time.Now()
	}
}
