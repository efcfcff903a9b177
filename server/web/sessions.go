package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"appserver/server/listen"
)

const (
	// maxSessions is the maximum number of sessions. It is more than the clients of a listener, so one without a client
	// can always end.
	maxSessions = 2048
	// revocationInterval is the time between two looks for revoked devices, while their clients are connected.
	revocationInterval = 2 * time.Second
)

// errSessionEnded is the error of a client whose session ended while it connected.
var errSessionEnded = errors.New("the session of this page has ended")

// session is the access of one tab, by a token.
type session struct {
	// device is the id of the device that it belongs to, or "" if it came from a ticket alone.
	device string
	// used orders the sessions by their last use.
	used    uint64
	ended   bool
	clients map[*listen.Client]bool
}

// sessions are the sessions of a page. All are gone when the server ends.
type sessions struct {
	// revoked reports which of the devices are revoked by now.
	revoked func(devices map[string]bool) map[string]bool

	mu      sync.Mutex
	all     map[[sha256.Size]byte]*session // by the digest of the token
	clock   uint64
	timer   *time.Timer // nil unless a client of a device is connected
	stopped bool
}

func newSessions(revoked func(map[string]bool) map[string]bool) *sessions {
	return &sessions{revoked: revoked, all: map[[sha256.Size]byte]*session{}}
}

// open returns the token of a new session.
func (s *sessions) open(device string) (token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= maxSessions {
		s.evict()
	}
	token = rand.Text()
	s.clock++
	s.all[sha256.Sum256([]byte(token))] = &session{device: device, used: s.clock, clients: map[*listen.Client]bool{}}
	return token
}

// evict ends the session without a client that was not used for the longest time. s.mu is held.
func (s *sessions) evict() {
	var oldest *session
	var key [sha256.Size]byte
	for k, x := range s.all {
		if len(x.clients) == 0 && (oldest == nil || x.used < oldest.used) {
			oldest, key = x, k
		}
	}
	if oldest != nil {
		oldest.ended = true
		delete(s.all, key)
	}
}

// find returns the session of a token, or nil. It ends those of revoked devices first.
func (s *sessions) find(token string) *session {
	s.endRevoked()
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.all[sha256.Sum256([]byte(token))]
	if x != nil {
		s.clock++
		x.used = s.clock
	}
	return x
}

// bind makes a session part of a device. It returns false if it belongs to another one.
func (s *sessions) bind(x *session, device string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.device != "" && x.device != device {
		return false
	}
	x.device = device
	s.watch()
	return true
}

// deviceOf returns the device of a session, or "".
func (s *sessions) deviceOf(x *session) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return x.device
}

// sessionKey is the context key of the session of a client.
type sessionKey struct{}

// serve runs a client whose context has a session, until the session ends.
func (s *sessions) serve(ctx context.Context, c *listen.Client, run func(context.Context, *listen.Client) error) error {
	x, _ := ctx.Value(sessionKey{}).(*session)
	if x == nil || !s.attach(x, c) {
		return errSessionEnded
	}
	defer s.detach(x, c)
	return run(ctx, c)
}

func (s *sessions) attach(x *session, c *listen.Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.ended {
		return false
	}
	x.clients[c] = true
	s.watch()
	return true
}

func (s *sessions) detach(x *session, c *listen.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(x.clients, c)
}

// watch looks for revoked devices at intervals, while a client of a device is connected. s.mu is held.
func (s *sessions) watch() {
	if s.timer != nil || s.stopped {
		return
	}
	for _, x := range s.all {
		if x.device != "" && len(x.clients) > 0 {
			s.timer = time.AfterFunc(revocationInterval, func() {
				s.endRevoked()
				s.mu.Lock()
				defer s.mu.Unlock()
				s.timer = nil
				s.watch()
			})
			return
		}
	}
}

// endRevoked ends the sessions of revoked devices, and disconnects their clients.
func (s *sessions) endRevoked() {
	used := map[string]bool{}
	s.mu.Lock()
	for _, x := range s.all {
		if x.device != "" {
			used[x.device] = true
		}
	}
	s.mu.Unlock()
	if len(used) == 0 {
		return
	}
	revoked := s.revoked(used)
	var clients []*listen.Client
	s.mu.Lock()
	for key, x := range s.all {
		if revoked[x.device] {
			x.ended = true
			delete(s.all, key)
			for c := range x.clients {
				clients = append(clients, c)
			}
		}
	}
	s.mu.Unlock()
	for _, c := range clients {
		c.Disconnect("the browser was forgotten")
	}
}

// stop ends the watch for revoked devices when the page stops. Clients stay connected.
func (s *sessions) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	if s.timer != nil {
		s.timer.Stop()
	}
}
