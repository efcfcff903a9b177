package forward

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// session has the links of one client, and its requests that wait.
type session struct {
	*Forwarder
	conn   uint64
	ctx    context.Context
	cancel context.CancelFunc

	mu sync.Mutex
	// last is the number of the last request.
	last   uint64
	queues map[string]*queue // by thread
	links  map[string]*link  // by address
	// followed are the threads whose notifications the client gets through a link.
	followed map[string]*followed
}

// queue has the requests of a thread that wait for its owner, in the order in which the client sent them. A
// goroutine works on it. While a thread has a queue, later requests of the thread join it.
type queue struct {
	waiting []*request
	// rejoin is set if the thread must be resumed before, but not until after is closed.
	rejoin *followed
	after  <-chan struct{}
}

func newSession(f *Forwarder, conn uint64) *session {
	s := &session{Forwarder: f, conn: conn, queues: map[string]*queue{}, links: map[string]*link{},
		followed: map[string]*followed{}}
	s.ctx, s.cancel = context.WithCancel(f.ctx)
	return s
}

func (s *session) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel()
	for _, l := range s.links {
		l.end()
	}
}

// isBusy reports whether requests of a thread must be forwarded, or wait.
func (s *session) isBusy(thread string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues[thread] != nil || s.routeLocked(thread) != nil
}

// routeLocked returns the link for requests of a thread whose owner need not be looked up, or nil. That is the link
// through which the client follows the thread, or one on which earlier requests of the thread have no response.
func (s *session) routeLocked(thread string) *link {
	if f := s.followed[thread]; f != nil && !f.rejoining {
		return f.link
	}
	for _, l := range s.links {
		if l.serves(thread) {
			return l
		}
	}
	return nil
}

// submit sends a request to the owner of its thread, after the earlier requests of the thread.
func (s *session) submit(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	r.number = s.last
	if s.queues[r.thread] == nil && s.sendLocked(r) {
		return
	}
	s.enqueueLocked(r)
}

// sendLocked sends a request on the route of its thread. It returns false if there is none.
func (s *session) sendLocked(r *request) bool {
	l := s.routeLocked(r.thread)
	return l != nil && l.send(r)
}

// enqueueLocked inserts a request before those that the client sent later.
func (s *session) enqueueLocked(r *request) {
	q := s.queueLocked(r.thread)
	i, _ := slices.BinarySearchFunc(q.waiting, r.number,
		func(w *request, number uint64) int { return cmp.Compare(w.number, number) })
	q.waiting = slices.Insert(q.waiting, i, r)
}

// queueLocked returns the queue of a thread. If there is none, it starts the work on one. After the disconnect no
// work starts.
func (s *session) queueLocked(thread string) *queue {
	q := s.queues[thread]
	if q == nil {
		q = new(queue)
		s.queues[thread] = q
		if s.ctx.Err() == nil {
			s.work.Go(func() { s.drain(thread) })
		}
	}
	return q
}

// drain works on the queue of a thread until it is empty.
func (s *session) drain(thread string) {
	for s.ctx.Err() == nil {
		switch next := s.next(thread); {
		case next.rejoin != nil:
			s.rejoin(thread, next.rejoin, next.after)
		case next.request != nil:
			s.place(next.request)
		case next.pause > 0:
			s.sleep(next.pause)
		default:
			return
		}
	}
}

// task is the next work on a queue: the resumption of the thread, a request, a pause, or none.
type task struct {
	rejoin  *followed
	after   <-chan struct{}
	request *request
	pause   time.Duration
}

// next returns the next work from a queue. It removes an empty queue. While the oldest request
// pauses, no later one is sent. So requests that were rejected together pause once.
func (s *session) next(thread string) task {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[thread]
	if f := q.rejoin; f != nil {
		q.rejoin = nil
		return task{rejoin: f, after: q.after}
	}
	if len(q.waiting) == 0 {
		delete(s.queues, thread)
		return task{}
	}
	first := q.waiting[0]
	if pause := time.Until(first.due); pause > 0 {
		return task{pause: pause}
	}
	q.waiting = q.waiting[1:]
	return task{request: first}
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

// retry queues a request again that was not served, because the owner of its thread has changed. If
// the client follows the thread through the link that rejected it, the thread is resumed before.
func (s *session) retry(r *request, rejected *link) {
	if r.thread == "" {
		s.begin(r)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if rejected != nil {
		rejected.forget(r.thread)
	}
	if f := s.followed[r.thread]; f != nil && f.link == rejected {
		s.rejoinLocked(r.thread, f, nil)
	}
	s.enqueueLocked(r)
}

// rejoinLocked makes the queue of a thread resume it first, but not until after is closed.
func (s *session) rejoinLocked(thread string, f *followed, after <-chan struct{}) {
	if f.rejoining {
		return
	}
	f.rejoining = true
	q := s.queueLocked(thread)
	q.rejoin, q.after = f, after
}

// link returns the link to a node. It makes one if there is none.
func (s *session) link(to Node) (*link, error) {
	s.mu.Lock()
	l := s.links[to.Address]
	s.mu.Unlock()
	if l != nil {
		return l, nil
	}
	state, ok := s.Server.Client(s.conn)
	if !ok {
		return nil, errDisconnected
	}
	if s.isSilent(to) {
		return nil, errNoAnswer
	}
	t, err := s.dial(s.ctx, to, hello{Kind: helloClient, Conn: s.conn, Client: state})
	if err != nil {
		return nil, err
	}
	return s.addLink(newLink(s, to, t)), nil
}

// addLink starts a link, unless another goroutine was faster.
func (s *session) addLink(l *link) *link {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.links[l.owner.Address]; first != nil {
		l.end()
		return first
	}
	if s.ctx.Err() != nil {
		l.end()
		return l
	}
	s.links[l.owner.Address] = l
	s.work.Go(l.write)
	s.work.Go(l.read)
	return l
}
