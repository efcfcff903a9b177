package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// standbyQuery returns the number of standbys, the number of synchronous ones, and whether the
// role may see that. A role without pg_read_all_stats sees no states.
const standbyQuery = `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
	count(*) = count(sync_state) FROM pg_stat_replication`

// checkStandbys returns an *OpenError if a synchronous standby is required and none is connected.
// The first commit would wait for one.
func (o Options) checkStandbys(ctx context.Context, c *pgx.Conn) error {
	if !o.RequireSyncStandby {
		return nil
	}
	var all, synchronous int
	var isVisible bool
	if err := c.QueryRow(ctx, standbyQuery).Scan(&all, &synchronous, &isVisible); err != nil {
		return err
	}
	if all > 0 && !isVisible || synchronous > 0 {
		return nil
	}
	return &OpenError{Key: keyStandby, Cause: "no synchronous standby is connected to the primary",
		Next: "start a standby whose application_name is in synchronous_standby_names, " +
			"or accept that a failover can lose confirmed lines with require_sync_standby = false"}
}
