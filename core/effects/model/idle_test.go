package model_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/modeltest"
	"appserver/protocol"

	"github.com/stretchr/testify/require"
)

const idleLimit = 10 * time.Second

// timed is a stream that gives its parts at their times and then stays open.
type timed struct {
	ctx   context.Context
	parts []part
}

type part struct {
	after time.Duration
	text  string
}

func (s *timed) Read(p []byte) (int, error) {
	if len(s.parts) == 0 {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	next := s.parts[0]
	s.parts = s.parts[1:]
	select {
	case <-time.After(next.after):
		return copy(p, next.text), nil
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// timed returns a provider that answers with a stream of parts, with the headers after a while.
func (w encoding) timed(headers time.Duration, parts ...part) *model.Client {
	return w.timedAt("http://slow.example/v1", idleLimit, headers, parts...)
}

// timedAt does the same as timed, for an address and a time limit.
func (w encoding) timedAt(address string, limit, headers time.Duration, parts ...part) *model.Client {
	return w.client(model.Endpoint{
		Name: "slow", BaseURL: address, IdleTimeout: limit,
		Transport: modeltest.RoundTrip(func(req *http.Request) (*http.Response, error) {
			select {
			case <-time.After(headers):
				return modeltest.StreamResponse(&timed{req.Context(), parts}), nil
			case <-req.Context().Done():
				return nil, req.Context().Err()
			}
		}),
	})
}

func repeat(n int, p part) []part {
	parts := make([]part, n)
	for i := range parts {
		parts[i] = p
	}
	return parts
}

func TestIdleBeforeHeaders(t *testing.T) { eachWire(t, testIdleBeforeHeaders) }

func testIdleBeforeHeaders(t *testing.T, w encoding) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, _, err := modeltest.Ask(t.Context(), w.timed(time.Hour), modeltest.UserSays("hi"))
		m := modeltest.Failed(t, err)
		require.Equal(t, idleLimit, time.Since(start))
		require.Contains(t, m.Message, `no answer from model provider "slow" at http://slow.example/v1`)
		require.Contains(t, m.Message, "nothing came for 10s")
		require.Equal(t, protocol.CodexErrorInfo{Kind: protocol.ErrorHTTPConnectionFailed}, m.Info)
		require.True(t, m.Retry)
		require.False(t, m.Streaming)
	})
}

func TestIdleStreams(t *testing.T) { eachWire(t, testIdleStreams) }

func testIdleStreams(t *testing.T, w encoding) {
	text := w.text("a")
	for name, c := range map[string]struct {
		parts []part
		want  time.Duration
	}{
		"nothing":           {nil, idleLimit},
		"after an event":    {[]part{{3 * time.Second, text}}, 13 * time.Second},
		"comments for ever": {repeat(1000, part{4 * time.Second, ": ping\n\n"}), 30 * time.Second},
		"comments between": {append(repeat(5, part{4 * time.Second, ": ping\n\n"}), part{4 * time.Second, text}),
			34 * time.Second},
		"half an event": {[]part{{time.Second, `data: {"cho`}}, 11 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, _, err := modeltest.Ask(t.Context(), w.timed(0, c.parts...), modeltest.UserSays("hi"))
				m := modeltest.Failed(t, err)
				require.Equal(t, c.want, time.Since(start))
				require.Contains(t, m.Message, "stream disconnected before completion: idle timeout")
				require.True(t, m.Retry)
				require.True(t, m.Streaming)
			})
		})
	}
}

// TestSlowPromptsOfLocalProviders counts comments of a local provider as life until its answer begins. Without a
// configured limit, it may be silent for half an hour until then.
func TestSlowPromptsOfLocalProviders(t *testing.T) { eachWire(t, testSlowPromptsOfLocalProviders) }

