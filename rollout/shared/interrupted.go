package shared

import "time"

// Interrupted threads are passed on at most interruptedAtOnce at a time. The others follow after
// interruptedPause.
const (
	interruptedAtOnce = 100
	interruptedPause  = time.Second
)

// WatchInterrupted calls do with the threads that a dead node left during a turn, until Close, again if they
// could not be loaded. Call it once.
func (t *Threads) WatchInterrupted(do func(id string)) {
	t.work.Go(func() {
		due := time.NewTimer(t.ttl)
		defer due.Stop()
		for {
			t.readNodes()
			select {
			case <-t.base.Done():
				return
			case <-due.C:
			}
			due.Reset(t.passInterrupted(do))
		}
	})
}

// passInterrupted calls do with interrupted threads. It returns the time until the next call.
//
// That is when the first valid lease ends, and at most the time of a lease. A lease that is made or renewed
// meanwhile ends later. So the threads of a dead node are passed on when its lease ends. Nodes renew their
// leases early, so a fleet without dead nodes is asked at most twice in the time of a lease.
func (t *Threads) passInterrupted(do func(id string)) time.Duration {
	ctx, cancel := t.call()
	defer cancel()
	ids, next, err := t.Driver.Interrupted(ctx, interruptedAtOnce)
	if err != nil {
		if t.base.Err() == nil {
			t.Report(err)
		}
		return t.ttl / renewals
	}
	for _, id := range append(ids, t.unfinishedThreads()...) {
		do(id)
	}
	switch {
	case len(ids) == interruptedAtOnce:
		return interruptedPause
	case next == 0:
		return t.ttl
	}
	return min(next, t.ttl)
}
