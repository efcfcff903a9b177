package model

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"appserver/core"
	"appserver/core/effects/model/refusal"
	"appserver/platform/excerpt"
	"appserver/protocol"
)

// failure is an error of this package that knows what it means for a turn.
type failure interface {
	error
	modelError(from source) *core.ModelError
}

// source names the provider in messages.
type source struct {
	name string
	// url is without its query and the user's name and password.
	url string
	// via is the proxy that sees the requests, and the variable that names it, or "".
	via string
}

// requestError is a request that could not be made.
type requestError struct{ error }

// connectError is a request that got no answer.
type connectError struct{ error }

// statusError is an answer with a status other than 2xx. Body is its beginning.
type statusError struct {
	status int
	header http.Header
	body   []byte
}

// reportedError is an error that came in place of an answer, or amidst it.
type reportedError struct{ problem problem }

// cutError is an answer that broke off.
type cutError struct{ error }

// barrenError is an answer that ended and holds nothing. retry is set if another answer may hold something.
type barrenError struct {
	reason string
	retry  bool
}

// repeatableError is an answer that cannot be used, and that may be another one if the request is sent again.
type repeatableError struct{ error }

// oversizedError is an answer that has no end.
type oversizedError struct{}

// Reported returns the error for an answer in which the provider reports an error: a JSON document in
// any of the shapes that providers use.
func Reported(document []byte) error { return &reportedError{parseProblem(document)} }

// ReportedText does the same as Reported, for an error that has a text only.
func ReportedText(text string) error { return &reportedError{textProblem(text)} }

// Repeatable returns the error for an answer that cannot be used, and that may be another one if it is repeated.
func Repeatable(reason error) error { return &repeatableError{reason} }

// NotJSON returns the error for an event of an answer that cannot be decoded.
func NotJSON(event []byte, err error) error {
	return fmt.Errorf("an event is not JSON (%w): %s", err, excerpt.FirstRunes(string(event), 100))
}

// CutOff returns the failure of an answer that broke off.
func CutOff(why error) *core.ModelError { return (&cutError{why}).modelError(source{}) }

// StatusFailure returns the failure of a request that a provider answered with a status other than 2xx.
func StatusFailure(provider string, status int, header http.Header, body []byte) *core.ModelError {
	return (&statusError{status, header, body}).modelError(source{name: provider, url: provider})
}

// refusalOf returns the provider's words about a request. They come with a status, or at the begin of a stream from
// gateways that reply before they know the result. It returns nil for an error that the provider did not report.
func refusalOf(err error) *refusal.Refusal {
	var answer *statusError
	var reported *reportedError
	switch {
	case errors.As(err, &answer):
		p := parseProblem(answer.body)
		return p.refusal(answer.status, cmp.Or(p.text, string(answer.body)))
	case errors.As(err, new(*repeatableError)):
		return &refusal.Refusal{Nameless: true}
	case errors.As(err, &reported):
		return reported.problem.refusal(reported.problem.inferredStatus(), reported.problem.text)
	}
	return nil
}

func (p *problem) refusal(status int, text string) *refusal.Refusal {
	return &refusal.Refusal{Status: status, Text: text, Param: p.param, Words: p.words, TooLong: p.tooLong(status)}
}

// Error returns the exceeded limit.
func (*oversizedError) Error() string {
	return fmt.Sprintf("an answer of more than %d MiB", answerLimit>>20)
}

// Error returns the reason.
func (e *barrenError) Error() string { return e.reason }

// Error returns the status.
func (e *statusError) Error() string { return fmt.Sprintf("status %d", e.status) }

// Error returns the message of the provider.
func (e *reportedError) Error() string { return e.problem.text }

// IsReported reports whether the provider reported the error in its answer.
func IsReported(err error) bool {
	reported := new(reportedError)
	return errors.As(err, &reported)
}

// modelError codes an error for the turn, without the endpoint's secrets.
func (c *Client) modelError(err error) *core.ModelError {
	var f failure
	if !errors.As(err, &f) {
		f = &requestError{err}
	}
	m := f.modelError(c.source())
	if c.endpoint.NotFound != "" && lacksPath(err) && m.Info.Kind != protocol.ErrorModelNotFound {
		m.Message += ". " + c.endpoint.NotFound
	}
	if isUnauthorized(err) {
		m.Message += c.rejectedAdvice()
	}
	if r := refusalOf(err); r != nil {
		m.Encrypted = r.OfEncrypted()
		m.Retry = m.Retry && !r.OfTemplate()
		if r.OfStore() {
			m.Message = strings.TrimSuffix(m.Message, ".") + ". " + storeAdvice
		}
	}
	m.Message = c.redacted(m.Message)
	m.Details = c.redacted(m.Details)
	return m
}

