package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Numbers of connections: for gathered appends, for leases, for other writes, and for reads.
const (
	appendConns = 3
	leaseConns  = 1
	writeConns  = 6
	readConns   = 8
	maxConns    = appendConns + leaseConns + writeConns + readConns
)

// maxTrust is how long a connection may be unused until it is tried before its next use.
const maxTrust = time.Second

// maxSilence is the time in ms after which the database ends a transaction whose server is silent, for example because
// it is suspended. Another server that takes a thread over may wait for its locks.
const maxSilence = "10000"

// minVersion is the oldest supported server; it is the first with lz4.
const minVersion = 140000

// useNewer is the next action of the operator of an older server.
const useNewer = "use PostgreSQL 14 or newer"

// checkInterval is a setting that older servers refuse before their version can be read.
const checkInterval = "client_connection_check_interval"

// writeParams returns the settings of connections that write. A timeout of the server would cancel
// the wait for a synchronous standby, which leaves the commit on the primary only.
func writeParams() map[string]string {
	return map[string]string{
		"statement_timeout":                   "0",
		"idle_in_transaction_session_timeout": maxSilence,
		checkInterval:                         "0",
	}
}

// appendParams returns the settings of connections for appends. Without sequential scans, the plan of
// the statement stays the same while the statistics of an empty table are still in use.
func appendParams() map[string]string {
	params := writeParams()
	params["enable_seqscan"] = "off"
	return params
}

// leaseParams returns the settings of the connection for leases. The server ends an abandoned Join that waits for
// the row of another one. One that waits for a standby waits on.
func leaseParams() map[string]string {
	params := writeParams()
	params[checkInterval] = "1000"
	return params
}

// readParams returns the settings of connections that only read. The server ends a query whose client
// has gone. Each query is planned for its arguments, because a rare text and a frequent one need
// different plans.
func readParams() map[string]string {
	return map[string]string{
		"default_transaction_read_only": "on",
		"plan_cache_mode":               "force_custom_plan",
		checkInterval:                   "2000",
	}
}

// errNoCancel is the result of an attempt to cancel a write.
var errNoCancel = errors.New("a write is not cancelled")

// link is the state of a connection that writes.
type link struct {
	// isOpen is set after the connection was established.
	isOpen atomic.Bool
	// isLocalOnly is set if the server stopped waiting for a standby.
	isLocalOnly atomic.Bool
}

const linkKey = "link"

func linkOf(c *pgx.Conn) *link { return c.PgConn().CustomData()[linkKey].(*link) }

// guard changes the configuration of one connection so that the library cannot send a request to
// cancel: the library dials again for that. A cancelled wait for a standby leaves the commit on
// the primary only.
func guard(c *pgx.ConnConfig) {
	l := &link{}
	dial := c.DialFunc
	c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		if l.isOpen.Load() {
			return nil, errNoCancel
		}
		return dial(ctx, network, address)
	}
	c.AfterConnect = func(_ context.Context, conn *pgconn.PgConn) error {
		conn.CustomData()[linkKey] = l
		l.isOpen.Store(true)
		return nil
	}
	c.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if n.Routine == "SyncRepWaitForLSN" {
			l.isLocalOnly.Store(true)
		}
	}
}

// server is the state of the server when a connection is established.
type server struct {
	version                int
	isReplica              bool
	encoding, standbyNames string
	// started is the time at which the server was started. Another server, and the next start, have another one.
	started      string
	isCommitSync bool
}

const serverQuery = `SELECT current_setting('server_version_num'), pg_is_in_recovery(),
	current_setting('server_encoding'), current_setting('synchronous_standby_names'),
	current_setting('synchronous_commit') IN ('on', 'remote_apply'), extract(epoch FROM pg_postmaster_start_time())`

func readServer(ctx context.Context, c *pgconn.PgConn) (server, error) {
	results, err := c.Exec(ctx, serverQuery).ReadAll()
	if err != nil {
		return server{}, err
	}
	row := results[0].Rows[0]
	version, err := strconv.Atoi(string(row[0]))
	return server{
		version: version, isReplica: string(row[1]) == "t", encoding: string(row[2]),
		standbyNames: string(row[3]), isCommitSync: string(row[4]) == "t",
		started: string(row[5]),
	}, err
}

// validator returns the check of each new connection. So a server that replaces the primary is
// checked as well, and of several hosts the primary is used.
func (o Options) validator(seen *standbys) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, c *pgconn.PgConn) error {
		s, err := readServer(ctx, c)
		if err != nil {
			return err
		}
		if !s.isReplica {
			seen.see(s.standbyNames)
		}
		present := o
		present.RequireSyncStandby = o.RequireSyncStandby && !seen.isAdmitted(s)
		if err := present.check(s); err != nil {
			return err
		}
		if seen.admit(s); s.isCommitSync {
			return nil
		}
		_, err = c.Exec(ctx, "SET synchronous_commit = on").ReadAll()
		return err
	}
}

// check returns an *OpenError if the server cannot be used.
func (o Options) check(s server) error {
	switch {
	case s.version < minVersion:
		return o.urlError(fmt.Sprintf("the server is PostgreSQL %d", s.version/10000),
			useNewer)
	case s.isReplica:
		return o.urlError("the server is a read replica", "name the primary in the URL")
	case s.encoding != "UTF8":
		return o.urlError("the database has the encoding "+s.encoding,
			"create a database with the encoding UTF8")
	case o.RequireSyncStandby && !namesStandbys(s.standbyNames):
		return &OpenError{Key: keyStandby, Cause: "the primary has no synchronous standbys",
			Next: "set synchronous_standby_names on the server, " +
				"or accept that a failover can lose confirmed lines with require_sync_standby = false"}
	}
	return nil
}
