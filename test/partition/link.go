// Package partition is a network for tests. Its links fail on request.
//
// A link passes bytes on between clients and one server. A held direction loses nothing: its bytes
// wait until the link is healed, as those of TCP do when packets are lost. New connections are
// accepted even then, so a client sees a half-open connection.
//
// # Goroutines
//
// One goroutine per link accepts connections. A connection has two per direction: one reads, and one
// writes what was read. They end with the connection, and all end with the test.
package partition

import (
	"bytes"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Direction is a direction of a link.
type Direction int

// The directions: from clients to the server, and back.
const (
	Requests Direction = iota
	Answers
)

// Link is a link to a server. Any number of goroutines may use it.
type Link struct {
	listener net.Listener
	all      sync.WaitGroup

	mu sync.Mutex
	// network and address are those of the server.
	network, address string
	faults
	// changed is closed at the next change of the faults.
	changed  chan struct{}
	open     map[*connection]bool
	accepted int
	isClosed bool
}

// faults are the present faults of a link.
type faults struct {
	held  [2]bool
	delay time.Duration
	// refuses is set to close new connections.
	refuses bool
	// left are the numbers of bytes after which a connection is closed, or nil.
	left [2]*int
	// cut returns true to close a connection instead of passing the answer to a request on. It may be nil.
	cut func(request []byte) bool
}

// New returns a link to a server. It listens on a port of this machine until the end of the test.
func New(t testing.TB, network, address string) *Link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &Link{listener: listener, network: network, address: address, changed: make(chan struct{}),
		open: map[*connection]bool{}}
	l.all.Go(l.accept)
	t.Cleanup(l.close)
	return l
}

// Address returns the address for clients, as HOST:PORT.
func (l *Link) Address() string { return l.listener.Addr().String() }

// Connections returns the number of connections that were accepted so far.
func (l *Link) Connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted
}

// Retarget makes new connections lead to another server. Present ones stay.
func (l *Link) Retarget(network, address string) {
	l.change(func() { l.network, l.address = network, address })
}

// Hold delivers nothing more in a direction.
func (l *Link) Hold(d Direction) { l.change(func() { l.held[d] = true }) }

// Delay delivers each byte that much later, in both directions.
func (l *Link) Delay(d time.Duration) { l.change(func() { l.delay = d }) }

// Refuse closes all connections, and new ones as well.
func (l *Link) Refuse() {
	l.change(func() { l.refuses = true })
	l.Cut()
}

// Cut closes all connections. New ones are accepted.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeAll()
}

// closeAll closes all connections. The caller holds the lock.
func (l *Link) closeAll() {
	for c := range l.open {
		c.close()
	}
}

// CutAfter closes the connection that delivers the n-th byte from now on in a direction, after that
// byte. Later connections are not closed.
func (l *Link) CutAfter(d Direction, n int) { l.change(func() { l.left[d] = &n }) }

// CutAnswers closes the first n connections on which the server answers a request with the text. The
// answer is lost. If refuse is set, the link then closes all connections, and refuses new ones.
func (l *Link) CutAnswers(n int, text string, refuse bool) {
	l.change(func() {
		l.cut = func(request []byte) bool {
			if n == 0 || !bytes.Contains(request, []byte(text)) {
				return false
			}
			n--
			if l.refuses = refuse; refuse {
				l.closeAll()
			}
			return true
		}
	})
}

// Heal ends all faults. It delivers the bytes that were held.
func (l *Link) Heal() { l.change(func() { l.faults = faults{} }) }

// change changes the faults, and wakes the goroutines that wait for it.
func (l *Link) change(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Link) close() {
	_ = l.listener.Close()
	l.change(func() { l.isClosed = true })
	l.Cut()
	l.all.Wait()
}

func (l *Link) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		l.connect(client)
	}
}

// connect connects a client with the server, unless the link refuses it.
func (l *Link) connect(client net.Conn) {
	l.mu.Lock()
	l.accepted++
	refuses, network, address := l.refuses, l.network, l.address
	l.mu.Unlock()
	if refuses {
		_ = client.Close()
		return
	}
	server, err := net.Dial(network, address)
	if err != nil {
		_ = client.Close()
		return
	}
	c := &connection{link: l, client: client, server: server}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isClosed || l.refuses {
		c.close()
		return
	}
	l.open[c] = true
	c.start()
}
