package config

import "time"

// Store selects where threads are kept.
type Store struct {
	// Kind is StoreFiles or StorePostgres.
	Kind string `key:"kind" oneof:"files postgres"`
	// URLEnv names the environment variable with the URL of the database.
	URLEnv string `key:"url_env"`
	// RequireSyncStandby refuses a primary without synchronous standbys.
	RequireSyncStandby bool `key:"require_sync_standby"`
	// Timeout bounds each call of the database.
	Timeout time.Duration `key:"timeout_ms" min:"1000" max:"600000"`
}

// Fleet configures the servers that share a database.
type Fleet struct {
	// Lease is the time after which the threads of a server that does not answer can be taken.
	Lease time.Duration `key:"lease_ms" min:"2000" max:"60000"`
}

// The values of Store.Kind.
const (
	StoreFiles    = "files"
	StorePostgres = "postgres"
)

func defaultStore() Store {
	return Store{Kind: StoreFiles, URLEnv: "APPSERVER_STORE_URL", RequireSyncStandby: true,
		Timeout: 30 * time.Second}
}
