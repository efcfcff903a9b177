package shared

import (
	"errors"
	"time"
)

// Clean removes copies that are older than an age, or exceed a size in total.
func (t *Threads) Clean(age time.Duration, bytes int64, now time.Time) {
	t.clean(limits{age, bytes}, now)
}

// Kill releases the locks of the process, as its end does.
func (t *Threads) Kill() (err error) {
	for _, j := range t.open {
		err = errors.Join(err, j.copy.Close())
	}
	return errors.Join(err, t.lease.presence.lock.Release())
}
