package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock of migrations.
const migrationLock = 0x61707073

// migration is a step to a version of the schema.
type migration struct {
	version int
	sql     string
}

// readMigrations returns all migrations, in order. Version n has the file name n_topic.sql.
func readMigrations() ([]migration, error) {
	entries, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, e := range entries {
		text, err := migrations.ReadFile("migrations/" + e.Name())
		if err != nil {
			return nil, err
		}
		number, _, _ := strings.Cut(e.Name(), "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s has not the number %d", e.Name(), i+1)
		}
		all = append(all, migration{version, string(text)})
	}
	return all, nil
}

// migrate migrates the schema to the version of this program. Each migration is one transaction. ctx does not
// limit migrations.
func (o Options) migrate(ctx context.Context, c *pgx.Conn) error {
	all, err := readMigrations()
	if err != nil {
		return err
	}
	version, err := schemaVersion(ctx, c)
	switch {
	case err != nil:
		return o.explainRead(c, err)
	case version > len(all):
		return o.newerError(version, len(all))
	case version == len(all):
		return nil
	case o.KeepSchema:
		return &OpenError{Key: keyMigrate, Next: "run appserver store migrate, or set the key to true",
			Cause: fmt.Sprintf("the database has schema version %d, this program needs %d, and the key is false",
				version, len(all))}
	}
	if o.OnMigrate != nil {
		o.OnMigrate(version, len(all))
	}
	return o.apply(context.WithoutCancel(ctx), c, all[version:])
}

// apply applies migrations. It waits while another node does so.
func (o Options) apply(ctx context.Context, c *pgx.Conn, missing []migration) error {
	if err := ensureTrigrams(ctx, c); err != nil {
		return o.explainMigration(err)
	}
	for _, m := range missing {
		if err := m.apply(ctx, c); err != nil {
			return o.explainMigration(err)
		}
	}
	return nil
}

func (o Options) newerError(version, known int) error {
	return o.urlError(fmt.Sprintf("the database has schema version %d, and this program knows versions up to %d",
		version, known), "upgrade this program")
}

// Migrate migrates the schema of a database to the version of this program, and does nothing else. It returns
// the versions before and after it. An unusable database is an *OpenError. ctx does not limit the migration.
func Migrate(ctx context.Context, o Options) (from, to int, err error) {
	db, err := newDB(o)
	if err != nil {
		return 0, 0, err
	}
	c, err := db.connect(ctx, writeParams())
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if err := db.checkWrites(ctx, c); err != nil { // else the migration would wait for a standby
		return 0, 0, err
	}
	if from, err = schemaVersion(ctx, c); err != nil {
		return 0, 0, o.explainRead(c, err)
	}
	err = o.migrate(ctx, c)
	if err == nil {
		to, err = schemaVersion(context.WithoutCancel(ctx), c)
	}
	return from, to, err
}

// schemaVersion returns the version of the schema, or 0 for an empty database.
func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	var exists bool
	err = q.QueryRow(ctx, "SELECT to_regclass('schema_version') IS NOT NULL").Scan(&exists)
	if err != nil || !exists {
		return 0, err
	}
	return appliedVersion(ctx, q)
}

// appliedVersion returns the version of the schema of a database that has the table of versions.
func appliedVersion(ctx context.Context, q querier) (version int, err error) {
	err = q.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_version").Scan(&version)
	return version, err
}

// querier is a connection, a pool or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// apply applies a migration, unless another node has done so.
func (m migration) apply(ctx context.Context, c *pgx.Conn) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		// It also tells this connection of a table that another node has made since: to_regclass, which
		// schemaVersion asks, takes no lock and may answer from a cache of the connection.
		if _, err := tx.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_version (
			version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`); err != nil {
			return err
		}
		version, err := appliedVersion(ctx, tx)
		if err != nil || version >= m.version {
			return err
		}
		// A statement without arguments may consist of several ones.
		if _, err = tx.Exec(ctx, m.sql, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "INSERT INTO schema_version (version) VALUES ($1)", m.version)
		return err
	})
}

// errNoTrigrams reports that the extension cannot be created.
var errNoTrigrams = errors.New("the extension pg_trgm is missing")

// ensureTrigrams creates the extension pg_trgm. Since PostgreSQL 13, it needs the right CREATE on
// the database only.
func ensureTrigrams(ctx context.Context, c *pgx.Conn) error {
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", migrationLock); err != nil {
			return err
		}
		var exists bool
		err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm')").Scan(&exists)
		if err != nil || exists {
			return err
		}
		_, err = tx.Exec(ctx, "CREATE EXTENSION pg_trgm")
		switch codeOf(err) {
		case codeMissingRights, codeNoExtension, codeNoExtensionFile:
			return errors.Join(errNoTrigrams, err)
		}
		return err
	})
}

func (o Options) explainMigration(err error) error {
	switch {
	case errors.Is(err, errNoTrigrams):
		return o.urlError("the database has no extension pg_trgm, and it cannot be created ("+messageOf(err)+")",
			"run CREATE EXTENSION pg_trgm in it as an administrator; the package postgresql-contrib may have it")
	case codeOf(err) == codeMissingRights:
		return o.urlError("the user lacks a right ("+messageOf(err)+")",
			"make the user the owner of the database, "+
				"or grant the user CREATE on the schema public and all rights on the tables of this program")
	}
	return o.urlError("the tables cannot be upgraded ("+messageOf(err)+")",
		"correct the cause on the server, and run appserver store migrate")
}
