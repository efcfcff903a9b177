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
	// AutoMigrate is false if the server does not change the schema of the database.
	AutoMigrate bool `key:"auto_migrate"`
}

// Fleet configures the servers that share a database.
type Fleet struct {
	// Lease is the time after which the threads of a server that does not answer can be taken.
	Lease time.Duration `key:"lease_ms" min:"2000" max:"60000"`
	// Listen is the URL of the port for other servers, with wss or ws. If it is empty, there is no port.
	// Address is the URL that the others dial, if it is another one.
	Listen  string `key:"listen"`
	Address string `key:"address"`
	// SecretEnv names the environment variable with the secret that all servers share.
	SecretEnv string `key:"secret_env"`
	// Cert and Key are PEM files with the certificate of the port. CA has the authorities of the
	// certificates of all servers.
	Cert string `key:"cert" path:""`
	Key  string `key:"key" path:""`
	CA   string `key:"ca" path:""`
	// Workspaces are the folders in which turns run on this server. If the list is empty, they run in
	// any.
	Workspaces []string `key:"workspaces" path:""`
}

func defaultFleet() Fleet {
	return Fleet{Lease: 5 * time.Second, SecretEnv: "APPSERVER_FLEET_SECRET"}
}

// checkFleet rejects a port of a server that shares no threads.
func (c *Config) checkFleet(d *decoder) {
	path := []string{"fleet", "listen"}
	if n := c.root.find(path...); n != nil && c.Fleet.Listen != "" && c.Store.Kind != StorePostgres {
		d.problem(n, path, "other servers cannot use the threads of this one: set store.kind = %q, or remove the key",
			StorePostgres)
	}
}

// The values of Store.Kind.
const (
	StoreFiles    = "files"
	StorePostgres = "postgres"
)

func defaultStore() Store {
	return Store{Kind: StoreFiles, URLEnv: "APPSERVER_STORE_URL", RequireSyncStandby: true, AutoMigrate: true,
		Timeout: 30 * time.Second}
}
