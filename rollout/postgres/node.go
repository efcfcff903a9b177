package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"appserver/rollout/fleet"
)

const joinSQL = `INSERT INTO node (id, incarnation, address, expires_at)
	VALUES ($1, $2, $3, clock_timestamp() + $4::bigint * interval '1 microsecond')
	ON CONFLICT (id) DO UPDATE
		SET incarnation = excluded.incarnation, address = excluded.address, expires_at = excluded.expires_at
		WHERE node.incarnation = excluded.incarnation OR node.expires_at <= clock_timestamp()
	RETURNING current_setting('synchronous_standby_names')`

// Join implements fleet.Driver. It also reads whether the primary has synchronous standbys, because connections
// stay open when that changes.
func (db *DB) Join(ctx context.Context, n fleet.Node) (time.Duration, error) {
	lease := db.options.lease()
	return repeat(ctx, func(bool) (time.Duration, error) {
		return write(ctx, db.renewals(), func(ctx context.Context, c *pgx.Conn) (time.Duration, error) {
			var standbyNames string
			err := c.QueryRow(ctx, joinSQL, n.ID, n.Incarnation, n.Address, lease.Microseconds()).Scan(&standbyNames)
			switch {
			case err == nil:
				db.standbys.see(standbyNames)
			case errors.Is(err, pgx.ErrNoRows):
				err = fleet.ErrNodeInUse
			}
			return lease, err
		})
	})
}

const leaveSQL = "DELETE FROM node WHERE id = $1 AND incarnation = $2"

// Leave implements fleet.Driver.
func (db *DB) Leave(ctx context.Context, n fleet.Node) error {
	_, err := repeat(ctx, func(bool) (none, error) {
		return write(ctx, db.renewals(), func(ctx context.Context, c *pgx.Conn) (none, error) {
			_, err := c.Exec(ctx, leaveSQL, n.ID, n.Incarnation)
			return none{}, err
		})
	})
	return err
}

// none is the result of a write without one.
type none struct{}

const nodesSQL = "SELECT id, incarnation, address FROM node WHERE expires_at > clock_timestamp() ORDER BY id"

// Nodes implements fleet.Driver.
func (db *DB) Nodes(ctx context.Context) ([]fleet.Node, error) {
	rows, err := db.reads.Query(ctx, nodesSQL)
	if err != nil {
		return nil, db.explainAcquire(err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[fleet.Node])
}
