package fleet

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
	"appserver/test/apptest"
)

// TestAServerWithoutItsDatabaseIsNotReady stops the database until the lease has ended. A load balancer
// then chooses other servers.
func TestAServerWithoutItsDatabaseIsNotReady(t *testing.T) {
	t.Parallel()
	database := pgtest.Start(t)
	home := t.TempDir()
	node := apptest.LaunchDaemon(t, command(t, home, database.Database(t), "--listen", "ws://127.0.0.1:0"), home)
	status := func(path string) int {
		code, _ := node.Status(path, nil)
		return code
	}
	require.Equal(t, http.StatusOK, status("/readyz"))
	database.Crash(t)
	require.Eventually(t, func() bool { return status("/readyz") == http.StatusServiceUnavailable },
		time.Minute, 50*time.Millisecond)
	require.Equal(t, http.StatusOK, status("/healthz"))
	database.Restart(t)
	require.Eventually(t, func() bool { return status("/readyz") == http.StatusOK }, time.Minute, 50*time.Millisecond)
}
