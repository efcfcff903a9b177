package postgres

import (
	"cmp"
	"time"
)

// Defaults of Options.
const (
	defaultLease = 5 * time.Second
	defaultLimit = 30 * time.Second
)

// Options configure a database.
type Options struct {
	// URL is the address of the server, in the form of libpq. It may name several hosts; the
	// primary is used.
	URL string
	// Variable is the environment variable that has the URL. Errors name it.
	Variable string
	// RequireSyncStandby refuses a server without synchronous standbys. A server whose setting is removed while
	// it runs stays in use until it restarts, so that turns do not fail.
	RequireSyncStandby bool
	// StandbysChanged is called when the primary has no synchronous standbys any more, and when it has some
	// again. It must not wait, and may be nil.
	StandbysChanged func(has bool)
	// KeepSchema refuses a database with an older schema, in place of a migration.
	KeepSchema bool
	// OnMigrate is called before the schema is migrated from a version to another one, or is nil.
	OnMigrate func(from, to int)
	// Lease is the time to live of a node's lease, 5 s by default.
	Lease time.Duration
	// Limit bounds the time of a write, and the time to resolve one in doubt; 30 s by default.
	Limit time.Duration
}

func (o Options) lease() time.Duration { return cmp.Or(o.Lease, defaultLease) }

func (o Options) limit() time.Duration { return cmp.Or(o.Limit, defaultLimit) }
