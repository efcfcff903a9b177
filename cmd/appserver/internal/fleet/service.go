package fleet

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"

	"appserver/cmd/appserver/internal/metrics"
	"appserver/protocol"
	"appserver/server"
	"appserver/server/forward"
	"appserver/server/listen"
	"appserver/server/peer"
)

// afterLease is the time after the end of a lease within which another node takes the threads of its node.
const afterLease = 3 * time.Second

// Engine runs the threads of this node.
type Engine interface {
	// IsLoaded reports whether a thread is loaded.
	IsLoaded(thread string) bool
	// NextRequest returns a new id for a request to a client.
	NextRequest() uint64
	// TakeOver ends the turn that a dead node left under way in a thread.
	TakeOver(thread string)
	// Diagnose returns the numbers of threads.
	Diagnose() (protocol.ThreadDiagnostics, protocol.IndexDiagnostics)
}

// Service serves the threads of a member to clients and to other nodes, until Leave.
type Service struct {
	member *Member
	// forwarder and listener are nil without a port.
	forwarder *forward.Forwarder
	listener  *listen.Listener
}

// Serve takes over the threads of dead nodes. With a port it also lets the clients of a server use the threads of all
// nodes, and other nodes those of this one. It does not wait.
func (m *Member) Serve(e Engine, srv *server.Server) (*Service, error) {
	if m == nil {
		return nil, nil
	}
	m.threads.WatchInterrupted(e.TakeOver)
	s := &Service{member: m}
	if m.port == nil {
		return s, nil
	}
	s.forwarder = m.forwarder(e, srv)
	numbers := metrics.Source{
		Version: m.Version, Started: time.Now(), Database: m.database.Stats, Fleet: m.threads.Stats,
		Links: m.port.Links, Forwarded: s.forwarded,
		Threads: func() protocol.ThreadDiagnostics {
			counts, _ := e.Diagnose()
			return counts
		},
	}
	var err error
	s.listener, err = m.port.Listen(peer.Service{Metrics: numbers, Link: func(ctx context.Context, link *peer.Link) error {
		return forward.Serve(ctx, srv, link, m.Config.Fleet.Workspaces)
	}})
	return s, err
}

// forwarder returns a forwarder to the nodes of the database.
func (m *Member) forwarder(e Engine, srv *server.Server) *forward.Forwarder {
	lease := m.Config.Fleet.Lease
	return forward.New(forward.Options{
		Server: srv, Node: m.threads.Node.ID, IsLoaded: e.IsLoaded, NextRequest: e.NextRequest,
		Find: func(ctx context.Context, thread string) (forward.Place, error) {
			owner, cwd, err := m.threads.Owner(ctx, thread)
			return forward.Place{Owner: forward.Node{ID: owner.ID, Address: owner.Address}, Cwd: cwd}, err
		},
		Workspaces: m.Config.Fleet.Workspaces,
		Nodes: func(ctx context.Context) (nodes []forward.Node, err error) {
			all, err := m.threads.Nodes(ctx)
			for _, n := range all {
				nodes = append(nodes, forward.Node{ID: n.ID, Address: n.Address})
			}
			return nodes, err
		},
		Dial: func(ctx context.Context, address string) (forward.Transport, error) {
			return m.port.Dial(ctx, address)
		},
		Patience: lease + afterLease, Poll: lease / 3, DialTimeout: lease,
		Report: func(err error) { m.Log.Info("problem with another node", zap.Error(err)) },
	})
}

// forwarded returns the numbers of messages that were forwarded.
func (s *Service) forwarded() (requests, notifications int64) {
	n := s.forwarder.Stats()
	return n.Requests, n.Notifications
}

// Router returns the router of the requests of clients, or nil if this node serves all of them.
func (s *Service) Router() server.Router {
	if s == nil || s.forwarder == nil {
		return nil
	}
	return s.forwarder
}

// Listener returns the listener for other nodes, or nil.
func (s *Service) Listener() *listen.Listener {
	if s == nil {
		return nil
	}
	return s.listener
}

// Close closes the links to other nodes.
func (s *Service) Close() {
	if s != nil && s.forwarder != nil {
		s.forwarder.Close()
	}
}

// Diagnose returns the state of this node in its fleet, or nil.
func (s *Service) Diagnose() *protocol.FleetDiagnostics {
	if s == nil {
		return nil
	}
	fleet, database := s.member.threads.Stats(), s.member.database.Stats()
	d := &protocol.FleetDiagnostics{
		Node: fleet.Node.ID, LeaseLeftMs: fleet.LeaseLeft.Milliseconds(), LostLeases: fleet.LostLeases,
		FailedRenewals: fleet.FailedRenewals,
		OwnedThreads:   fleet.Owned, Nodes: []protocol.FleetNode{}, SyncStandby: database.SyncStandby,
		Appends: database.Appends, FencedWrites: database.FencedWrites,
		AppendMeanMs: 1000 * database.Seconds.Mean(), AppendP99Ms: 1000 * database.Seconds.Quantile(0.99),
	}
	for _, n := range database.Failed {
		d.FailedAppends += n
	}
	for _, n := range fleet.Nodes {
		d.Nodes = append(d.Nodes, protocol.FleetNode{Node: n.ID, Address: protocol.OrNil(n.Address)})
	}
	if p := s.member.port; p != nil {
		accepted, dialed := p.Links()
		requests, notifications := s.forwarded()
		d.Address, d.Encrypted = protocol.OrNil(p.Address()), new(p.Encrypted())
		d.Links, d.Forwarded = accepted+dialed, requests+notifications
	}
	return d
}

// CheckWorkspace returns an error unless turns may run in a directory on a server with these workspaces.
func CheckWorkspace(workspaces []string, dir string) error {
	if forward.Covers(workspaces, dir) {
		return nil
	}
	return protocol.Refuse(protocol.KindCwdNotFound, "nothing runs in %s on this server: fleet.workspaces has %s; "+
		"use a server that has this directory, or another directory", dir, strings.Join(workspaces, ", "))
}
