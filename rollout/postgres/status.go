package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Status describes a database for operators.
type Status struct {
	// Server is the version of the server.
	Server string
	// Schema is the version of the schema, and KnownSchema the newest that this program knows.
	Schema, KnownSchema int
	// Standbys are the names of the connected synchronous standbys. A role without the rights of
	// pg_read_all_stats sees none.
	Standbys []string
	// StandbyNames is the server's setting synchronous_standby_names.
	StandbyNames string
	// Threads is an estimate of the number of threads.
	Threads int64
}

const statusSQL = `SELECT current_setting('server_version'), current_setting('synchronous_standby_names'),
	(SELECT greatest(reltuples, 0)::bigint FROM pg_class WHERE oid = 'thread'::regclass)`

const standbyNamesSQL = `SELECT application_name FROM pg_stat_replication
	WHERE sync_state IN ('sync', 'quorum') ORDER BY application_name`

// Status returns the status of the database.
func (db *DB) Status(ctx context.Context) (Status, error) {
	var s Status
	all, err := readMigrations()
	if err != nil {
		return s, err
	}
	s.KnownSchema = len(all)
	if s.Schema, err = schemaVersion(ctx, db.reads); err != nil {
		return s, db.explainAcquire(err)
	}
	if err := db.reads.QueryRow(ctx, statusSQL).Scan(&s.Server, &s.StandbyNames, &s.Threads); err != nil {
		return s, db.explainAcquire(err)
	}
	rows, err := db.reads.Query(ctx, standbyNamesSQL)
	if err != nil {
		return s, db.explainAcquire(err)
	}
	s.Standbys, err = pgx.CollectRows(rows, pgx.RowTo[string])
	return s, err
}
