package shared

import (
	"slices"
	"time"

	"appserver/rollout/fleet"
)

// Stats describe this node in its fleet.
type Stats struct {
	Node fleet.Node
	// LeaseLeft is the time until the node stops writing unless it renews its lease, or 0.
	LeaseLeft time.Duration
	// Renewals and FailedRenewals are attempts to renew the lease. LostLeases are the leases that could
	// not be kept.
	Renewals, FailedRenewals, LostLeases int64
	// Owned is the number of threads that the node writes.
	Owned int
	// Nodes are the nodes with a valid lease, at most as old as a lease.
	Nodes []fleet.Node
}

// Stats returns the numbers. It does not wait.
func (t *Threads) Stats() Stats {
	l := t.lease
	s := Stats{Renewals: l.renewals.Load(), FailedRenewals: l.failures.Load(), LostLeases: l.losses.Load()}
	l.mu.Lock()
	s.Node = l.node
	if !l.until.IsZero() {
		s.LeaseLeft = max(0, time.Until(l.until))
	}
	l.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	s.Owned, s.Nodes = len(t.open), slices.Clone(t.nodes)
	return s
}

// readNodes reads the nodes for Stats.
func (t *Threads) readNodes() {
	ctx, cancel := t.call()
	defer cancel()
	nodes, err := t.Driver.Nodes(ctx)
	if err != nil {
		if t.base.Err() == nil {
			t.Report(err)
		}
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes = nodes
}
