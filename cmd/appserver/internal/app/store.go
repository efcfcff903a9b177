package app

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"appserver/cmd/appserver/internal/fleet"
	"appserver/core/effects/config"
	"appserver/rollout"
	"appserver/rollout/files"
	"appserver/rollout/index"
	"appserver/rollout/postgres"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

// openedStore has the threads of a server, and their index or database.
type openedStore struct {
	threads store.Threads
	// index is nil without an index of rollouts. member is nil for files.
	index  *index.Index
	member *fleet.Member
}

// exist reports whether a thread is stored. It is true if that cannot be found out.
func (s *openedStore) exist(thread string) bool {
	var missing *rollout.NotFoundError
	_, err := s.threads.Where(store.Ref{ID: thread})
	return !errors.As(err, &missing)
}

// Close closes what the store has opened, after the engine.
func (s *openedStore) Close(ctx context.Context) error {
	if s.index != nil {
		return s.index.Close(ctx)
	}
	return s.member.Leave(ctx)
}

// openStore opens the threads that the configuration selects. For a server, it opens the index of files, or the port
// for other nodes of a database.
func openStore(local *localHome, serves bool) (*openedStore, error) {
	c := local.config.Current()
	switch {
	case c.Store.Kind == config.StorePostgres:
		member, err := fleet.Join(memberOptions(local, serves))
		if err != nil {
			return nil, err
		}
		return &openedStore{threads: member.Threads(), member: member}, nil
	case !serves || !c.Index.Enabled:
		return &openedStore{threads: filesIn(local.rollouts, nil, local.log)}, nil
	}
	ix := indexOf(c.Index, local)
	return &openedStore{threads: filesIn(local.rollouts, ix, local.log), index: ix}, nil
}

// memberOptions returns the options to join the fleet of the database.
func memberOptions(local *localHome, port bool) fleet.Options {
	return fleet.Options{Config: local.config.Current(), Copies: copiesIn(local.home), SnapshotVersion: program(),
		Version: Version, Port: port, Log: local.log}
}

// Stores are the threads of the home and of the database, for commands that copy threads.
type Stores struct {
	Files, Database store.Threads
	member          *fleet.Member
	log             *zap.Logger
}

// errFiles reports a command for databases without one.
var errFiles = errors.New(`threads are in files: set store.kind = "postgres", or add -c store.kind=postgres`)

// MigrateStore brings the schema of the database to the version of this program, also if servers do not. It
// returns the versions before and after it.
func MigrateStore(o *Options) (from, to int, err error) {
	c, err := databaseConfig(o)
	if err != nil {
		return 0, 0, err
	}
	return fleet.Migrate(c)
}

// StoreStatus returns the status of the database. It changes nothing there.
func StoreStatus(o *Options) (postgres.Status, error) {
	c, err := databaseConfig(o)
	if err != nil {
		return postgres.Status{}, err
	}
	return fleet.Status(c)
}

// databaseConfig returns the configuration if it selects a database.
func databaseConfig(o *Options) (*config.Config, error) {
	c, err := Config(o)
	if err == nil && c.Store.Kind != config.StorePostgres {
		err = errFiles
	}
	return c, err
}

// OpenStores opens both stores. They log nothing.
func OpenStores(o *Options) (*Stores, error) {
	log := zap.NewNop()
	local, err := loadHome(o, log)
	if err != nil {
		return nil, err
	}
	if local.config.Current().Store.Kind != config.StorePostgres {
		return nil, errFiles
	}
	member, err := fleet.Join(memberOptions(local, false))
	if err != nil {
		return nil, err
	}
	return &Stores{Files: filesIn(local.rollouts, nil, log), Database: member.Threads(), member: member, log: log}, nil
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
	return s.member.Redact(id, by, write)
}

// Close closes the database.
func (s *Stores) Close() error { return s.member.Leave(context.Background()) }
