package forward

import (
	"context"
	"fmt"
	"slices"

	"appserver/protocol"
	"appserver/server"
)

// helloVersion is the version of the messages on links. Nodes of another version do not talk to each other.
const helloVersion = 2

// The kinds of links.
const (
	helloClient   = "client"
	helloAudience = "audience"
)

// hello is the first message on a link, from the edge.
type hello struct {
	Version int    `json:"version"`
	Kind    string `json:"kind"`
	Node    string `json:"node"`
	// Conn is the connection of the client at the edge.
	Conn   uint64             `json:"conn"`
	Client server.ClientState `json:"client"`
}

// dial opens a link. The node must answer within DialTimeout.
func (f *Forwarder) dial(ctx context.Context, to Node, h hello) (Transport, error) {
	h.Version, h.Node = helloVersion, f.Node
	h.Client.OptOut = slices.DeleteFunc(slices.Clone(h.Client.OptOut),
		f.isNoted)
	text, err := protocol.Marshal(h)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, f.DialTimeout)
	defer cancel()
	t, err := f.Dial(ctx, to.Address)
	if f.noteSilence(to, err); err != nil {
		return nil, err
	}
	if _, err := t.Write(append(text, '\n')); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// Serve serves a link of another node until its end. This node runs turns in the workspaces.
func Serve(ctx context.Context, srv *server.Server, t server.Transport, workspaces []string) error {
	text, err := t.Next()
	if err != nil {
		return fmt.Errorf("read the hello of a node: %w", err)
	}
	var h hello
	if err := protocol.Unmarshal(text, &h); err != nil {
		return fmt.Errorf("read the hello of a node: %w", err)
	}
	kinds := map[string]server.LinkKind{helloClient: server.ClientLink, helloAudience: server.AudienceLink}
	kind, known := kinds[h.Kind]
	if h.Version != helloVersion || !known {
		return fmt.Errorf("node %s uses version %d of links, with kind %q: this node uses version %d; update the older one",
			h.Node, h.Version, h.Kind, helloVersion)
	}
	if kind == server.AudienceLink {
		first, err := announcement(workspaces)
		if err == nil {
			_, err = t.Write(first)
		}
		if err != nil {
			return fmt.Errorf("write the workspaces to a node: %w", err)
		}
	}
	return srv.ServeLink(ctx, t, server.Link{Kind: kind, Node: h.Node, Client: h.Conn}, h.Client)
}
