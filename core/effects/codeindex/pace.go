package codeindex

import (
	"context"
	"time"
)

const (
	// minRest is the shortest rest. Shorter ones are added up.
	minRest = 20 * time.Millisecond
	// maxRest bounds the rest after one piece of work, because the machine may have slept during it.
	maxRest = 2 * time.Second
)

// pacer adds pauses to work, so that it takes at most a share of the time.
type pacer struct {
	share float64
	now   func() time.Time
	rest  func(context.Context, time.Duration)

	since time.Time // what comes after is not accounted for
	owed  time.Duration
	// worked is the work since begin.
	worked time.Duration
}

// begin starts the accounting.
func (p *pacer) begin() { p.since, p.worked = p.now(), 0 }

// step accounts for the work since the last call, and rests if enough of it has accumulated.
func (p *pacer) step(ctx context.Context) {
	worked := p.now().Sub(p.since)
	p.worked += worked
	p.owed = min(p.owed+time.Duration(float64(worked)*(1-p.share)/p.share), maxRest)
	p.since = p.now()
	if p.owed < minRest {
		return
	}
	p.rest(ctx, p.owed)
	p.owed -= p.now().Sub(p.since) // below 0 where it took longer
	p.owed = max(p.owed, -minRest)
	p.since = p.now()
}
