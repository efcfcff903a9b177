package partition

import (
	"net"
	"sync"
	"time"
)

// connection is a connection through a link.
type connection struct {
	link           *Link
	client, server net.Conn
	once           sync.Once
	// request has the bytes since the last answer, while the link looks for a request. The lock of the
	// link protects it.
	request []byte
}

// part is a piece of a stream, and the time at which it was read.
type part struct {
	data []byte
	at   time.Time
}

// start starts both directions. The caller holds the lock of the link.
func (c *connection) start() {
	for d, ends := range map[Direction][2]net.Conn{Requests: {c.client, c.server}, Answers: {c.server, c.client}} {
		parts := make(chan part, 16)
		c.link.all.Go(func() { read(ends[0], parts) })
		c.link.all.Go(func() { c.deliver(d, parts, ends[1]) })
	}
}

// close closes both ends. The caller holds the lock of the link.
func (c *connection) close() {
	c.once.Do(func() {
		_ = c.client.Close()
		_ = c.server.Close()
		delete(c.link.open, c)
	})
}

// end closes both ends.
func (c *connection) end() {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	c.close()
}

// read reads parts until the connection ends.
func read(from net.Conn, parts chan<- part) {
	defer close(parts)
	for {
		buffer := make([]byte, 64<<10)
		n, err := from.Read(buffer)
		if n > 0 {
			parts <- part{buffer[:n], time.Now()}
		}
		if err != nil {
			return
		}
	}
}

// deliver writes the parts of a direction when they are due. The end of the stream is delivered as well.
func (c *connection) deliver(d Direction, parts <-chan part, to net.Conn) {
	defer func() {
		c.end()
		for range parts { // until the reader has noticed the end
		}
	}()
	for p := range parts {
		if !c.link.await(d, p.at) {
			return
		}
		data, whole := c.admit(d, p.data)
		if _, err := to.Write(data); err != nil || !whole {
			return
		}
	}
	c.link.await(d, time.Time{})
}

// await waits until a direction delivers a part that was read at a time. It returns false at the end of
// the test.
func (l *Link) await(d Direction, at time.Time) bool {
	for {
		l.mu.Lock()
		held, isClosed, changed, left := l.held[d], l.isClosed, l.changed, time.Until(at.Add(l.delay))
		l.mu.Unlock()
		switch {
		case isClosed:
			return false
		case held:
			<-changed
		case left > 0:
			select {
			case <-time.After(left):
			case <-changed:
			}
		default:
			return true
		}
	}
}

// admit returns the data to deliver, and whether the connection stays open afterwards.
func (c *connection) admit(d Direction, data []byte) (admitted []byte, whole bool) {
	c.link.mu.Lock()
	defer c.link.mu.Unlock()
	if c.isCut(d, data) {
		return nil, false
	}
	left := c.link.left[d]
	if left == nil {
		return data, true
	}
	if *left > len(data) {
		*left -= len(data)
		return data, true
	}
	c.link.left[d] = nil
	return data[:*left], false
}

// isCut reports whether the data is an answer that is to be lost. The caller holds the lock of the link.
func (c *connection) isCut(d Direction, data []byte) bool {
	if c.link.cut == nil {
		return false
	}
	if d == Requests {
		c.request = append(c.request, data...)
		return false
	}
	request := c.request
	c.request = nil
	return c.link.cut(request)
}
