package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// standbyQuery returns the number of standbys, the number of synchronous ones, and whether the
// role may see that. A role without pg_read_all_stats sees no states.
const standbyQuery = `SELECT count(*), count(*) FILTER (WHERE sync_state IN ('sync', 'quorum')),
	count(*) = count(sync_state) FROM pg_stat_replication`

// checkWrites returns an *OpenError if no synchronous standby is connected although one is required, or if
// the server does not confirm a write.
func (db *DB) checkWrites(ctx context.Context, c *pgx.Conn) error {
	if err := db.options.checkStandbys(ctx, c); err != nil {
		return err
	}
	return db.confirm(ctx, c)
}

// checkStandbys returns an *OpenError if a synchronous standby is required and none is connected.
// The first commit would wait for one.
func (o Options) checkStandbys(ctx context.Context, c *pgx.Conn) error {
	if !o.RequireSyncStandby {
		return nil
	}
	var all, synchronous int
	var isVisible bool
	if err := c.QueryRow(ctx, standbyQuery).Scan(&all, &synchronous, &isVisible); err != nil {
		return o.explainRead(c, err)
	}
	if all > 0 && !isVisible || synchronous > 0 {
		return nil
	}
	return &OpenError{Key: keyStandby, Cause: "no synchronous standby is connected to the primary",
		Next: "start a standby whose application_name is in synchronous_standby_names, " +
			"or accept that a failover can lose confirmed lines with require_sync_standby = false"}
}

// namesStandbys reports whether a value of synchronous_standby_names makes commits wait for standbys.
func namesStandbys(names string) bool { return strings.TrimSpace(names) != "" }

// standbys is whether the primary has synchronous standbys, as it was read last.
type standbys struct {
	changed func(has bool)
	mu      sync.Mutex
	// isKnown is set once it was read.
	isKnown, areSet bool
	// admitted is the start of the server that was accepted last.
	admitted string
}

// see records the present value of synchronous_standby_names, and reports a change.
func (s *standbys) see(names string) {
	areSet := namesStandbys(names)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isKnown && areSet != s.areSet && s.changed != nil {
		s.changed(areSet)
	}
	s.isKnown, s.areSet = true, areSet
}

// admit records that a server was accepted, and isAdmitted reports whether it was. The server may have had
// standbys then, and none now.
func (s *standbys) admit(of server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admitted = of.started
}

func (s *standbys) isAdmitted(of server) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.admitted != "" && s.admitted == of.started
}

func (s *standbys) has() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.areSet
}

// confirmLimit is the time in which the server must confirm the first write.
const confirmLimit = 10 * time.Second

// confirmSQL commits a record of the log that changes nothing. The commit waits for the disk and for the
// synchronous standby. A standby that is connected can be suspended.
const confirmSQL = "SELECT pg_logical_emit_message(true, 'appserver', '')"

// confirm returns an *OpenError if the server does not confirm a write in time. The write has no content,
// so it may be cancelled.
func (db *DB) confirm(ctx context.Context, c *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, confirmLimit)
	defer cancel()
	_, err := c.Exec(ctx, confirmSQL)
	switch {
	case err == nil, codeOf(err) == codeMissingRights: // the call of the function needs a right
		return nil
	case ctx.Err() == nil:
		return db.options.urlError("the server rejects a write ("+messageOf(err)+")", "correct the cause on the server")
	case db.standbys.has():
		return &OpenError{Key: keyStandby, Err: err,
			Cause: fmt.Sprintf("the standby does not confirm writes: the primary waits for it since %v", confirmLimit),
			Next: "check that the standby runs and receives the log of the primary, " +
				"or remove it from synchronous_standby_names on the primary"}
	}
	return db.options.urlError(fmt.Sprintf("the server does not confirm a write within %v", confirmLimit),
		"check the disk and the load of the server")
}