// source returns the provider for messages. A proxy is part of it if it can answer instead of the provider.
func (c *Client) source() source {
	from := source{name: c.endpoint.Name}
	if u := c.latest(); u != nil {
		from.url = shownURL(u)
		if u.Scheme == "http" {
			from.via = viaOf(c.endpoint.Transport, u)
		}
	}
	return from
}

// storeAdvice is for providers that refuse store: false.
const storeAdvice = "The server sends store: false, so that the provider keeps no conversation, and never leaves it out by " +
	"itself. If the provider keeps none anyway, set omit_store = true for it in config.toml"

// signInAdvice is for providers that reject a login, or the key in its place.
const signInAdvice = "Sign in again: run `appserver login`, or call account/login/start"

// rejectedAdvice returns a sentence for a user whose key or login the endpoint rejects, or "".
func (c *Client) rejectedAdvice() string {
	switch {
	case c.endpoint.Rejected != nil:
		return ". " + c.endpoint.Rejected()
	case c.endpoint.Account != nil:
		return ". " + signInAdvice
	}
	return ""
}

// lacksPath reports whether an error is the status of a path that the endpoint does not serve.
func lacksPath(err error) bool {
	var answer *statusError
	return errors.As(err, &answer) &&
		(answer.status == http.StatusNotFound || answer.status == http.StatusMethodNotAllowed)
}

func (e *requestError) modelError(source) *core.ModelError {
	return &core.ModelError{Message: e.Error(), Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
}

func (e *connectError) modelError(from source) *core.ModelError {
	err := e.error
	if u := new(url.Error); errors.As(err, &u) {
		err = u.Err // u names the URL with its query
	}
	m := &core.ModelError{
		Message: fmt.Sprintf("no answer from model provider %q at %s: %s", from.name, from.url, advice(err)),
		Info:    protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed},
		Details: err.Error(),
		Retry:   true,
	}
	if way := wayError(nil); errors.As(err, &way) {
		m.Message = fmt.Sprintf("model provider %q at %s cannot be reached: %v; %s", from.name, from.url, way, way.Advice())
		m.Retry = way.Temporary()
	}
	return m
}

func (e *statusError) modelError(from source) *core.ModelError {
	p := parseProblem(e.body)
	message := fmt.Sprintf("unexpected status %d %s", e.status, http.StatusText(e.status))
	message = strings.TrimSpace(message)
	if p.text != "" {
		message += ": " + p.text
	}
	message += ", url: " + from.url
	if from.via != "" {
		message += ", through the proxy " + from.via
	}
	m := statusModelError(e.status, p, message)
	m.RetryAfter = cmp.Or(retryAfter(e.header, time.Now()), p.wait)
	m.Details = excerpt.FirstRunes(string(e.body), messageLimit)
	return m
}

func (e *reportedError) modelError(source) *core.ModelError {
	text := cmp.Or(e.problem.text, "the provider reported an error without saying which")
	return streamedModelError(e.problem, text)
}

func (e *cutError) modelError(source) *core.ModelError {
	return &core.ModelError{
		Message:   "stream disconnected before completion: " + e.Error(),
		Info:      protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
		Retry:     true,
		Streaming: true,
	}
}

func (e *barrenError) modelError(from source) *core.ModelError {
	return &core.ModelError{
		Message:   fmt.Sprintf("model provider %q sent an empty answer: %s", from.name, e.reason),
		Info:      protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
		Retry:     e.retry,
		Streaming: true,
	}
}

// Unwrap returns the reason.
func (e *repeatableError) Unwrap() error { return e.error }

func (e *repeatableError) modelError(from source) *core.ModelError {
	return &core.ModelError{
		Message:   fmt.Sprintf("the answer of model provider %q cannot be used: %v", from.name, e.error),
		Info:      protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
		Retry:     true,
		Streaming: true,
	}
}

// modelError returns an error that is not retried, because the answer would be as long again.
func (e *oversizedError) modelError(from source) *core.ModelError {
	return &core.ModelError{
		Message: fmt.Sprintf("model provider %q sent %v, and was cut off: check the model, or set a limit of output tokens",
			from.name, e),
		Info:      protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
		Streaming: true,
	}
}
