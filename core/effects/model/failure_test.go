package model_test

import (
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

// answerWith serves one status, with headers given as "Name: value".
func answerWith(status int, body string, headers ...string) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			rw.Header().Set(name, value)
		}
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	}
}

func failureOf(t *testing.T, w encoding, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *core.ModelError {
	t.Helper()
	pieces, _, err := modeltest.Ask(t.Context(), w.serve(t, handler, edit...), modeltest.UserSays("hi"))
	require.Empty(t, pieces)
	return modeltest.Failed(t, err)
}

func TestStatuses(t *testing.T) { eachWire(t, testStatuses) }

func testStatuses(t *testing.T, w encoding) {
	const body = `{"error":{"message":"because","type":"x","code":"y"}}`
	for name, c := range map[string]struct {
		status  int
		body    string
		info    string
		retry   bool
		message string
	}{
		"400":                {400, body, `"other"`, false, "because"},
		"400 without a body": {400, "", `"other"`, false, "unexpected status 400 Bad Request, url: URL"},
		"422":                {422, body, `"other"`, false, "because"},
		"401": {401, body, `{"httpConnectionFailed":{"httpStatusCode":401}}`, false,
			"unexpected status 401 Unauthorized: because, url: URL"},
		"403": {403, body, `{"httpConnectionFailed":{"httpStatusCode":403}}`, false,
			"unexpected status 403 Forbidden: because, url: URL"},
		"404": {404, body, `{"httpConnectionFailed":{"httpStatusCode":404}}`, false,
			"unexpected status 404 Not Found: because, url: URL"},
		"418": {418, body, `{"httpConnectionFailed":{"httpStatusCode":418}}`, false,
			"unexpected status 418 I'm a teapot: because, url: URL"},
		"408": {408, body, `{"httpConnectionFailed":{"httpStatusCode":408}}`, true,
			"unexpected status 408 Request Timeout: because, url: URL"},
		"429": {429, body, `{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, true,
			"unexpected status 429 Too Many Requests: because, url: URL"},
		"429 used up": {429, `{"error":{"message":"pay","code":"insufficient_quota"}}`, `"usageLimitExceeded"`,
			false, "unexpected status 429 Too Many Requests: pay, url: URL"},
		"429 of Moonshot, used up": {429, `{"error":{"message":"Your account org-1 <ak-1> is suspended due to insufficient ` +
			`balance, please recharge","type":"exceeded_current_quota_error"}}`, `"usageLimitExceeded"`, false, "suspended"},
		"429 of GLM, used up": {429, `{"error":{"code":"1113","message":"Recharge."}}`, `"usageLimitExceeded"`, false,
			"Recharge."},
		"429 of GLM, code is a number": {429, `{"error":{"code":1310,"message":"m"}}`, `"usageLimitExceeded"`, false, "m"},
		"429 of GLM, rate": {429, `{"error":{"code":"1302","message":"m"}}`,
			`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, true, "m"},
		"429 of Mistral, rate": {429, `{"message":"m","type":"rate_limited","code":"1300"}`,
			`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`, true, "m"},
		"429 passed on": {429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"{\"error\":` +
			`{\"message\":\"suspended due to insufficient balance\"}}"}}}`, `"usageLimitExceeded"`, false, "suspended"},
		"429 used up, by words": {429, `{"error":{"message":"You've reached your usage limit for this period"}}`,
			`"usageLimitExceeded"`, false, "usage limit"},
		"402": {402, body, `"usageLimitExceeded"`, false,
			"unexpected status 402 Payment Required: because, url: URL"},
		"500": {500, body, `"internalServerError"`, true,
			"unexpected status 500 Internal Server Error: because, url: URL"},
		"502": {502, body, `"internalServerError"`, true,
			"unexpected status 502 Bad Gateway: because, url: URL"},
		"503": {503, body, `{"httpConnectionFailed":{"httpStatusCode":503}}`, true,
			"unexpected status 503 Service Unavailable: because, url: URL"},
		"504": {504, body, `"internalServerError"`, true,
			"unexpected status 504 Gateway Timeout: because, url: URL"},
		"529": {529, body, `"serverOverloaded"`, true, "unexpected status 529: because, url: URL"},
		"304": {304, "", `{"httpConnectionFailed":{"httpStatusCode":304}}`, false,
			"unexpected status 304 Not Modified, url: URL"},
		"too long, by code": {400, `{"error":{"message":"no","code":"context_length_exceeded"}}`,
			`"contextWindowExceeded"`, false, "no"},
		"too long, by words": {400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`,
			`"contextWindowExceeded"`, false, "maximum context length"},
		"too long, llama.cpp": {400, `{"error":{"message":"the request exceeds the available context size"}}`,
			`"contextWindowExceeded"`, false, "available context size"},
		"too long, Anthropic": {413, `{"error":{"message":"Prompt is too long"}}`, `"contextWindowExceeded"`, false,
			"Prompt is too long"},
		"no such model": {404, `{"error":{"message":"no x","code":"model_not_found"}}`, `"modelNotFound"`, false,
			"no x"},
		"no such model, 400": {400, `{"error":{"message":"no x","code":"model_not_found"}}`, `"modelNotFound"`, false,
			"no x"},
		"words in other cases": {403, `{"error":{"message":"context window plans are not for you"}}`,
			`{"httpConnectionFailed":{"httpStatusCode":403}}`, false, "context window plans"},
	} {
		t.Run(name, func(t *testing.T) {
			var base string
			m := failureOf(t, w, answerWith(c.status, c.body), func(e *model.Endpoint) { base = e.BaseURL })
			info, err := json.Marshal(m.Info)
			require.NoError(t, err)
			require.Equal(t, c.info, string(info))
			require.Equal(t, c.retry, m.Retry)
			require.False(t, m.Streaming)
			require.Zero(t, m.RetryAfter)
			require.Contains(t, m.Message, strings.ReplaceAll(c.message, "URL", base+"/"+w.path))
		})
	}
}

func TestErrorBodies(t *testing.T) { eachWire(t, testErrorBodies) }

func testErrorBodies(t *testing.T, w encoding) {
	for name, c := range map[string]struct{ body, want string }{
		"message":         {`{"error":{"message":"a b"}}`, "a b"},
		"text":            {`{"error":"a b"}`, "a b"},
		"message at top":  {`{"message":"a b"}`, "a b"},
		"status and text": {`{"error":"Bad Request","message":"a b"}`, "a b"},
		"detail":          {`{"detail":"a b"}`, "a b"},
		"list of details": {`{"detail":[{"loc":["body"],"msg":"a"},{"msg":"b"}]}`, "a; b"},
		"list":            {`[{"error":{"message":"a b"}}]`, "a b"},
		"errors":          {`{"errors":[{"title":"a b"}]}`, "a b"},
		"passed on": {`{"error":{"message":"Provider returned error","metadata":{"raw":"a b"}}}`,
			"Provider returned error: a b"},
		"words only": {`{"error":{"code":"A_B"}}`, "a_b"},
		"HTML with a title": {"<!DOCTYPE html>\n<html><head><title>\n a &amp; b </title></head><body>x</body></html>",
			"a & b"},
		"HTML without":   {"<h1>a</h1><script>x()</script><p>b", "a b"},
		"plain":          {"  a\n b ", "a b"},
		"not UTF-8":      {"a \xff b", "a \ufffd b"},
		"deeply nested":  {strings.Repeat(`{"error":`, 20000) + "1", `{"error":`},
		"deep but valid": {strings.Repeat(`{"error":`, 100) + `"x"` + strings.Repeat("}", 100), ""},
		"nothing":        {"", ""},
		"null":           {"null", ""},
		"a number":       {"17", ""},
		"long":           {`{"error":"` + strings.Repeat("é", 100_000) + `"}`, strings.Repeat("é", 900)},
	} {
		t.Run(name, func(t *testing.T) {
			m := failureOf(t, w, answerWith(403, c.body))
			require.Contains(t, m.Message, "unexpected status 403 Forbidden")
			require.Contains(t, m.Message, c.want)
			require.Less(t, utf8.RuneCountInString(m.Message), 1200)
			require.Less(t, utf8.RuneCountInString(m.Details), 1200)
			require.True(t, utf8.ValidString(m.Message))
			require.NotContains(t, m.Message, "%!")
		})
	}
}

func TestRetryAfter(t *testing.T) { eachWire(t, testRetryAfter) }

func testRetryAfter(t *testing.T, w encoding) {
	date := func(after time.Duration) string {
		return time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC).Add(after).Format(http.TimeFormat)
	}
	for name, c := range map[string]struct {
		headers []string
		want    time.Duration
	}{
		"seconds":          {[]string{"Retry-After: 37"}, 37 * time.Second},
		"part of a second": {[]string{"Retry-After: 0.25"}, 250 * time.Millisecond},
		"milliseconds":     {[]string{"Retry-After: 2", "Retry-After-Ms: 1234"}, 1234 * time.Millisecond},
		"date":             {[]string{"Date: " + date(0), "Retry-After: " + date(90*time.Second)}, 90 * time.Second},
		"date gone by":     {[]string{"Date: " + date(0), "Retry-After: " + date(-time.Hour)}, 0},
		"negative":         {[]string{"Retry-After: -5"}, 0},
		"nonsense":         {[]string{"Retry-After: soon"}, 0},
		"absent":           {nil, 0},
		"beyond all":       {[]string{"Retry-After: 1e300"}, 1<<63 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, status := range []int{429, 503} {
				m := failureOf(t, w, answerWith(status, "", c.headers...))
				require.True(t, m.Retry)
				require.Equal(t, c.want, m.RetryAfter)
			}
		})
	}
	t.Run("date by our clock", func(t *testing.T) {
		provider := w.client(model.Endpoint{BaseURL: "http://memory",
			Transport: modeltest.RoundTrip(func(*http.Request) (*http.Response, error) {
				res := httptest.NewRecorder().Result()
				res.StatusCode = 429
				res.Header = http.Header{"Retry-After": {time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}
				return res, nil
			})})
		_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.InDelta(t, time.Hour, modeltest.Failed(t, err).RetryAfter, float64(time.Minute))
	})
}

func TestWaitsThatTheBodyNames(t *testing.T) { eachWire(t, testWaitsThatTheBodyNames) }

func testWaitsThatTheBodyNames(t *testing.T, w encoding) {
	text := func(words string) string { return `{"error":{"message":"` + words + `"}}` }
	for body, want := range map[string]time.Duration{
		text("Limit 30000, Used 29000. Please try again in 8s."):           8 * time.Second,
		text("Please try again in 6m30s. Need more?"):                      390 * time.Second,
		text("Please try again in 7m12.5s"):                                432500 * time.Millisecond,
		text("try again in 1h0m3s"):                                        time.Hour + 3*time.Second,
		text("Please try again in 250ms."):                                 250 * time.Millisecond,
		text("reached max RPM: 3, please try again after 1 seconds"):       time.Second,
		text("Please retry after 30 seconds."):                             30 * time.Second,
		text("Retry after 30"):                                             30 * time.Second,
		text("Retry-After: 12."):                                           12 * time.Second,
		text("Please retry in 8.5s."):                                      8500 * time.Millisecond,
		text("Please wait for about 2 minutes and 5 seconds"):              125 * time.Second,
		text("Your quota will reset after 8m12s."):                         492 * time.Second,
		text("The limit resets in 2 hrs"):                                  2 * time.Hour,
		text("failed: {\"retryDelay\": \"26s\"}"):                          26 * time.Second,
		"try again in 3 sec":                                               3 * time.Second,
		`{"error":{"message":"m","retry_after":7}}`:                        7 * time.Second,
		`{"retryAfter":"1m30s"}`:                                           90 * time.Second,
		`{"error":{"message":"m"},"retry_after_ms":1500}`:                  1500 * time.Millisecond,
		`{"error":{"message":"m","metadata":{"retry_after_seconds":"9"}}}`: 9 * time.Second,
		`[{"error":{"code":429,"message":"Please retry in 43.4ms.","details":[{"@type":"type.googleapis.com/google.rpc.Help"},` +
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"8.5s"}]}}]`: 8500 * time.Millisecond,
		`{"error":{"message":"m","details":[{"retry_delay":{"seconds":5,"nanos":500000000}}]}}`: 5500 * time.Millisecond,
		`{"error":{"message":"m","metadata":{"raw":"{\"retry_after\":4}"}}}`:                    4 * time.Second,
		`{"error":{"message":"m","resets_in_seconds":3600}}`:                                    time.Hour,

		// No delay.
		text("try again later"):                               0,
		text("Retry after 3 failed attempts"):                 0,
		text("connection reset after 30s"):                    0,
		text("The wait time of 30s is over"):                  0,
		text("Limit 30 s"):                                    0,
		text("try again in 5 parsecs"):                        0,
		text("reset at 2026-09-09 05:38:28"):                  0,
		`{"retry_after":-3}`:                                  0,
		`{"retry_after":"NaN"}`:                               0,
		`{"retry_after":null}`:                                0,
		`{"resets_at":"2001-01-01T00:00:00Z"}`:                0,
		`{"retry_after":"Infinity"}`:                          1<<63 - 1,
		text("try again in 999999999999999999999999999d 1d"):  1<<63 - 1,
		strings.Repeat("[", 2000) + strings.Repeat("]", 2000): 0,
	} {
		t.Run(body[:min(len(body), 60)], func(t *testing.T) {
			m := failureOf(t, w, answerWith(429, body))
			require.Equal(t, want, m.RetryAfter, body)
			require.Equal(t, 2*time.Second, failureOf(t, w, answerWith(429, body, "Retry-After: 2")).RetryAfter)
		})
	}
	at := time.Now().Add(time.Hour).UTC()
	for _, body := range []string{
		`{"error":{"type":"x","message":"m","resets_at":` + strconv.FormatInt(at.Unix(), 10) + `}}`,
		`{"error":{"metadata":{"headers":{"X-RateLimit-Reset":"` + strconv.FormatInt(at.UnixMilli(), 10) + `"}}}}`,
		text("limit resets at " + at.Format(time.RFC3339)),
	} {
		require.InDelta(t, time.Hour, failureOf(t, w, answerWith(429, body)).RetryAfter, float64(time.Minute), body)
	}
}

func TestLoadingModel(t *testing.T) { eachWire(t, testLoadingModel) }

func testLoadingModel(t *testing.T, w encoding) {
	for body, want := range map[string]bool{
		`{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`: true,
		`{"error":"Model org/m is currently loading","estimated_time":20.0}`:          true,
		`{"error":{"message":"The model is overloaded"}}`:                             false,
		`{"error":{"message":"downloading weights"}}`:                                 false,
		``: false,
	} {
		m := failureOf(t, w, answerWith(503, body))
		require.True(t, m.Retry)
		require.Equal(t, want, m.Loading, body)
	}
	require.False(t, failureOf(t, w, answerWith(500, `{"error":"loading model failed"}`)).Loading)
}

func TestUnreachable(t *testing.T) { eachWire(t, testUnreachable) }

func testUnreachable(t *testing.T, w encoding) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	untrusted := httptest.NewUnstartedServer(modeltest.Events(w.end))
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)
	untrusted.StartTLS()
	t.Cleanup(untrusted.Close)
	plain := httptest.NewServer(modeltest.Events(w.end))
	t.Cleanup(plain.Close)
	hangsUp := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		panic(http.ErrAbortHandler)
	}))
	t.Cleanup(hangsUp.Close)

	for name, c := range map[string]struct{ base, message string }{
		"refused":   {"http://" + listener.Addr().String(), "connection refused; check that it is running"},
		"untrusted": {untrusted.URL, "TLS failed"},
		"not TLS":   {strings.Replace(plain.URL, "http:", "https:", 1), "TLS failed"},
		"hangs up":  {hangsUp.URL, "closed before an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			provider := w.client(model.Endpoint{Name: "far", BaseURL: c.base, Query: map[string]string{"key": "query-secret"}})
			t.Cleanup(provider.Close)
			_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
			m := modeltest.Failed(t, err)
			require.Contains(t, m.Message, `no answer from model provider "far" at `+c.base)
			require.Contains(t, m.Message, c.message)
			require.Equal(t, protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed}, m.Info)
			require.True(t, m.Retry)
			require.False(t, m.Streaming)
			require.NotContains(t, m.Message+m.Details, "query-secret")
		})
	}
}

func TestUnknownHost(t *testing.T) { eachWire(t, testUnknownHost) }

func testUnknownHost(t *testing.T, w encoding) {
	provider := w.client(model.Endpoint{Name: "far", BaseURL: "http://nowhere/v1", Transport: modeltest.RoundTrip(
		func(*http.Request) (*http.Response, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}}
		})})
	_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	require.Equal(t, `no answer from model provider "far" at http://nowhere/v1/`+w.path+": "+
		"cannot look up host nowhere (no such host); check base_url and the network", modeltest.Failed(t, err).Message)
}

func TestSecretsAreInNoError(t *testing.T) { eachWire(t, testSecretsAreInNoError) }

func testSecretsAreInNoError(t *testing.T, w encoding) {
	const (
		headerSecret   = "header-secret-1"
		querySecret    = "query secret/2"
		passwordSecret = "password-secret-3"
	)
	echo := "you sent " + modeltest.SecretKey + " and Bearer " + headerSecret + " and " + querySecret + " and " +
		passwordSecret
	atTheLimit := strings.Repeat("x", 1000-len(modeltest.SecretKey)/2) + modeltest.SecretKey
	for name, handler := range map[string]http.HandlerFunc{
		"400":          answerWith(400, `{"error":{"message":"`+echo+`"}}`),
		"401":          answerWith(401, `{"error":"`+echo+`"}`),
		"500 as text":  answerWith(500, echo),
		"cut to limit": answerWith(401, atTheLimit),
		"in a stream":  modeltest.Events(`data: {"error":{"message":"` + echo + `"}}` + "\n\n"),
		"not JSON":     modeltest.Events("data: " + echo + "\n\n"),
		"redirect":     answerWith(302, "", "Location: http://127.0.0.1:1/"+modeltest.SecretKey),
	} {
		t.Run(name, func(t *testing.T) {
			m := failureOf(t, w, handler, func(e *model.Endpoint) {
				e.BaseURL = strings.Replace(e.BaseURL, "http://", "http://user:"+passwordSecret+"@", 1)
				e.APIKey = " " + modeltest.SecretKey + "\n"
				e.Headers = map[string]string{"X-Auth": "Bearer " + headerSecret}
				e.Query = map[string]string{"key": querySecret}
			})
			for _, secret := range []string{modeltest.SecretKey, modeltest.SecretKey[:8], headerSecret, querySecret,
				"query+secret", passwordSecret} {
				require.NotContains(t, m.Message+m.Details, secret)
			}
		})
	}
}

func TestShortKeysAreNoSecrets(t *testing.T) { eachWire(t, testShortKeysAreNoSecrets) }

func testShortKeysAreNoSecrets(t *testing.T, w encoding) {
	m := failureOf(t, w, answerWith(403, "next exit"), func(e *model.Endpoint) { e.APIKey = "x" })
	require.Contains(t, m.Message, "next exit")
}
