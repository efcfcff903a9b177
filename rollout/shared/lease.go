package shared

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"appserver/rollout/fleet"
)

const (
	// renewals is the number of attempts to renew a lease within its time to live.
	renewals = 3
	// fencePart is the part of the time to live after which a node that could not renew its lease stops
	// writing. The rest is for the end of its commands.
	fencePart = 2.0 / 3
)

// lease is the membership of this process in the fleet.
type lease struct {
	driver fleet.Driver
	report func(error)

	mu   sync.Mutex
	node fleet.Node
	// lost is closed when the lease cannot be kept. The next lease has another channel.
	lost chan struct{}
}

// newLease joins the fleet. It returns the time until the lease must be renewed.
func newLease(ctx context.Context, o Options) (l *lease, ttl time.Duration, err error) {
	ttl, err = o.Driver.Join(ctx, o.Node)
	return &lease{driver: o.Driver, report: o.Report, node: o.Node, lost: make(chan struct{})}, ttl, err
}

// present returns the node, and the channel that is closed when its lease is lost.
func (l *lease) present() (node fleet.Node, lost <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.node, l.lost
}

// keep renews the lease until ctx ends. If it cannot, all threads of the node are lost, and it joins again
// as another incarnation, which owns none.
func (l *lease) keep(ctx context.Context, ttl time.Duration) {
	due := time.NewTicker(ttl / renewals)
	defer due.Stop()
	end := time.NewTimer(fenceAfter(ttl))
	defer end.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-end.C:
			l.lose()
			continue
		case <-due.C:
		}
		began := time.Now()
		if err := l.join(ctx, ttl/renewals); err != nil {
			if ctx.Err() == nil {
				l.report(err)
			}
			continue
		}
		end.Reset(fenceAfter(ttl) - time.Since(began))
	}
}

func fenceAfter(ttl time.Duration) time.Duration { return time.Duration(float64(ttl) * fencePart) }

func (l *lease) join(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	node, _ := l.present()
	_, err := l.driver.Join(ctx, node)
	return err
}

// lose ends the ownership of all threads.
func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.lost)
	l.lost = make(chan struct{})
	l.node.Incarnation = rand.Text()
}

// leave ends the lease.
func (l *lease) leave(ctx context.Context) error {
	node, _ := l.present()
	return l.driver.Leave(ctx, node)
}
