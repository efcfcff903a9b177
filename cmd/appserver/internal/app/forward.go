package app

import (
	"context"
	"time"

	"go.uber.org/zap"

	"appserver/rollout/shared"
	"appserver/server/forward"
	"appserver/server/peer"
)

// afterLease is the time after the end of a lease within which another node takes the threads of its node.
const afterLease = 3 * time.Second

// forwardTo lets the clients use the threads of all nodes, and other nodes those of this one.
func (p *process) forwardTo(port *fleetPort, threads *shared.Threads, lease time.Duration) {
	port.server = p.server
	p.forwarder = forward.New(forward.Options{
		Server: p.server, Node: threads.Node.ID, IsLoaded: p.engine.IsLoaded, NextRequest: p.engine.NextRequest,
		Find: func(ctx context.Context, thread string) (forward.Place, error) {
			owner, cwd, err := threads.Owner(ctx, thread)
			return forward.Place{Owner: forward.Node{ID: owner.ID, Address: owner.Address}, Cwd: cwd}, err
		},
		Workspaces: port.workspaces,
		Nodes: func(ctx context.Context) (nodes []forward.Node, err error) {
			all, err := threads.Nodes(ctx)
			for _, n := range all {
				nodes = append(nodes, forward.Node{ID: n.ID, Address: n.Address})
			}
			return nodes, err
		},
		Dial: func(ctx context.Context, address string) (forward.Transport, error) {
			return port.Dial(ctx, address)
		},
		Patience: lease + afterLease, Poll: lease / 3, DialTimeout: lease,
		Report: func(err error) { p.own.log.Info("problem with another node", zap.Error(err)) },
	})
	p.server.RouteBy(p.forwarder)
}

// serveLink serves a link of another node until its end.
func (p *fleetPort) serveLink(ctx context.Context, link *peer.Link) error {
	return forward.Serve(ctx, p.server, link, p.workspaces)
}