func testSlowPromptsOfLocalProviders(t *testing.T, w encoding) {
	text, pings := w.text("a"), repeat(10, part{9 * time.Second, ": ping\n\n"})
	for name, c := range map[string]struct {
		limit, headers time.Duration
		parts          []part
		want           time.Duration
		fails          string
	}{
		"comments": {idleLimit, 0, append(slices.Clone(pings), part{time.Second, text + w.end}), 91 * time.Second, ""},
		"comments after the first piece": {idleLimit, 0, append([]part{{0, text}}, pings...), 30 * time.Second,
			"nothing came for 10s"},
		"silence":                       {idleLimit, 0, nil, idleLimit, "nothing came for 10s"},
		"silence after comments":        {idleLimit, 0, pings, 100 * time.Second, "nothing came for 10s"},
		"silence without a limit":       {0, 0, nil, 30 * time.Minute, "nothing came for 30m"},
		"a late answer without a limit": {0, 20 * time.Minute, []part{{time.Minute, text + w.end}}, 21 * time.Minute, ""},
		"silence within the answer":     {0, 0, []part{{0, text}}, 5 * time.Minute, "nothing came for 5m"},
		"comments without an end": {0, 0, repeat(10_000, part{time.Minute, ": ping\n\n"}), 6 * time.Hour,
			"nothing came for"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				provider := w.timedAt("http://127.0.0.1:8080/v1", c.limit, c.headers, c.parts...)
				_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
				require.Equal(t, c.want, time.Since(start).Truncate(time.Second))
				if c.fails == "" {
					require.NoError(t, err)
					return
				}
				require.ErrorContains(t, err, c.fails)
			})
		})
	}
}

func TestErrorBodiesAreNotWaitedFor(t *testing.T) { eachWire(t, testErrorBodiesAreNotWaitedFor) }

func testErrorBodiesAreNotWaitedFor(t *testing.T, w encoding) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		provider := w.client(model.Endpoint{BaseURL: "http://a.b", IdleTimeout: time.Hour, Transport: modeltest.RoundTrip(
			func(req *http.Request) (*http.Response, error) {
				res := modeltest.StreamResponse(&timed{req.Context(), []part{{0, "busy"}}})
				res.StatusCode = http.StatusServiceUnavailable
				return res, nil
			})})
		_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.Contains(t, modeltest.Failed(t, err).Message, "unexpected status 503 Service Unavailable: busy")
		require.Equal(t, 5*time.Second, time.Since(start))
	})
}

// TestErrorsThatComeLateSayWhatTheyAre has providers that think before they refuse.
func TestErrorsThatComeLateSayWhatTheyAre(t *testing.T) {
	eachWire(t, testErrorsThatComeLateSayWhatTheyAre)
}

func testErrorsThatComeLateSayWhatTheyAre(t *testing.T, w encoding) {
	for _, after := range []time.Duration{14 * time.Second, 16 * time.Second, 59 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			provider := w.client(model.Endpoint{BaseURL: "http://a.b", IdleTimeout: time.Hour, Transport: modeltest.RoundTrip(
				func(req *http.Request) (*http.Response, error) {
					time.Sleep(after)
					res := modeltest.StreamResponse(&timed{req.Context(),
						[]part{{time.Second, `{"error":{"message":"too much","code":"context_length_exceeded"}}`}}})
					res.StatusCode = http.StatusBadRequest
					return res, nil
				})})
			start := time.Now()
			_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
			m := modeltest.Failed(t, err)
			require.Contains(t, m.Message, "too much", "after %v", after)
			require.Equal(t, protocol.ErrorContextWindowExceeded, m.Info.Kind)
			require.Equal(t, after+6*time.Second, time.Since(start))
		})
	}
}

func TestSlowStreamsAreLeftAlone(t *testing.T) { eachWire(t, testSlowStreamsAreLeftAlone) }

func testSlowStreamsAreLeftAlone(t *testing.T, w encoding) {
	synctest.Test(t, func(t *testing.T) {
		parts := repeat(50, part{9 * time.Second, w.text("a")})
		parts = append(parts, part{9 * time.Second, w.end})
		pieces, _, err := modeltest.Ask(t.Context(), w.timed(9*time.Second, parts...), modeltest.UserSays("hi"))
		require.NoError(t, err)
		require.Len(t, pieces, 50)
	})
}

func TestTimeInEmitDoesNotCount(t *testing.T) { eachWire(t, testTimeInEmitDoesNotCount) }

