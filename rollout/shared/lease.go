package shared

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"appserver/rollout/fleet"
)

const (
	// renewals is the number of attempts to renew a lease within its time to live.
	renewals = 3
	// fencePart is the part of the time to live after which a node that could not renew its lease stops
	// writing. The rest is for the end of its commands.
	fencePart = 2.0 / 3
	// maxRetryPause is the maximum time between two attempts after one that failed.
	maxRetryPause = 250 * time.Millisecond
)

// lease is the membership of this process in the fleet.
type lease struct {
	driver fleet.Driver
	report func(error)
	// presence marks the process for the next one of its home.
	presence *presence

	mu   sync.Mutex
	node fleet.Node
	// valid ends when the lease cannot be kept, and lose ends it. The next lease has another context.
	valid context.Context
	lose  context.CancelCauseFunc
	// until is the time at which the lease is lost unless it is renewed before. It is the zero time while
	// the node has no lease. joined is closed while the node has one.
	until  time.Time
	joined chan struct{}
	// renewals, failures and losses count attempts to renew the lease that succeeded and failed, and
	// leases that were lost.
	renewals, failures, losses atomic.Int64
}

// newLease joins the fleet. It returns the time to live of leases.
func newLease(ctx context.Context, o Options, p *presence) (l *lease, ttl time.Duration, err error) {
	l = &lease{driver: o.Driver, report: o.Report, presence: p, node: o.Node, joined: make(chan struct{})}
	l.valid, l.lose = context.WithCancelCause(context.Background())
	ttl, err = l.join(ctx)
	return l, ttl, err
}

// join makes or renews the lease. Its time to live counts from the start of the call.
func (l *lease) join(ctx context.Context) (ttl time.Duration, err error) {
	began := time.Now()
	node, _ := l.present()
	if ttl, err = l.driver.Join(ctx, node); err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.until.IsZero() {
			close(l.joined)
			if err := l.presence.enter(node); err != nil {
				l.report(err)
			}
		}
		l.until = began.Add(time.Duration(float64(ttl) * fencePart))
	}
	return ttl, err
}

// present returns the node, and the context that ends when its lease is lost.
func (l *lease) present() (node fleet.Node, valid context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node, l.valid
}

// await waits until the node has a lease, and returns the node and the context that ends when the lease is
// lost.
func (l *lease) await(ctx context.Context) (node fleet.Node, valid context.Context, err error) {
	l.mu.Lock()
	joined := l.joined
	l.mu.Unlock()
	select {
	case <-joined:
		node, valid = l.present()
		return node, valid, nil
	case <-ctx.Done():
		return node, nil, fleet.ErrNotJoined
	}
}

// keep renews the lease until ctx ends. It repeats an attempt that failed soon, and reports the same error
// once. If it cannot renew the lease in time, all threads of the node are lost, and it joins again
// as another incarnation, which owns none.
func (l *lease) keep(ctx context.Context, ttl time.Duration) {
	pause, reported := ttl/renewals, ""
	due := time.NewTimer(pause)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		}
		l.loseInTime()
		next := pause
		if err := l.renew(ctx, pause); err == nil {
			reported = ""
		} else if next = min(pause/4, maxRetryPause); err.Error() != reported && ctx.Err() == nil {
			reported = err.Error()
			l.report(err)
		}
		l.loseInTime()
		due.Reset(time.Until(l.end(next)))
	}
}

// renew tries to renew the lease until a limit, and not after the time at which the lease is lost.
func (l *lease) renew(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithDeadline(ctx, l.end(limit))
	defer cancel()
	_, err := l.join(ctx)
	if err == nil {
		l.renewals.Add(1)
	} else {
		l.failures.Add(1)
	}
	return err
}

// end returns the end of a pause, or the time at which the lease is lost if that is earlier.
func (l *lease) end(pause time.Duration) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	end := time.Now().Add(pause)
	if !l.until.IsZero() && l.until.Before(end) {
		return l.until
	}
	return end
}

// loseInTime ends the ownership of all threads if the lease was not renewed in time.
func (l *lease) loseInTime() {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.until.IsZero() || now.Before(l.until) && now.Round(0).Before(l.until.Round(0)) {
		return // the time without monotonic clock passes while the machine is suspended
	}
	l.losses.Add(1)
	l.lose(errLease)
	l.valid, l.lose = context.WithCancelCause(context.Background())
	l.node.Incarnation = rand.Text()
	l.until, l.joined = time.Time{}, make(chan struct{})
}

// leave ends the lease.
func (l *lease) leave(ctx context.Context) error {
	node, _ := l.present()
	return errors.Join(l.driver.Leave(ctx, node), l.presence.leave(node.ID))
}
