package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"appserver/core/effects/config"
	"appserver/rollout"
	"appserver/rollout/files"
	"appserver/rollout/fleet"
	"appserver/rollout/index"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

// storeTimeout bounds the time to connect to the database of the threads, and the time to join its fleet. It
// does not limit migrations.
const storeTimeout = 15 * time.Second

// openedStore are the threads of a server.
type openedStore struct {
	store.Threads
	// index is nil without an index of rollouts.
	index *index.Index
	// shared are the threads in a database, or nil for files. port is nil unless other nodes can connect.
	shared   *shared.Threads
	database *postgres.DB
	port     *fleetPort
}

// exist reports whether a thread is stored. It is true if that cannot be found out.
func (s *openedStore) exist(thread string) bool {
	var missing *rollout.NotFoundError
	_, err := s.Where(store.Ref{ID: thread})
	return !errors.As(err, &missing)
}

// ready returns an error while threads cannot be written.
func (s *openedStore) ready() error {
	if s.shared != nil && s.shared.Stats().LeaseLeft == 0 {
		return errors.New("this server has no lease: it cannot reach the database of the threads")
	}
	return nil
}

// Close closes what the store has opened, after the engine.
func (s *openedStore) Close(ctx context.Context) error {
	switch {
	case s.index != nil:
		return s.index.Close(ctx)
	case s.shared != nil:
		return s.leave(ctx)
	}
	return nil
}

// leave leaves the fleet. It returns an error if ctx ends before, because the database may not respond.
// The lease then ends by itself.
func (s *openedStore) leave(ctx context.Context) error {
	left := make(chan error, 1)
	go func() { left <- errors.Join(s.shared.Close(), s.shared.Driver.Close()) }()
	select {
	case err := <-left:
		return err
	case <-ctx.Done():
		return fmt.Errorf("leave the database of the threads: %w", ctx.Err())
	}
}

// openStore opens the threads that the configuration selects. Only an indexed store of files opens the
// index.
//
// Other nodes can dial the node at the port, which may be nil.
func openStore(b *localHome, indexed bool, port *fleetPort) (*openedStore, error) {
	c := b.config.Current()
	if c.Store.Kind == config.StorePostgres {
		return openDatabase(c, b, port)
	}
	if !indexed || !c.Index.Enabled {
		return &openedStore{Threads: filesIn(b.rollouts, nil, b.log)}, nil
	}
	ix := indexOf(c.Index, b)
	return &openedStore{Threads: filesIn(b.rollouts, ix, b.log), index: ix}, nil
}

// openDatabase joins the fleet of a database as the node with a port, which may be nil.
func openDatabase(c *config.Config, b *localHome, port *fleetPort) (*openedStore, error) {
	db, err := connectDatabase(c, b.log)
	if err != nil {
		return nil, err
	}
	node := newNode(port.dialAddress())
	report := func(err error) {
		b.log.Warn("problem in the database of the threads", zap.String("node", node.ID), zap.Error(err))
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	threads, err := shared.Open(ctx, shared.Options{Driver: db, Node: node, Copies: copiesIn(b.home),
		Timeout: c.Store.Timeout, SnapshotVersion: program(), Report: report})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store.url_env: the server cannot join the others in the database: %w", err),
			db.Close())
	}
	return &openedStore{Threads: threads, shared: threads, database: db, port: port}, nil
}

// logStandbys logs that the primary has no synchronous standbys any more, or has some again.
func logStandbys(log *zap.Logger, has, isRequired bool) {
	next := "set synchronous_standby_names on the server of the database"
	switch {
	case has:
		log.Info("the primary of the database has synchronous standbys again")
		return
	case isRequired:
		next += "; until then the server uses it, but not after its next restart (store.require_sync_standby)"
	}
	log.Warn("the primary of the database has no synchronous standbys any more: a failover can lose confirmed lines",
		zap.String("next", next))
}

// connectDatabase opens the database, and migrates it if necessary.
func connectDatabase(c *config.Config, log *zap.Logger) (*postgres.DB, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	o := databaseOptions(c)
	o.StandbysChanged = func(has bool) { logStandbys(log, has, o.RequireSyncStandby) }
	o.OnMigrate = func(from, to int) {
		if from > 0 { // the creation of the tables takes no time
			log.Warn("the tables of the database are being upgraded, and the server listens after that",
				zap.Int("from", from), zap.Int("to", to))
		}
	}
	return postgres.Open(ctx, o)
}

func databaseOptions(c *config.Config) postgres.Options {
	return postgres.Options{URL: os.Getenv(c.Store.URLEnv), Variable: c.Store.URLEnv,
		RequireSyncStandby: c.Store.RequireSyncStandby, KeepSchema: !c.Store.AutoMigrate, Limit: c.Store.Timeout,
		Lease: c.Fleet.Lease}
}

// newNode names this process in the fleet.
func newNode(address string) fleet.Node {
	host, err := os.Hostname()
	if err != nil {
		host = "node"
	}
	incarnation := rand.Text()
	return fleet.Node{ID: fmt.Sprintf("%s-%s", host, incarnation[:6]), Incarnation: incarnation, Address: address}
}

// Stores are the threads of the home and of the database, for commands that copy threads.
type Stores struct {
	Files, Database store.Threads
	opened          *openedStore
	log             *zap.Logger
}

// errFiles reports a command for databases without one.
var errFiles = errors.New(`threads are in files: set store.kind = "postgres", or add -c store.kind=postgres`)

// MigrateStore brings the schema of the database to the version of this program, also if servers do not. It
// returns the versions before and after it.
func MigrateStore(o *Options) (from, to int, err error) {
	options, err := sharedOptions(o)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	options.KeepSchema = false
	return postgres.Migrate(ctx, options)
}

// StoreStatus returns the status of the database. It changes nothing there.
func StoreStatus(o *Options) (postgres.Status, error) {
	options, err := sharedOptions(o)
	if err != nil {
		return postgres.Status{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	return postgres.Inspect(ctx, options)
}

// sharedOptions returns the options of the configured database.
func sharedOptions(o *Options) (postgres.Options, error) {
	c, err := Config(o)
	if err == nil && c.Store.Kind != config.StorePostgres {
		err = errFiles
	}
	if err != nil {
		return postgres.Options{}, err
	}
	return databaseOptions(c), nil
}

// OpenStores opens both stores. They log nothing.
func OpenStores(o *Options) (*Stores, error) {
	log := zap.NewNop()
	b, err := loadHome(o, log)
	if err != nil {
		return nil, err
	}
	c := b.config.Current()
	if c.Store.Kind != config.StorePostgres {
		return nil, errFiles
	}
	opened, err := openDatabase(c, b, nil)
	if err != nil {
		return nil, err
	}
	return &Stores{Files: filesIn(b.rollouts, nil, log), Database: opened, opened: opened, log: log}, nil
}

// FilesIn returns the threads of another home.
func (s *Stores) FilesIn(home string) store.Threads {
	return filesIn(rollout.NewStore(rollout.OS(), home), nil, s.log)
}

// filesIn returns threads of files. The index may be nil.
func filesIn(s *rollout.Store, ix files.Index, log *zap.Logger) store.Threads {
	return files.New(s, ix, func(err error) { log.Warn("problem in the stored threads", zap.Error(err)) })
}

// Redact removes secrets from a thread of the database. Without write it counts them.
func (s *Stores) Redact(id string, by rollout.Redactor, write bool) (shared.Redacted, error) {
	return s.opened.shared.Redact(id, by, write)
}

// Close closes the database.
func (s *Stores) Close() error { return s.opened.Close(context.Background()) }
