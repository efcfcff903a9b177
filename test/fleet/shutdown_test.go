package fleet

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// TestAServerEndsAlthoughItsDatabaseDoesNotRespond suspends the database during a turn, and then ends the
// server, which would wait for the database for minutes.
func TestAServerEndsAlthoughItsDatabaseDoesNotRespond(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t)
	url := database.Database(t)
	n := apptest.StartProcess(t, command(t, t.TempDir(), url, "-c", "store.timeout_ms=300000"))
	n.Initialize()
	id := n.StartTrusted()
	n.BeginTurn(id, "run: sleep 616")
	n.UntilMethod("item/started")
	database.Pause(t)
	n.Signal(syscall.SIGTERM)
	n.AwaitExit()
	database.Resume(t)
	survivor := newNode(t, url)
	require.Eventually(t, func() bool { return survivor.ReadThread(id).Turns[0].Status == "interrupted" },
		time.Minute, 100*time.Millisecond)
}
