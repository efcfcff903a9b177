package shared_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/fleet"
	"appserver/rollout/shared"
	"appserver/rollout/store"
)

// suspended is a database that does not answer.
type suspended struct{ fleet.Driver }

func (suspended) Find(ctx context.Context, _ string) (fleet.Place, error) {
	<-ctx.Done()
	return fleet.Place{}, ctx.Err()
}

func (suspended) Nodes(ctx context.Context) ([]fleet.Node, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestLookupsOfOwnersEndThoughTheDatabaseDoesNotAnswer looks up an owner and the nodes without a limit of its own.
func TestLookupsOfOwnersEndThoughTheDatabaseDoesNotAnswer(t *testing.T) {
	threads := &shared.Threads{Options: shared.Options{Driver: suspended{}, Timeout: 10 * time.Millisecond}}
	var unavailable *store.UnavailableError
	_, _, err := threads.Owner(t.Context(), threadID)
	require.ErrorAs(t, err, &unavailable)
	_, err = threads.Nodes(t.Context())
	require.ErrorAs(t, err, &unavailable)
}
