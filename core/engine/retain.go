package engine

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"appserver/protocol"
	"appserver/rollout"
)

const (
	// retainAfter is the start of retention if no client lists threads before. retainEvery is the
	// interval.
	retainAfter = time.Minute
	retainEvery = time.Hour
)

// Retain starts retention in the background. Call it once.
func (e *Engine) Retain(r rollout.Retention) {
	if !r.IsLimited() {
		return
	}
	e.work.Go(func() {
		next := time.NewTimer(retainAfter)
		defer next.Stop()
		listed := e.haveList
		for {
			select {
			case <-listed:
				listed = nil // only the first list
			case <-next.C:
			case <-e.ended:
				return
			}
			e.catchPanic(func() { e.retain(r) })
			next.Reset(retainEvery)
		}
	})
}

// noteListed records that a client has got a list. It does not wait.
func (e *Engine) noteListed() {
	select {
	case e.haveList <- struct{}{}:
	default:
	}
}

func (e *Engine) retain(r rollout.Retention) {
	ctx, cancel := e.untilClosed()
	defer cancel()
	e.tidied.Do(e.tidy) // otherwise a thread in two places after a kill would stay
	done := e.parts.Threads.Retain(ctx, r, time.Now(), func(t rollout.Candidate) error { return e.retire(r, t) })
	for _, t := range done.Kept {
		e.parts.Log.Info("retention leaves a thread", zap.String("thread", t.ID), zap.String("bound", t.Limit),
			zap.String("reason", t.Kept))
	}
	for _, text := range done.Unread {
		e.parts.Log.Info("retention cannot look at a file", zap.String("reason", text))
	}
	if len(done.Gone) > 0 {
		text := retainedText(r, done)
		e.parts.Log.Warn(text)
		e.broadcast(protocol.WarningNotification{Message: text})
	}
	if !r.Delete && done.Over > 0 && len(e.unannounced([]string{"history.maxBytes"})) > 0 {
		e.broadcast(protocol.WarningNotification{Message: archiveTooLarge(r, done)})
	}
}

// errLoaded is the reason why a thread is left as it is.
var errLoaded = errors.New("it is loaded")

// ifUnloaded calls do in the goroutine of a thread, unless the thread is loaded.
func (e *Engine) ifUnloaded(id string, do func() error) error {
	done := make(chan error, 1)
	_, err := e.post(id, true, request{
		do: func(*actor) { done <- errLoaded },
		absent: func(*actor) {
			err := errors.New("it panicked; details are in the server's log")
			defer func() { done <- err }()
			err = do()
		},
	})
	if err == nil {
		err = <-done
	}
	return err
}

// retire archives or deletes a thread in its goroutine, unless it is loaded.
func (e *Engine) retire(r rollout.Retention, t rollout.Candidate) error {
	if err := e.ifUnloaded(t.ID, func() error { return e.parts.Threads.Retire(r, t) }); err != nil {
		return err
	}
	if r.Delete {
		e.forgetThread(t.ID)
		e.broadcast(protocol.ThreadDeletedNotification{ThreadID: t.ID})
	} else {
		e.broadcast(protocol.ThreadArchivedNotification{ThreadID: t.ID})
	}
	return nil
}

func retainedText(r rollout.Retention, done rollout.RetentionResult) string {
	var bytes int64
	var bounds []string
	for _, t := range done.Gone {
		bytes += t.Bytes
		if !strings.Contains(strings.Join(bounds, " "), t.Limit) {
			bounds = append(bounds, t.Limit)
		}
	}
	verb := "moved to the archive"
	if r.Delete {
		verb = "deleted"
	}
	return fmt.Sprintf("%s: the threads written to longest ago were %s: %d of them, with %d bytes",
		strings.Join(bounds, " and "), verb, len(done.Gone), bytes)
}

func archiveTooLarge(r rollout.Retention, done rollout.RetentionResult) string {
	return fmt.Sprintf(`history.maxBytes is %d, and rollouts have %d bytes, of which %d are in the archive: nothing is deleted while history.retention is "archive"; `+
		`delete archived threads, or set it to "delete"`, r.MaxBytes, done.Bytes, done.ArchivedBytes)
}
