package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"appserver/rollout/postgres/pgtest"
)

// pair is a primary with a synchronous standby. Both have the database postgres.
type pair struct {
	t *testing.T
	// servers are the two; primary is the index of the one that writes.
	servers [2]*pgtest.Server
	primary int
}

// standbyName is the application_name of each standby.
const standbyName = "peer"

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t}
	p.servers[0] = pgtest.Start(t)
	p.requireStandby(p.servers[0])
	p.servers[1] = p.servers[0].Standby(t, standbyName)
	p.awaitStandby()
	return p
}

// url returns the URL of the database.
func (p *pair) url() string { return p.servers[0].URL("postgres", "postgres") }

// requireStandby makes commits wait for a standby. Its own standbys inherit that, so none of them ever
// writes alone.
func (p *pair) requireStandby(s *pgtest.Server) {
	s.Exec(p.t, "ALTER SYSTEM SET synchronous_standby_names = '"+standbyName+"'", "SELECT pg_reload_conf()")
}

// awaitStandby waits until the standby receives the log.
func (p *pair) awaitStandby() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, p.servers[p.primary].URL("postgres", "postgres"))
	require.NoError(p.t, err)
	defer func() { _ = c.Close(ctx) }()
	for state := ""; state != "sync"; {
		const sql = "SELECT coalesce(max(sync_state), '') FROM pg_stat_replication WHERE state = 'streaming'"
		require.NoError(p.t, c.QueryRow(ctx, sql).Scan(&state))
	}
}

// restartPrimary crashes the primary and starts it again after a pause.
func (p *pair) restartPrimary(pause func()) { p.restart(p.servers[p.primary], pause) }

// restartStandby does so with the standby. Commits wait meanwhile.
func (p *pair) restartStandby(pause func()) { p.restart(p.servers[1-p.primary], pause) }

func (p *pair) restart(s *pgtest.Server, pause func()) {
	s.Crash(p.t)
	pause()
	s.Restart(p.t)
	p.awaitStandby()
}

// failOver crashes the primary, promotes the standby, and makes a new standby of it. It returns the index
// of the new one.
func (p *pair) failOver(pause func()) (replaced int) {
	replaced = p.primary
	p.servers[replaced].Crash(p.t)
	pause()
	p.primary = 1 - replaced
	p.servers[p.primary].Exec(p.t, "SELECT pg_promote()")
	p.servers[replaced].Remove(p.t)
	p.servers[replaced] = p.servers[p.primary].Standby(p.t, standbyName)
	p.awaitStandby()
	return replaced
}
