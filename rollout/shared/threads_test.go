package shared_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/postgres"
	"appserver/rollout/postgres/pgtest"
	"appserver/rollout/shared"
	"appserver/rollout/store"
	"appserver/rollout/store/storetest"
	"appserver/test/sample"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// nodes opens nodes of fleets. Each place has its database, and each node its own copies.
func nodes(t *testing.T) storetest.Open {
	urls := map[string]string{}
	return func(t *testing.T, place string) store.Threads {
		if urls[place] == "" {
			urls[place] = pgtest.Database(t)
		}
		ctx := context.Background()
		db, err := postgres.Open(ctx, postgres.Options{URL: urls[place], Lease: 30 * time.Second})
		require.NoError(t, err)
		id := uuid.NewString()
		threads, err := shared.Open(ctx, shared.Options{Driver: db, Copies: t.TempDir(), Timeout: time.Minute,
			Report: func(err error) { t.Error(err) }, Node: fleet.Node{ID: "node-" + id[:4], Incarnation: id}})
		require.NoError(t, err)
		t.Cleanup(func() {
			require.NoError(t, threads.Close())
			require.NoError(t, db.Close())
		})
		return threads
	}
}

func copiesOf(threads store.Threads) string { return threads.(*shared.Threads).Copies }

func idOf(threads store.Threads) string { return threads.(*shared.Threads).Node.ID }

// TestDatabasesKeepThePromisesOfAStore runs the suite on PostgreSQL.
func TestDatabasesKeepThePromisesOfAStore(t *testing.T) {
	sample.NoRace(t)
	storetest.Run(t, nodes(t))
}
