package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"appserver/core/config"
	"appserver/rollout/files"
	"appserver/rollout/fleet"
	"appserver/rollout/index"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

// storeTimeout bounds the time to connect to the database of the threads.
const storeTimeout = 15 * time.Second

// openedStore are the threads of a server.
type openedStore struct {
	store.Threads
	// index is nil without an index of rollouts.
	index *index.Index
	// leave closes the database, or is nil.
	leave func() error
}

// Close closes what the store has opened, after the engine.
func (s *openedStore) Close(ctx context.Context) error {
	switch {
	case s.index != nil:
		return s.index.Close(ctx)
	case s.leave != nil:
		return s.leave()
	}
	return nil
}

// openStore opens the threads that the configuration selects. Only an indexed store of files opens the
// index.
func openStore(own *setup, indexed bool) (*openedStore, error) {
	c := own.config.Current()
	if c.Store.Kind == config.StorePostgres {
		return openDatabase(c, own)
	}
	report := func(err error) { own.log.Warn("problem in the stored threads", zap.Error(err)) }
	if !indexed || !c.Index.Enabled {
		return &openedStore{Threads: files.New(own.rollouts, nil, report)}, nil
	}
	ix := indexOf(c.Index, own)
	return &openedStore{Threads: files.New(own.rollouts, ix, report), index: ix}, nil
}

// openDatabase joins the fleet of a database.
func openDatabase(c *config.Config, own *setup) (*openedStore, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	db, err := postgres.Open(ctx, postgres.Options{URL: os.Getenv(c.Store.URLEnv), Variable: c.Store.URLEnv,
		RequireSyncStandby: c.Store.RequireSyncStandby, Limit: c.Store.Timeout})
	if err != nil {
		return nil, err
	}
	node := newNode()
	report := func(err error) {
		own.log.Warn("problem in the database of the threads", zap.String("node", node.ID), zap.Error(err))
	}
	threads, err := shared.Open(ctx, shared.Options{Driver: db, Node: node, Copies: copiesIn(own.home),
		Timeout: c.Store.Timeout, SnapshotVersion: program(), Report: report})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &openedStore{Threads: threads, leave: func() error { return errors.Join(threads.Close(), db.Close()) }}, nil
}

// newNode names this process in the fleet.
func newNode() fleet.Node {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	incarnation := rand.Text()
	return fleet.Node{ID: fmt.Sprintf("%s-%s", host, incarnation[:6]), Incarnation: incarnation}
}
