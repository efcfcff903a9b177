package codeindex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"appserver/platform/disk"
)

const (
	// settle is the time for which changes are collected before a look.
	settle = 500 * time.Millisecond
	// restAfterLook is the pause after a look, as a multiple of the look's time. It is limited by
	// Rescan.
	restAfterLook = 20
	// watchedRescan is the factor of Rescan if all folders are watched.
	watchedRescan = 10
	// tellEvery is the minimum interval between reports of progress.
	tellEvery = 250 * time.Millisecond
)

// job indexes one repository.
type job struct {
	options    Options
	repo, root string
	cancel     context.CancelFunc
	done       chan struct{}

	// The following fields belong to the job's goroutine.
	pacer pacer
	watch *watch
	// verified has the marks of files that were read again and had not changed. They are newer than
	// the marks in the sink.
	verified map[string]mark
	// complete is set after a look that examined all files.
	complete bool
	told     time.Time
	untold   bool

	mu     sync.Mutex
	status Status
	paused chan struct{} // nil unless paused; closed to go on
	// wake has a token if a pause has begun.
	wake chan struct{}
}

func newJob(o Options, repo, root string, cancel context.CancelFunc) *job {
	j := &job{options: o, repo: repo, root: root, cancel: cancel, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	j.verified = map[string]mark{}
	j.status = Status{Repo: repo, Phase: Walking}
	j.pacer = pacer{share: o.Share, now: time.Now, rest: j.rest}
	return j
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func (j *job) stop() {
	j.cancel()
	<-j.done
}

func (j *job) pause(on bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case on && j.paused == nil:
		j.paused = make(chan struct{})
		select {
		case j.wake <- struct{}{}:
		default:
		}
	case !on && j.paused != nil:
		close(j.paused)
		j.paused = nil
	}
}

// now returns a copy of the status, which the caller can keep.
func (j *job) now() Status {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := j.status
	s.Skipped = maps.Clone(s.Skipped)
	if j.paused != nil {
		s.Phase = Paused
	}
	return s
}

// note changes the status, and reports it unless the last report was less than tellEvery ago.
func (j *job) note(change func(*Status)) {
	j.mu.Lock()
	before := j.status
	change(&j.status)
	j.untold = j.untold || !before.same(j.status)
	j.mu.Unlock()
	j.tell()
}

func (j *job) tell() {
	if j.untold && time.Since(j.told) >= tellEvery {
		j.untold, j.told = false, time.Now()
		j.options.Progress(j.now())
	}
}

// run repeats looks as long as this process has the lock of the repository.
func (j *job) run(ctx context.Context) {
	defer close(j.done)
	defer j.cancel()
	j.watch = newWatch(j.root, j.options.MaxWatches)
	defer j.watch.close()
	for ctx.Err() == nil {
		lock, err := j.lock()
		switch {
		case errors.Is(err, disk.ErrHeld):
			j.note(func(s *Status) { s.Phase, s.Error = Elsewhere, "" })
		case err != nil:
			j.fail(err)
		default:
			j.keep(ctx)
			_ = lock.Close()
		}
		j.rest(ctx, j.options.Rescan)
	}
}

// lock acquires the lock of the repository, which other processes share.
func (j *job) lock() (io.Closer, error) {
	if err := disk.OS().MkdirAll(j.options.Locks, 0o700); err != nil {
		return nil, fmt.Errorf("make %s: %w", j.options.Locks, err)
	}
	return disk.OS().Lock(filepath.Join(j.options.Locks, hashOf([]byte(j.repo))+".lock"), disk.Exclusive)
}

func (j *job) fail(err error) {
	j.note(func(s *Status) { s.Phase, s.Error = Failed, err.Error() })
}

// keep repeats looks until ctx ends.
func (j *job) keep(ctx context.Context) {
	for ctx.Err() == nil {
		more, err := j.look(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			j.fail(err)
		}
		j.rest(ctx, min(j.pacer.worked*restAfterLook, j.options.Rescan))
		if !more {
			j.await(ctx)
		}
		j.rest(ctx, settle)
	}
}

// rest waits, reports a pending status, and waits further while the job is paused.
func (j *job) rest(ctx context.Context, d time.Duration) {
	for end := time.Now().Add(d); ctx.Err() == nil; {
		j.tell()
		wait := time.Until(end)
		if paused := j.gate(); paused != nil {
			j.untold = true
			j.halt(ctx, paused)
			j.pacer.since = time.Now()
			continue
		}
		if wait <= 0 {
			return
		}
		if j.untold {
			wait = min(wait, tellEvery)
		}
		j.sleep(ctx, wait)
	}
}

func (j *job) gate() chan struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.paused
}

// halt waits for the end of a pause.
func (j *job) halt(ctx context.Context, paused chan struct{}) {
	timer := time.NewTimer(max(tellEvery-time.Since(j.told), 0))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-paused:
			j.untold = true
			return
		case <-timer.C:
			j.tell()
		}
	}
}

// sleep waits until the time has passed or a pause begins.
func (j *job) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-j.wake:
	case <-timer.C:
	}
}

// await waits until the next look is due: after a change, or after the interval between looks.
func (j *job) await(ctx context.Context) {
	wait := j.options.Rescan
	if j.watch.complete {
		wait *= watchedRescan
	}
	timer, tell := time.NewTimer(wait), time.NewTicker(tellEvery)
	defer timer.Stop()
	defer tell.Stop()
	events, failures := j.watch.events()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-failures: // the system had no room for more events
			return
		case event := <-events:
			if j.watch.matters(event) {
				return
			}
		case <-j.wake:
			return // the rest that follows is as long as the pause
		case <-tell.C:
			if j.tell(); !j.untold {
				tell.Stop()
			}
		}
	}
}
