package fleet

import (
	"context"
	"os"
	"time"

	"go.uber.org/zap"

	"appserver/core/effects/config"
	"appserver/rollout/postgres"
)

// storeTimeout bounds the time to connect to the database of the threads, and the time to join its fleet. It
// does not limit migrations.
const storeTimeout = 15 * time.Second

// Migrate brings the schema of the configured database to the version of this program, also if servers do not. It
// returns the versions before and after it.
func Migrate(c *config.Config) (from, to int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	o := databaseOptions(c)
	o.KeepSchema = false
	return postgres.Migrate(ctx, o)
}

// Status returns the status of the configured database. It changes nothing there.
func Status(c *config.Config) (postgres.Status, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	return postgres.Inspect(ctx, databaseOptions(c))
}

// connect opens the database, and migrates it if necessary.
func connect(c *config.Config, log *zap.Logger) (*postgres.DB, error) {
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
