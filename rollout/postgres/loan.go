package postgres

import (
	"errors"
	"iter"
	"sync"

	"appserver/rollout/fleet"
)

// loan is the content of a new thread while Create uses it. A write can outlast the call; it fails then, because the
// content belongs to the caller again.
type loan struct {
	content fleet.Content
	// mu is held while a part of the content is read.
	mu      sync.Mutex
	isEnded bool
	// stop ends the iteration over the lines, or is nil. err is the error of the iteration.
	stop func()
	err  error
	// panicked is the value of a panic of the content, or nil.
	panicked any
}

var (
	errEnded    = errors.New("the call that creates the thread has ended")
	errPanicked = errors.New("the content of the thread panicked")
)

// end waits until no part of the content is being read. No other part is read afterwards.
func (l *loan) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isEnded = true
	l.stopLocked()
}

// lines returns a function that returns the next line, which is nil after the last one. endLines frees its memory, and
// returns its error.
func (l *loan) lines() func() ([]byte, error) {
	pull, stop := iter.Pull2(l.content.Lines)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop, l.err = stop, nil; l.isEnded {
		l.stopLocked()
	}
	return func() (line []byte, err error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		defer func() {
			if p := recover(); p != nil {
				l.panicked, l.err = p, errPanicked
				line, err = nil, errPanicked
			}
		}()
		line, err, ok := pull()
		switch {
		case l.isEnded:
			l.err = errEnded
		case err != nil:
			l.err = err
		case ok:
			return notNull(line), nil
		}
		return nil, l.err
	}
}

// passPanic passes a panic of the content to the goroutine of the caller, which can recover from it.
func (l *loan) passPanic() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.panicked != nil {
		panic(l.panicked)
	}
}

func (l *loan) endLines() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopLocked()
	return l.err
}

func (l *loan) stopLocked() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

func (l *loan) head() (h fleet.Head, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isEnded {
		return h, errEnded
	}
	return l.content.Head(), nil
}
