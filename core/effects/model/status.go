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
	"appserver/protocol"
)

// statusOverloaded is a nonstandard status with the meaning of 503.
const statusOverloaded = 529

// statusModelError converts an HTTP status, like the reference implementation. Status 0 is an error of
// unknown kind.
func statusModelError(status int, p problem, message string) *core.ModelError {
	m := &core.ModelError{Message: message, Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
		MostTokens: mostTokens(p.text)}
	if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
		m.Message = cmp.Or(p.text, message)
	}
	switch {
	case p.tooLong(status):
		m.Info.Kind, m.Window = protocol.ErrorContextWindowExceeded, p.window()
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
		m.Loading = p.loading(status)
	}
	return m
}

func withStatus(kind string, status int) protocol.CodexErrorInfo {
	return protocol.CodexErrorInfo{Kind: kind, HTTPStatus: &status}
}

// quotaWords are the codes and types for an account without credit, in lower case. Moonshot has
// exceeded_current_quota_error, DashScope Arrearage, one-api insufficient_user_quota.
var quotaWords = []string{
	"insufficient_quota", "billing_hard_limit", "usage_limit_reached", "usage_not_included", "exceeded_current_quota",
	"insufficient_balance", "insufficient_user_quota", "insufficient_credits", "billing_not_active", "arrearage",
}

// glmQuotaCodes are the codes of GLM (Z.AI, Zhipu) for an account without credit, a locked account, and the limits of a
// day, a plan, a week or a month, as docs.z.ai/api-reference/api-code lists them. Other codes with status 429 are rate
// limits: 1302, 1303, 1305 and 1312.
var glmQuotaCodes = []int{
	1110, 1111, 1112, 1113, 1121, 1304, 1308, 1309, 1310, 1311, 1313, 1316, 1317, 1318, 1319, 1320, 1321,
}

// quotaTexts are words for the same in messages, in lower case.
var quotaTexts = []string{
	"insufficient balance", "insufficient credit", "insufficient account balance", "used all available credits",
	"usage limit", "spending limit", "limit exhausted", "余额不足", "欠费", "使用上限",
}

// exhausted reports whether the account has no credit. A retry is useless then. A message counts only if it names no
// delay.
func (p *problem) exhausted(status int) bool {
	switch {
	case status == http.StatusPaymentRequired, p.has(quotaWords...), slices.ContainsFunc(glmQuotaCodes, p.hasCode):
		return true
	case status == 0, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		return p.wait == 0 && p.says(quotaTexts)
	}
	return false
}

// says reports whether the message has one of these words. They are in lower case.
func (p *problem) says(words []string) bool {
	text := strings.ToLower(p.text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// loading reports whether the server still loads the model. llama-server answers "Loading model", the server of Hugging
// Face "Model NAME is currently loading".
func (p *problem) loading(status int) bool {
	return status == http.StatusServiceUnavailable && p.says([]string{"loading"}) && p.says([]string{"model"})
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
	m.Streaming, m.RetryAfter = true, p.wait
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

// duration returns n units, at most the largest Duration.
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
