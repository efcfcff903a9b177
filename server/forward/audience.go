package forward

import (
	"bytes"
	"context"
	"time"

	"appserver/protocol"
)

// listened is a node to which a link for notifications exists. Its workspaces are known after its first
// message.
type listened struct {
	node       Node
	workspaces []string
	known      bool
}

// keepAudience keeps a link for notifications to every other node, until Close.
func (f *Forwarder) keepAudience() {
	due := time.NewTicker(f.Poll)
	defer due.Stop()
	for {
		nodes, err := f.Nodes(f.ctx)
		if err != nil && f.ctx.Err() == nil {
			f.Report(err)
		}
		for _, n := range nodes {
			if n.ID != f.Node && n.Address != "" && f.beginAudience(n) {
				f.work.Go(func() { f.listen(n) })
			}
		}
		select {
		case <-due.C:
		case <-f.ctx.Done():
			return
		}
	}
}

// beginAudience returns false if a link to the node exists.
func (f *Forwarder) beginAudience(n Node) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.audience[n.Address] != nil {
		return false
	}
	f.audience[n.Address] = &listened{node: n}
	return true
}

// listen sends the notifications of another node to the clients, until the link ends.
func (f *Forwarder) listen(to Node) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.audience, to.Address)
	}()
	t, err := f.dial(f.ctx, to, hello{Kind: helloAudience})
	if err != nil {
		f.reportNode("it cannot be reached", to, err)
		return
	}
	stop := context.AfterFunc(f.ctx, t.Close)
	defer stop()
	defer t.Close()
	for {
		text, err := t.Next()
		if err != nil {
			return
		}
		var m message
		switch {
		case protocol.Unmarshal(text, &m) != nil || m.Method == "" || m.ID != nil:
		case m.Method == methodWorkspaces:
			f.noteWorkspaces(to, m.Params)
		default:
			f.broadcast(m, bytes.Clone(text))
		}
	}
}

// broadcast sends a notification about a thread to the clients that do not get it through a link of
// their own.
func (f *Forwarder) broadcast(m message, text []byte) {
	thread := subject(m)
	for _, conn := range f.Server.Clients() {
		if s := f.existing(conn); s == nil || !s.follows(thread) {
			f.Server.Relay(conn, m.Method, text)
		}
	}
}

// subject returns the thread of a notification about all threads.
func subject(m message) string {
	var started protocol.ThreadStartedNotification
	if m.Method != started.NotificationMethod() {
		return threadOf(m.Params)
	}
	_ = protocol.Unmarshal(m.Params, &started) // "" selects no thread
	return started.Thread.ID
}
