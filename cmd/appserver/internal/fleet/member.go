package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"go.uber.org/zap"

	"appserver/core/effects/config"
	"appserver/rollout"
	"appserver/rollout/fleet"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
	"appserver/rollout/store"
	"appserver/server/peer"
)

// Options say how a process joins the fleet of a database.
type Options struct {
	// Config selects the database and the port.
	Config *config.Config
	// Copies is the folder of the copies of threads that the database keeps.
	Copies string
	// SnapshotVersion identifies this program in snapshots of threads. Version is its version, for metrics.
	SnapshotVersion, Version string
	// Port is set if other nodes can connect, unless the configuration has no port.
	Port bool
	Log  *zap.Logger
}

// Member is this process as a node of the fleet of a database.
type Member struct {
	Options
	threads  *shared.Threads
	database *postgres.DB
	// port is nil if other nodes cannot connect.
	port *peer.Port
}

// Join binds the port, opens the database and joins its fleet.
func Join(o Options) (*Member, error) {
	port, err := openPort(o)
	if err != nil {
		return nil, err
	}
	db, err := connect(o.Config, o.Log)
	if err != nil {
		return nil, err
	}
	node := newNode(port)
	report := func(err error) {
		o.Log.Warn("problem in the database of the threads", zap.String("node", node.ID), zap.Error(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	threads, err := shared.Open(ctx, shared.Options{Driver: db, Node: node, Copies: o.Copies,
		Timeout: o.Config.Store.Timeout, SnapshotVersion: o.SnapshotVersion, Report: report})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store.url_env: the server cannot join the others in the database: %w", err),
			db.Close())
	}
	return &Member{Options: o, threads: threads, database: db, port: port}, nil
}

// Of returns a member with open threads, and without a port.
func Of(o Options, threads *shared.Threads, database *postgres.DB) *Member {
	return &Member{Options: o, threads: threads, database: database}
}

// openPort binds the port that the configuration selects, or returns nil.
func openPort(o Options) (*peer.Port, error) {
	f := o.Config.Fleet
	if !o.Port || f.Listen == "" {
		return nil, nil
	}
	p, err := peer.Open(peer.Options{Listen: f.Listen, Address: f.Address,
		Secret: os.Getenv(f.SecretEnv), Variable: f.SecretEnv,
		Cert: f.Cert, Key: f.Key, CA: f.CA, Silence: f.Lease})
	if err != nil {
		return nil, err
	}
	o.Log.Info("other nodes can connect", zap.String("address", p.Address()))
	if !p.Encrypted() {
		o.Log.Warn("links between nodes are not encrypted: everyone who can read the network has the secret of the fleet; "+
			"use wss:// in fleet.listen", zap.String("address", p.Address()))
	}
	return p, nil
}

// newNode names this process in the fleet. Other nodes dial it at the port, which may be nil.
func newNode(port *peer.Port) fleet.Node {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	incarnation := rand.Text()
	node := fleet.Node{ID: fmt.Sprintf("%s-%s", host, incarnation[:6]), Incarnation: incarnation}
	if port != nil {
		node.Address = port.Address()
	}
	return node
}

// Threads returns the threads of the database.
func (m *Member) Threads() store.Threads { return m.threads }

// Ready returns an error while threads cannot be written.
func (m *Member) Ready() error {
	if m != nil && m.threads.Stats().LeaseLeft == 0 {
		return errors.New("this server has no lease: it cannot reach the database of the threads")
	}
	return nil
}

// Redact removes secrets from a thread. Without write it counts them.
func (m *Member) Redact(id string, by rollout.Redactor, write bool) (shared.Redacted, error) {
	return m.threads.Redact(id, by, write)
}

// Leave leaves the fleet and closes the database. It returns an error if ctx ends before, because the database may not
// respond. The lease then ends by itself.
func (m *Member) Leave(ctx context.Context) error {
	if m == nil {
		return nil
	}
	left := make(chan error, 1)
	go func() { left <- errors.Join(m.threads.Close(), m.threads.Driver.Close()) }()
	select {
	case err := <-left:
		return err
	case <-ctx.Done():
		return fmt.Errorf("leave the database of the threads: %w", ctx.Err())
	}
}
