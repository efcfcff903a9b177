package model

import (
	"cmp"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/pattern"
	"appserver/protocol"
)

// statusOverloaded is a nonstandard status with the meaning of 503.
const statusOverloaded = 529

// tooLongWords are the words of providers for a prompt that does not fit, in lower case.
var tooLongWords = []string{
	"maximum context length", "context window", "context length", "prompt is too long",
	"available context size", "input token count",
}

// statusModelError converts an HTTP status, like the reference implementation. Status 0 is an error of
// unknown kind.
func statusModelError(status int, p problem, message string) *core.ModelError {
	m := &core.ModelError{Message: message, Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
	switch {
	case p.tooLong(status):
		m.Info.Kind = protocol.ErrorContextWindowExceeded
	case p.exhausted(status):
		m.Info.Kind = protocol.ErrorUsageLimitExceeded
	case p.isMissingModel(status):
		m.Info.Kind = protocol.ErrorModelNotFound
		if p.has("model_not_found") || status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
			m.Message = cmp.Or(p.text, message)
		}
	case status == 0:
		m.Retry = true
	case status == http.StatusBadRequest, status == http.StatusUnprocessableEntity:
		m.Message = cmp.Or(p.text, message)
	case status == http.StatusTooManyRequests:
		m.Info = withStatus(protocol.ErrorTooManyFailedAttempts, status)
		m.Retry = true
	case status == statusOverloaded:
		m.Info.Kind = protocol.ErrorServerOverloaded
		m.Retry = true
	case status >= 500 && status != http.StatusServiceUnavailable:
		m.Info.Kind = protocol.ErrorInternalServer
		m.Retry = true
	default:
		m.Info = withStatus(protocol.ErrorHTTPConnectionFailed, status)
		m.Retry = status == http.StatusServiceUnavailable || status == http.StatusRequestTimeout
	}
	return m
}

func withStatus(kind string, status int) protocol.CodexErrorInfo {
	return protocol.CodexErrorInfo{Kind: kind, HTTPStatus: &status}
}

// tooLong reports whether the prompt did not fit. Words count only if the status is compatible.
func (p *problem) tooLong(status int) bool {
	if p.has("context_length_exceeded") {
		return true
	}
	switch status {
	case 0, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
		http.StatusInternalServerError:
		text := strings.ToLower(p.text)
		return slices.ContainsFunc(tooLongWords, func(w string) bool { return strings.Contains(text, w) })
	}
	return false
}

// exhausted reports whether the account has no credit. A retry is useless then.
func (p *problem) exhausted(status int) bool {
	return status == http.StatusPaymentRequired ||
		p.has("insufficient_quota", "billing_hard_limit", "usage_limit_reached", "usage_not_included")
}

// streamedModelError codes an error that came amidst an answer. Rate limits have a kind of their own
// there, and the code server_is_overloaded asks to choose another model, as in the reference
// implementation.
func streamedModelError(p problem, message string) *core.ModelError {
	m := statusModelError(p.inferredStatus(), p, message)
	switch {
	case p.has("cyber_policy"):
		m.Info, m.Retry = protocol.CodexErrorInfo{Kind: protocol.ErrorCyberPolicy}, false
	case p.has("server_is_overloaded"):
		m.Retry = false
	case m.Info.Kind == protocol.ErrorTooManyFailedAttempts:
		m.Info = protocol.CodexErrorInfo{Kind: protocol.ErrorRateLimitExceeded}
	}
	m.Streaming, m.RetryAfter = true, p.askedDelay()
	return m
}

// inferredStatus returns the status that an error within an answer would have had as a response, or 0
// if unknown.
func (p *problem) inferredStatus() int {
	switch {
	case p.status != 0:
		return p.status
	case p.has("rate_limit", "slow_down"):
		return http.StatusTooManyRequests
	case p.has("overloaded"):
		return statusOverloaded
	case p.has("server_error", "internal_error"):
		return http.StatusInternalServerError
	case p.has("invalid_request", "invalid_prompt"):
		return http.StatusBadRequest
	}
	return 0
}

// retryAfter returns the delay that the headers request: in milliseconds, in seconds, or until a date,
// relative to the Date of the response if it has one.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return duration(ms, time.Millisecond)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return duration(seconds, time.Second)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(0, until.Sub(now))
}

// tryAgain finds how long the words of a rate limit ask to wait: in seconds, milliseconds or minutes.
var tryAgain = pattern.New(`(?i)try again in (\d+(?:\.\d+)?)\s*(ms|s|seconds?|m|minutes?)\b`)

// askedDelay is how long the text of a problem asks to wait, 0 if it does not.
func (p *problem) askedDelay() time.Duration {
	found := tryAgain().FindStringSubmatch(p.text)
	if found == nil {
		return 0
	}
	n, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return 0
	}
	switch unit := strings.ToLower(found[2]); {
	case unit == "ms":
		return duration(n, time.Millisecond)
	case unit[0] == 'm':
		return duration(n, time.Minute)
	}
	return duration(n, time.Second)
}

// duration is n units, within what a Duration holds.
func duration(n float64, unit time.Duration) time.Duration {
	product := n * float64(unit)
	switch {
	case !(product > 0):
		return 0
	case product >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(product)
}