func testTimeInEmitDoesNotCount(t *testing.T, w encoding) {
	synctest.Test(t, func(t *testing.T) {
		text := part{time.Second, w.text("a")}
		provider := w.timed(0, text, text, part{0, w.end})
		n := 0
		_, err := provider.Stream(t.Context(), modeltest.UserSays("hi"), func(core.Piece) {
			n++
			time.Sleep(10 * idleLimit)
		})
		require.NoError(t, err)
		require.Equal(t, 2, n)
	})
}

func TestFinishedAnswersAreNotWaitedFor(t *testing.T) {
	eachWire(t, testFinishedAnswersAreNotWaitedFor)
}

func testFinishedAnswersAreNotWaitedFor(t *testing.T, w encoding) {
	text := part{0, w.text("a")}
	type end struct {
		events string
		want   time.Duration
	}
	ends := map[string]end{"the end and silence": {w.end, 20 * time.Millisecond}}
	if w.finish != "" {
		ends["finished and silence"] = end{w.finish, 5 * time.Second}
	}
	for name, c := range ends {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				pieces, _, err := modeltest.Ask(t.Context(), w.timed(0, text, part{0, c.events}), modeltest.UserSays("hi"))
				require.NoError(t, err)
				require.Len(t, pieces, 1)
				require.Equal(t, c.want, time.Since(start))
			})
		})
	}
}

func TestEventsBehindTheEndProlongNothing(t *testing.T) {
	eachWire(t, testEventsBehindTheEndProlongNothing)
}

func testEventsBehindTheEndProlongNothing(t *testing.T, w encoding) {
	last, want := w.end, 20*time.Millisecond
	if w.finish != "" {
		last, want = w.finish, 15*time.Second
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		parts := append([]part{{0, w.text("a")}, {0, last}}, repeat(10_000, part{time.Second, event(`{}`)})...)
		pieces, _, err := modeltest.Ask(t.Context(), w.timed(0, parts...), modeltest.UserSays("hi"))
		require.NoError(t, err)
		require.Len(t, pieces, 1)
		require.Equal(t, want, time.Since(start))
	})
}

func TestCancelling(t *testing.T) { eachWire(t, testCancelling) }

func testCancelling(t *testing.T, w encoding) {
	reason := errors.New("the user pressed escape")
	for name, provider := range map[string]func() *model.Client{
		"before headers": func() *model.Client { return w.timed(time.Hour) },
		"amidst":         func() *model.Client { return w.timed(0, part{0, w.text("a")}) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(reason) })
				start := time.Now()
				_, _, err := modeltest.Ask(ctx, provider(), modeltest.UserSays("hi"))
				require.Equal(t, reason, err)
				require.Equal(t, time.Second, time.Since(start))
			})
		})
	}
}

func TestIdleOverTheNetwork(t *testing.T) { eachWire(t, testIdleOverTheNetwork) }

func testIdleOverTheNetwork(t *testing.T, w encoding) {
	for name, write := range map[string]string{"no headers": "", "no events": ": hi\n\n"} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			provider := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
				if write != "" {
					_, _ = io.WriteString(rw, write)
					_ = http.NewResponseController(rw).Flush()
				}
				<-release
			}, func(e *model.Endpoint) { e.IdleTimeout = 50 * time.Millisecond })
			defer close(release)
			_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
			require.Contains(t, modeltest.Failed(t, err).Message, "nothing came for 50ms")
		})
	}
}

func TestCommentsForEverWithoutAPause(t *testing.T) { eachWire(t, testCommentsForEverWithoutAPause) }

func testCommentsForEverWithoutAPause(t *testing.T, w encoding) {
	provider := w.client(model.Endpoint{BaseURL: "http://memory.example", IdleTimeout: 20 * time.Millisecond,
		Transport: endlessComments{}})
	_, _, err := modeltest.Ask(t.Context(), provider, &core.Prompt{})
	require.ErrorContains(t, err, "nothing came for")
}

// endlessComments answers with keep-alive comments and nothing else.
type endlessComments struct{}

func (endlessComments) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(endlessComments{})}, nil
}

func (endlessComments) Read(p []byte) (int, error) { return copy(p, ": ping\n"), nil }
