package app

import "appserver/protocol"

// diagnose returns the state of this node in its fleet, or nil without a database.
func (s *openedStore) diagnose() *protocol.FleetDiagnostics {
	if s.shared == nil {
		return nil
	}
	fleet, database := s.shared.Stats(), s.database.Stats()
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
		d.Nodes = append(d.Nodes, protocol.FleetNode{Node: n.ID, Address: optional(n.Address)})
	}
	if p := s.port; p != nil {
		accepted, dialed := p.Links()
		requests, notifications := p.forwarded()
		d.Address, d.Encrypted = optional(p.Address()), new(p.Encrypted())
		d.Links, d.Forwarded = accepted+dialed, requests+notifications
	}
	return d
}

// optional returns nil for "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
