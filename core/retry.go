package core

import (
	"fmt"
	"time"

	"appserver/protocol"
)

// retry schedules a retry of a failed model request, and reports whether it does.
//
// A request without an answer, or with a server error, is retried RequestMaxRetries times silently.
// After that, or if an answer broke off, the retry is announced, and the silent retries start
// again. There are at most StreamMaxRetries announced retries. If the provider names a delay, the
// retry is announced at once. A delay above maxWait is not waited for.
func (s *step) retry(err *ModelError) bool {
	t := s.active
	rules := t.env.Provider
	if !err.Loading {
		t.loadingSince, t.loadingPolls = time.Time{}, 0
	}
	switch {
	case !err.Retry, err.RetryAfter > maxWait:
		return false
	case err.Loading:
		return s.awaitModel(err)
	case !err.Streaming && !err.isLimit() && t.silent < rules.RequestMaxRetries:
		t.silent++
		s.retryAfter(Timer{Delay: retryDelay(t.silent), Spread: true})
		return true
	}
	limit := rules.StreamMaxRetries
	if !err.Streaming && err.isLimit() {
		limit = rules.limitRetries(err)
	}
	if t.retries >= limit {
		return false
	}
	t.retries++
	t.silent = 0
	wait := Timer{Delay: err.RetryAfter}
	if err.RetryAfter <= 0 {
		wait = Timer{Delay: retryDelay(t.retries), Spread: true}
	}
	s.notifyRetry(fmt.Sprintf("Reconnecting... %d/%d", t.retries, limit), err,
		&protocol.RequestRetry{Attempt: t.retries, Limit: limit, DelayMs: wait.Delay.Milliseconds()})
	s.retryAfter(wait)
	return true
}

// notifyRetry announces a retry.
func (s *step) notifyRetry(message string, err *ModelError, next *protocol.RequestRetry) {
	notice := turnError(message, err)
	notice.CodexErrorInfo = &protocol.CodexErrorInfo{
		Kind:       protocol.ErrorStreamDisconnected,
		HTTPStatus: err.Info.HTTPStatus,
	}
	notice.AdditionalDetails = &err.Message
	s.notify(protocol.ErrorNotification{Error: *notice, WillRetry: true, ThreadID: s.state.ID, TurnID: s.active.id,
		Retry: next})
}

func (s *step) retryAfter(wait Timer) {
	wait.ID = s.newEffect()
	s.becomeRetrying(wait.ID)
	s.effect(wait)
}

// isLimit reports whether the provider asks to wait: by its status, or by a delay.
func (e *ModelError) isLimit() bool {
	return e.RetryAfter > 0 || e.Info.HTTPStatus != nil && *e.Info.HTTPStatus == tooManyRequests
}

// ProviderInfo describes a model provider.
type ProviderInfo struct {
	// RequestMaxRetries bounds the silent retries of requests without an answer, or with a server
	// error. StreamMaxRetries bounds the announced retries.
	RequestMaxRetries, StreamMaxRetries int
	// ContextWindow is the model's context window in tokens, or nil if it is not known.
	ContextWindow *int64
	// WindowConfigured is set if the user set the window, which no report changes then.
	WindowConfigured bool
	// CachedPriceRatio is the price of a cached input token over that of another one.
	CachedPriceRatio float64
	// CacheRetention is how long the provider keeps an unused prefix in its cache at most.
	CacheRetention time.Duration
}

// limitRetries bounds retries of requests that the provider delayed. A server error is retried if
// either kind of retries is allowed.
func (p *ProviderInfo) limitRetries(err *ModelError) int {
	if err.Info.HTTPStatus != nil && *err.Info.HTTPStatus == tooManyRequests {
		return p.RequestMaxRetries
	}
	return max(p.RequestMaxRetries, p.StreamMaxRetries)
}

// tooManyRequests is the status of a rate limit.
const tooManyRequests = 429

// retryDelay doubles from 200 ms to at most 10 s.
func retryDelay(attempt int) time.Duration {
	return min(200*time.Millisecond<<min(attempt-1, 10), 10*time.Second)
}
