package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Status describes a database for operators.
type Status struct {
	// Server is the version of the server.
	Server string
	// Schema is the version of the schema, 0 without tables. KnownSchema is the version of this program.
	Schema, KnownSchema int
	// Standbys are the names of the connected synchronous standbys. A role without the rights of
	// pg_read_all_stats sees none; AreStandbysHidden is set then.
	Standbys          []string
	AreStandbysHidden bool
	// StandbyNames is the server's setting synchronous_standby_names.
	StandbyNames string
	// Nodes are the ids of the nodes with a valid lease.
	Nodes []string
	// Threads is the number of threads.
	Threads int64
}

const statusSQL = `SELECT current_setting('server_version'), current_setting('synchronous_standby_names'),
	EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IS NULL),
	coalesce((SELECT array_agg(application_name ORDER BY application_name) FROM pg_stat_replication
		WHERE sync_state IN ('sync', 'quorum')), '{}')`

const contentSQL = `SELECT (SELECT count(*) FROM thread),
	coalesce((SELECT array_agg(id ORDER BY id) FROM node WHERE expires_at > clock_timestamp()), '{}')`

// Inspect returns the status of a database. It changes nothing, and needs no standby. A database that cannot
// be read is an *OpenError.
func Inspect(ctx context.Context, o Options) (s Status, err error) {
	o.RequireSyncStandby = false
	all, err := readMigrations()
	if err != nil {
		return s, err
	}
	db, err := newDB(o)
	if err != nil {
		return s, err
	}
	c, err := db.connect(ctx, readParams())
	if err != nil {
		return s, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	s.KnownSchema = len(all)
	if err := s.read(ctx, c); err != nil {
		return s, o.explainRead(c, err)
	}
	return s, nil
}

func (s *Status) read(ctx context.Context, c *pgx.Conn) (err error) {
	if s.Schema, err = schemaVersion(ctx, c); err != nil {
		return err
	}
	err = c.QueryRow(ctx, statusSQL).Scan(&s.Server, &s.StandbyNames, &s.AreStandbysHidden, &s.Standbys)
	if err != nil || s.Schema == 0 {
		return err
	}
	return c.QueryRow(ctx, contentSQL).Scan(&s.Threads, &s.Nodes)
}
