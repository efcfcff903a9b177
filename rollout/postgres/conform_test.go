package postgres

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet/fleettest"
	"appserver/test/sample"
)

func TestTheDriverKeepsThePromisesOfAFleet(t *testing.T) {
	sample.NoRace(t)
	t.Parallel()
	fleettest.Run(t, func(t testing.TB) fleettest.Fixture {
		db := open(t)
		change := func(t testing.TB, sql string, args ...any) {
			t.Helper()
			tag, err := db.writes.Exec(context.Background(), sql, args...)
			require.NoError(t, err)
			require.Equal(t, int64(1), tag.RowsAffected())
		}
		return fleettest.Fixture{
			Driver: db,
			Expire: func(t testing.TB, node string) {
				t.Helper()
				change(t, "UPDATE node SET expires_at = clock_timestamp() WHERE id = $1", node)
			},
			RollBack: func(t testing.TB, id string, epoch int64) {
				t.Helper()
				change(t, "UPDATE thread SET epoch = $2, node = NULL, incarnation = NULL WHERE id = $1", id, epoch)
			},
		}
	})
}
