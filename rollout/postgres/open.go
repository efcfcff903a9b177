package postgres

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"appserver/rollout/fleet"
)

// DB is a database. It implements fleet.Driver.
type DB struct {
	options Options
	config  *pgx.ConnConfig
	// leases, writes and reads are pools for Join, for other writes but appends, and for reads.
	leases, writes, reads *pgxpool.Pool
	// connecting counts the pools that open their first connection.
	connecting sync.WaitGroup
	appends    *gatherer
	counts     *counters
	standbys   *standbys
	// lifetime ends when Close stops waiting for writes.
	lifetime context.Context
	end      context.CancelFunc
	// running counts writes whose callers may have stopped waiting.
	running sync.WaitGroup
	// mu protects isClosed.
	mu       sync.Mutex
	isClosed bool
}

var _ fleet.Driver = (*DB)(nil)

// newDB returns a database without connections.
func newDB(o Options) (*DB, error) {
	config, err := pgx.ParseConfig(o.URL)
	if err != nil || o.URL == "" {
		return nil, o.urlError(optionsError(err))
	}
	db := &DB{options: o, config: config, counts: newCounters(), standbys: &standbys{changed: o.StandbysChanged}}
	config.ValidateConnect = o.validator(db.standbys)
	limitSilence(config)
	return db, nil
}

// Open connects to a database and migrates it. An unusable database is an *OpenError. ctx does not limit
// the migration, because a migration that is interrupted is lost.
func Open(ctx context.Context, o Options) (*DB, error) {
	db, err := newDB(o)
	if err != nil {
		return nil, err
	}
	if err = db.openPools(); err == nil {
		err = db.prepare(ctx)
	}
	if err != nil {
		db.closePools()
		return nil, err
	}
	db.lifetime, db.end = context.WithCancel(context.Background())
	db.appends = newGatherer(db)
	return db, nil
}

func (db *DB) openPools() (err error) {
	if db.leases, err = db.pool(leaseConns, leaseParams(), true); err != nil {
		return err
	}
	if db.writes, err = db.pool(writeConns, writeParams(), true); err != nil {
		return err
	}
	if db.reads, err = db.pool(readConns, readParams(), false); err != nil {
		return err
	}
	for _, p := range db.pools() {
		db.connecting.Go(func() { connectFirst(p) })
	}
	return nil
}

func (db *DB) pools() []*pgxpool.Pool { return []*pgxpool.Pool{db.leases, db.writes, db.reads} }

// closePools ends attempts to connect.
func (db *DB) closePools() {
	for _, p := range db.pools() {
		if p != nil {
			p.Close()
		}
	}
	db.connecting.Wait()
}

// connectFirst opens a connection of a pool, so that the first request does not wait for it. An error is left to that
// request.
func connectFirst(p *pgxpool.Pool) {
	if c, err := p.Acquire(context.Background()); err == nil {
		delete(c.Conn().PgConn().CustomData(), usedKey)
		c.Release()
	}
}

// prepare checks and migrates the database with a connection of its own. It writes once before the migration,
// so that a standby that does not confirm writes is an error, not a migration without end.
func (db *DB) prepare(ctx context.Context) error {
	c, err := db.connect(ctx, writeParams())
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := db.checkWrites(ctx, c); err != nil {
		return err
	}
	if err := db.options.migrate(ctx, c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.options.limit())
	defer cancel()
	return db.options.checkRights(ctx, c)
}

// connect makes a connection that writes.
func (db *DB) connect(ctx context.Context, params map[string]string) (*pgx.Conn, error) {
	config := db.config.Copy()
	maps.Copy(config.RuntimeParams, params)
	guard(config)
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, db.options.explainConnect(db.config, err)
	}
	return c, nil
}

func (db *DB) pool(size int32, params map[string]string, guarded bool) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(db.options.URL)
	if err != nil {
		return nil, db.options.urlError("the URL has options that are not valid", "correct them")
	}
	config.MaxConns = size
	config.ShouldPing = needsTrial
	config.ConnConfig.ValidateConnect = db.config.ValidateConnect
	limitSilence(config.ConnConfig)
	maps.Copy(config.ConnConfig.RuntimeParams, params)
	if guarded {
		config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
			guard(c)
			return nil
		}
	}
	return pgxpool.NewWithConfig(context.Background(), config)
}

// usedKey marks a connection that a request has used.
const usedKey = "used"

// needsTrial reports whether a connection must be tried before its next use, because the server may be gone.
func needsTrial(_ context.Context, p pgxpool.ShouldPingParams) bool {
	known := p.Conn.PgConn().CustomData()
	wasUsed := known[usedKey] != nil
	known[usedKey] = true
	return !wasUsed || p.IdleDuration > maxTrust
}

// closeWait is the time that Close waits for writes.
const closeWait = 2 * time.Second

// Close waits for the writes that were sent, at most for 2 s, and closes all connections. Writes
// that take longer are in doubt. Appends that were not sent fail with fleet.ErrClosed.
func (db *DB) Close() error {
	db.mu.Lock()
	wasClosed := db.isClosed
	db.isClosed = true
	db.mu.Unlock()
	if wasClosed {
		return nil
	}
	defer db.end()
	defer time.AfterFunc(closeWait, db.end).Stop()
	db.appends.close()
	db.running.Wait()
	db.closePools()
	return nil
}
