package host

import (
	"context"
	"sync"
	"time"

	"appserver/core/effects/find"
	"appserver/protocol"
)

// updateInterval is the interval between the updates of a walking session.
const updateInterval = 100 * time.Millisecond

// session is a search for several queries.
type session struct {
	conn   *connection
	id     string
	ctx    context.Context
	cancel context.CancelFunc
	// wake holds a token if there may be something new to send.
	wake chan struct{}

	mu     sync.Mutex
	found  []rooted
	walked bool
	query  string
	// asked counts the queries: each gets an answer, also one that repeats the last.
	asked int
}

// FuzzyFileSearchSessionStart begins a session.
func (h *Host) FuzzyFileSearchSessionStart(to protocol.Caller, p *protocol.FuzzyFileSearchSessionStartParams) error {
	d, err := h.connection(to.Conn)
	if err != nil {
		return err
	}
	if p.SessionID == "" {
		return protocol.InvalidParams("sessionId", "sessionId must not be empty")
	}
	if err := checkRoots(p.Roots); err != nil {
		return err
	}
	s := &session{conn: d, id: p.SessionID, wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(d.ctx)
	if err := d.open(s); err != nil {
		return err
	}
	h.Outbox.Reply(to, protocol.Empty{})
	if err := h.run(func() { s.walk(h, p.Roots) }); err != nil {
		return nil // the server ends
	}
	_ = h.run(s.serve) // refused only where the server ends
	return nil
}

// open registers a session. It ends the session with the same name.
func (d *connection) open(s *session) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.sessions[s.id]; before != nil {
		before.cancel()
	} else if len(d.sessions) >= maxSessions {
		return overloaded("there are %d search sessions: stop one with fuzzyFileSearch/sessionStop", maxSessions)
	}
	d.sessions[s.id] = s
	return nil
}

// FuzzyFileSearchSessionUpdate sets the query of a session.
func (h *Host) FuzzyFileSearchSessionUpdate(to protocol.Caller, p *protocol.FuzzyFileSearchSessionUpdateParams) error {
	d, err := h.connection(to.Conn)
	if err != nil {
		return err
	}
	d.mu.Lock()
	s := d.sessions[p.SessionID]
	d.mu.Unlock()
	if s == nil {
		return protocol.Refuse(protocol.KindSearchNotFound, "fuzzy file search session not found: %s", p.SessionID)
	}
	h.Outbox.Reply(to, protocol.Empty{})
	s.mu.Lock()
	s.query = p.Query
	s.asked++
	s.mu.Unlock()
	s.rouse()
	return nil
}

// FuzzyFileSearchSessionStop ends a session, if there is one.
func (h *Host) FuzzyFileSearchSessionStop(to protocol.Caller, p *protocol.FuzzyFileSearchSessionStopParams) error {
	d, err := h.connection(to.Conn)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.sessions[p.SessionID]; s != nil {
		s.cancel()
		delete(d.sessions, p.SessionID)
	}
	h.Outbox.Reply(to, protocol.Empty{})
	return nil
}

func (s *session) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// walk finds the files, and sends updates at intervals.
func (s *session) walk(h *Host, roots []string) {
	told := time.Now()
	for i, root := range roots {
		s.mu.Lock()
		s.found = append(s.found, rooted{root: root})
		s.mu.Unlock()
		h.Finder.Walk(s.ctx, h.absoluteRoot(root), func(paths []find.Path) {
			s.mu.Lock()
			s.found[i].paths = append(s.found[i].paths, paths...)
			s.mu.Unlock()
			if time.Since(told) >= updateInterval {
				told = time.Now()
				s.rouse()
			}
		})
	}
	s.mu.Lock()
	s.walked = true
	s.mu.Unlock()
	s.rouse()
}

// serve answers queries until the session ends.
func (s *session) serve() {
	done := 0 // queries that have their whole answer
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.wake:
		}
		s.conn.awaitRoom()
		s.mu.Lock()
		found, walked, query, asked := append([]rooted{}, s.found...), s.walked, s.query, s.asked
		s.mu.Unlock()
		if asked == done {
			continue
		}
		best := rank(s.ctx, find.NewQuery(query), found)
		if walked || len(best) > 0 {
			s.send(query, best, walked)
		}
		if walked {
			done = asked
		}
	}
}

// send sends the matches, unless the session has ended.
func (s *session) send(query string, best []find.Match, all bool) {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	if s.ctx.Err() != nil {
		return
	}
	out := s.conn.host.Outbox
	out.Notify(s.conn.conn,
		protocol.FuzzyFileSearchSessionUpdatedNotification{SessionID: s.id, Query: query, Files: results(best)})
	if all {
		out.Notify(s.conn.conn, protocol.FuzzyFileSearchSessionCompletedNotification{SessionID: s.id})
	}
}
