package forward

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
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

// broadcast sends a notification about all threads to the clients that have not got it through a link of their own.
func (f *Forwarder) broadcast(m message, text []byte) {
	if len(m.Sent) > 0 {
		var err error
		if text, err = protocol.Marshal(relayed{"2.0", m.Method, m.Params, m.EmittedAtMs}); err != nil {
			return
		}
	}
	for _, conn := range f.Server.Clients() {
		if !slices.Contains(m.Sent, conn) {
			f.Server.Relay(conn, m.Method, text)
		}
	}
}

// relayed is a notification as clients get it.
type relayed struct {
	Version     string          `json:"jsonrpc"`
	Method      string          `json:"method"`
	Params      json.RawMessage `json:"params"`
	EmittedAtMs int64           `json:"emittedAtMs"`
}
