package core

import (
	"fmt"
	"strings"
	"time"

	"appserver/protocol"
)

const (
	// maxWait bounds the delay that a provider can ask for. The user decides about longer ones.
	maxWait = 10 * time.Minute
	// maxLoading bounds how long a model is awaited that its server loads.
	maxLoading = 10 * time.Minute
	// maxLoadingDelay bounds the time between two requests to a server that loads a model.
	maxLoadingDelay = 5 * time.Second
)

// awaitModel sends the request again later if the server still loads the model, and reports whether it does.
// It takes no retry. Each attempt is announced.
func (s *step) awaitModel(err *ModelError) bool {
	t := s.active
	if t.loadingSince.IsZero() {
		t.loadingSince = s.Now
	}
	waited := s.Now.Sub(t.loadingSince)
	if waited >= maxLoading {
		return false
	}
	t.loadingPolls++
	s.notifyRetry(fmt.Sprintf("Waiting for the model to load... %s", waited.Round(time.Second)), err, nil)
	delay := min(time.Second<<min(t.loadingPolls-1, 10), maxLoadingDelay)
	s.retryAfter(Timer{Delay: max(delay, err.RetryAfter)})
	return true
}

// explained returns a failure with words for its wait: the time that the provider names, if the turn does not wait for
// it, or how long the model was awaited.
func (s *step) explained(err *ModelError) *ModelError {
	e := *err
	switch {
	case err.RetryAfter > maxWait, err.RetryAfter > 0 && !err.Retry:
		if e.Info.Kind == protocol.ErrorTooManyFailedAttempts {
			e.Info = protocol.CodexErrorInfo{Kind: protocol.ErrorRateLimitExceeded}
		}
		e.Message = fmt.Sprintf("%s. The provider asks to wait %s: start the turn again then, or choose another model",
			strings.TrimRight(err.Message, "."), waitText(err.RetryAfter, s.Now))
	case err.Loading:
		e.Message = fmt.Sprintf("%s. The model is not loaded after %s: check its server, then start the turn again",
			strings.TrimRight(err.Message, "."), maxLoading)
	}
	return &e
}

// waitText returns a text with a delay and the time at its end.
func waitText(wait time.Duration, now time.Time) string {
	const year = 365 * 24 * time.Hour
	if wait > year {
		return "more than a year"
	}
	return fmt.Sprintf("%s, until %s", wait.Round(time.Second), now.Add(wait).UTC().Format("2006-01-02 15:04:05 UTC"))
}
