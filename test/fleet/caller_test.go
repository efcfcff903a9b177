package fleet

import (
	"math/rand/v2"
	"time"

	"appserver/test/apptest"
)

// outcome is the result of an attempt of a request.
type outcome int

// The outcomes. A request with the outcome again had no effect, and can be repeated through any node.
const (
	done outcome = iota
	refused
	unknown
	again
)

// caller is a client that sends requests through some nodes.
type caller struct {
	rand     *rand.Rand
	nodes    []*machine
	notify   func(apptest.Message)
	sessions map[*apptest.Daemon]*session
	// at is the session of the present request.
	at *session
}

func newCaller(random *rand.Rand, notify func(apptest.Message), nodes ...*machine) caller {
	return caller{rand: random, notify: notify, nodes: nodes, sessions: map[*apptest.Daemon]*session{}}
}

// patience is the time during which a request is repeated.
const patience = time.Minute

// until repeats a request while that can help.
func (c *caller) until(request func() outcome) outcome {
	for deadline := time.Now().Add(patience); ; {
		if c.connect(c.nodes[c.rand.IntN(len(c.nodes))]) == nil {
			if got := request(); got != again {
				return got
			}
		}
		if time.Now().After(deadline) {
			return again
		}
		<-time.After(time.Duration(5+c.rand.IntN(20)) * time.Millisecond) // the end of a lease is no event
	}
}

// connect makes the session with a node the present one.
func (c *caller) connect(m *machine) (err error) {
	d := m.process()
	if c.at = c.sessions[d]; c.at != nil && !c.at.isLost() {
		return nil
	}
	if c.at, err = openSession(d, c.notify); err == nil {
		c.sessions[d] = c.at
	}
	return err
}

// another returns a session with another node than that of the present session.
func (c *caller) another() (other *session, err error) {
	first := c.at
	defer func() { c.at = first }()
	err = errLost
	for _, i := range c.rand.Perm(len(c.nodes)) {
		if c.sessions[c.nodes[i].process()] == first {
			continue
		}
		if err = c.connect(c.nodes[i]); err == nil {
			return c.at, nil
		}
	}
	return nil, err
}

func (c *caller) disconnect() {
	for _, s := range c.sessions {
		s.close()
		<-s.lost
	}
}
