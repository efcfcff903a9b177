package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// quietFactor is how many idle limits an answer may go without an event while
// keep-alive comments arrive.
const quietFactor = 3

// promptFactor is how many limits a local provider may send only comments before its answer begins: six hours with the
// default of half an hour.
const promptFactor = 12

// idleError reports a provider that sent nothing for too long.
type idleError struct{ limit time.Duration }

// Error returns the time limit.
func (e *idleError) Error() string {
	return fmt.Sprintf("idle timeout, nothing came for %v", e.limit)
}

// idleCause returns the idle error that ended ctx, or err.
func idleCause(ctx context.Context, err error) error {
	if e := new(idleError); errors.As(context.Cause(ctx), &e) {
		return e
	}
	return err
}

// idle cancels a request that shows no life. Time counts between await and stop
// only.
type idle struct {
	limit  time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer
	// quietSince is when the wait for the current event began; zero when it has not.
	quietSince time.Time
	// settled is set once no event prolongs the answer.
	settled bool
	// prompt is the limit before the first piece of the answer, in which comments count as life without an end, or 0.
	prompt time.Duration
	// shown is the limit that the running timer stands for, for its error.
	shown atomic.Int64
}

func newIdle(limit time.Duration, cancel context.CancelCauseFunc) *idle {
	return &idle{limit: limit, cancel: cancel}
}

// await starts the clock. It fails where comments have used up the event's time.
func (i *idle) await() error {
	now := time.Now()
	if i.quietSince.IsZero() {
		i.quietSince = now
	}
	limit := i.limit
	wait := min(limit, quietFactor*limit-now.Sub(i.quietSince))
	if i.prompt > 0 {
		limit, wait = i.prompt, min(i.prompt, promptFactor*i.prompt-now.Sub(i.quietSince))
	}
	if wait <= 0 {
		err := &idleError{now.Sub(i.quietSince)}
		i.cancel(err)
		return err
	}
	i.shown.Store(int64(limit))
	if i.timer == nil {
		i.timer = time.AfterFunc(wait, func() { i.cancel(&idleError{time.Duration(i.shown.Load())}) })
	} else {
		i.timer.Reset(wait)
	}
	return nil
}

// awaitPrompt sets the limit before the first piece of the answer.
func (i *idle) awaitPrompt(limit time.Duration) { i.prompt = limit }

// answered ends the time before the first piece of the answer.
func (i *idle) answered() { i.prompt = 0 }

// stop stops the clock.
func (i *idle) stop() {
	if i.timer != nil {
		i.timer.Stop()
	}
}

// event records that an event was received.
func (i *idle) event() {
	if !i.settled {
		i.quietSince = time.Time{}
	}
}

// settle lowers the limit of an answer that is whole but for what some providers send behind it:
// from now on events count as comments do.
func (i *idle) settle(limit time.Duration) {
	i.event()
	i.settled = true
	i.shorten(limit)
}

// renew starts the time limit again for the next piece.
func (i *idle) renew(limit time.Duration) {
	i.quietSince = time.Time{}
	i.shorten(limit)
}

// shorten lowers the limit.
func (i *idle) shorten(limit time.Duration) { i.limit, i.prompt = min(i.limit, limit), 0 }

// idleReader reads under an idle limit.
type idleReader struct {
	src  io.Reader
	idle *idle
	// before is called before each read, which can wait.
	before func()
}

// Read fails with *idleError if no data is received in time.
func (r *idleReader) Read(p []byte) (int, error) {
	r.before()
	if err := r.idle.await(); err != nil {
		return 0, err
	}
	defer r.idle.stop()
	return r.src.Read(p)
}
