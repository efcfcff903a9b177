package app

import (
	"os"

	"go.uber.org/zap"

	"appserver/core/config"
	"appserver/server"
	"appserver/server/peer"
)

// fleetPort is the port for the other nodes of the fleet.
type fleetPort struct {
	*peer.Port
	// server serves the links. It is set before Serve.
	server *server.Server
}

// openFleetPort opens the port that the configuration selects, or returns nil.
func openFleetPort(c *config.Config, log *zap.Logger) (*fleetPort, error) {
	if c.Fleet.Listen == "" {
		return nil, nil
	}
	p := &fleetPort{}
	var err error
	p.Port, err = peer.Open(peer.Options{Listen: c.Fleet.Listen, Address: c.Fleet.Address,
		Secret: os.Getenv(c.Fleet.SecretEnv), Variable: c.Fleet.SecretEnv,
		Cert: c.Fleet.Cert, Key: c.Fleet.Key, CA: c.Fleet.CA, Silence: c.Fleet.Lease, Serve: p.serveLink})
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

// dialAddress returns the address that other nodes dial, or "".
func (p *fleetPort) dialAddress() string {
	if p == nil {
		return ""
	}
	return p.Address()
}
