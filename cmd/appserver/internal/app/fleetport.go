package app

import (
	"net/http"
	"os"
	"time"

	"go.uber.org/zap"

	"appserver/cmd/appserver/internal/metrics"
	"appserver/core/effects/config"
	"appserver/core/engine"
	"appserver/protocol"
	"appserver/server"
	"appserver/server/forward"
	"appserver/server/peer"
)

// fleetPort is the port for the other nodes of the fleet.
type fleetPort struct {
	*peer.Port
	// workspaces are the directories in which this node runs turns.
	workspaces []string
	// server and forwarder serve the links, and metrics GET /metrics. They are set before Serve.
	server    *server.Server
	forwarder *forward.Forwarder
	metrics   http.Handler
}

// openFleetPort opens the port that the configuration selects, or returns nil.
func openFleetPort(c *config.Config, log *zap.Logger) (*fleetPort, error) {
	if c.Fleet.Listen == "" {
		return nil, nil
	}
	p := &fleetPort{workspaces: c.Fleet.Workspaces}
	var err error
	p.Port, err = peer.Open(peer.Options{Listen: c.Fleet.Listen, Address: c.Fleet.Address,
		Secret: os.Getenv(c.Fleet.SecretEnv), Variable: c.Fleet.SecretEnv,
		Cert: c.Fleet.Cert, Key: c.Fleet.Key, CA: c.Fleet.CA, Silence: c.Fleet.Lease, Serve: p.serveLink,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.metrics.ServeHTTP(w, r) })})
	if err != nil {
		return nil, err
	}
	log.Info("other nodes can connect", zap.String("address", p.Address()))
	if !p.Encrypted() {
		log.Warn("links between nodes are not encrypted: everyone who can read the network has the secret of the fleet; "+
			"use wss:// in fleet.listen", zap.String("address", p.Address()))
	}
	return p, nil
}

// publish sets the sources of the metrics.
func (p *fleetPort) publish(e *engine.Engine, forwarder *forward.Forwarder, threads *openedStore) {
	p.forwarder = forwarder
	p.metrics = metrics.Source{
		Version: Version, Started: time.Now(), Database: threads.database.Stats, Fleet: threads.shared.Stats,
		Links: p.Links, Forwarded: p.forwarded,
		Threads: func() protocol.ThreadDiagnostics {
			counts, _ := e.Diagnose()
			return counts
		},
	}
}

// forwarded returns the numbers of messages that were forwarded.
func (p *fleetPort) forwarded() (requests, notifications int64) {
	s := p.forwarder.Stats()
	return s.Requests, s.Notifications
}

// dialAddress returns the address that other nodes dial, or "".
func (p *fleetPort) dialAddress() string {
	if p == nil {
		return ""
	}
	return p.Address()
}
