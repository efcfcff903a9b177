package chat_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"appserver/core/model/modeltest"

	"appserver/core"
	"appserver/core/model"

	"github.com/stretchr/testify/require"
)

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// streamResponse is an event stream with this body.
func streamResponse(body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/event-stream"}},
		Body:       io.NopCloser(body),
	}
}

// readerProvider answers every request with a new reader, without a network.
func readerProvider(body func() io.Reader) *model.Client {
	return client(model.Endpoint{Name: "memory", BaseURL: "http://memory/v1", Transport: roundTrip(
		func(req *http.Request) (*http.Response, error) { return streamResponse(body()), nil })})
}

// memoryProvider answers every request with this stream, without a network.
func memoryProvider(stream string) *model.Client {
	return readerProvider(func() io.Reader { return strings.NewReader(stream) })
}

// countingTransport counts the connections that it makes.
func countingTransport(count *atomic.Int32) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		count.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

func TestConnectionIsUsedAgain(t *testing.T) {
	var connections atomic.Int32
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		modeltest.Events(event(`{"content":"a"}`)+stop+done)(w, r)
		_ = http.NewResponseController(w).Flush()
	}, func(e *model.Endpoint) {
		e.Transport = countingTransport(&connections)
	})
	for range 5 {
		_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, connections.Load())
}

// TestConnectionIsUsedAgainAfterLateUsage has what follows a finish_reason come after a while.
func TestConnectionIsUsedAgainAfterLateUsage(t *testing.T) {
	var connections atomic.Int32
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		modeltest.Events(event(`{"content":"a"}`)+stop)(w, r)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(100 * time.Millisecond)
		_, _ = io.WriteString(w, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n"+done)
		_ = http.NewResponseController(w).Flush()
	}, func(e *model.Endpoint) {
		e.Transport = countingTransport(&connections)
	})
	for range 3 {
		_, answer, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.NoError(t, err)
		require.NotNil(t, answer.Usage)
	}
	require.Equal(t, int32(1), connections.Load())
}

func TestKeptConnectionsThatWereClosed(t *testing.T) {
	server := httptest.NewServer(modeltest.Events(event(`{"content":"a"}`) + stop + done))
	t.Cleanup(server.Close)
	provider := client(model.Endpoint{BaseURL: server.URL})
	t.Cleanup(provider.Close)
	for range 20 {
		_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.NoError(t, err)
		server.CloseClientConnections()
	}
}

func TestHTTP2(t *testing.T) {
	var protocols atomic.Int32
	handler := func(w http.ResponseWriter, r *http.Request) {
		protocols.Store(int32(r.ProtoMajor))
		body, _ := io.ReadAll(r.Body)
		modeltest.Events(event(`{"content":"a"}`))(w, r)
		_ = http.NewResponseController(w).Flush()
		if strings.Contains(string(body), "break off") {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, stop+done)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(handler))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	provider := client(model.Endpoint{BaseURL: server.URL, Transport: server.Client().Transport})
	t.Cleanup(provider.Close)

	pieces, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Equal(t, []core.Piece{{Text: "a"}}, pieces)
	require.EqualValues(t, 2, protocols.Load())

	_, _, err = modeltest.Ask(t.Context(), provider, modeltest.UserSays("break off"))
	m := modeltest.Failed(t, err)
	require.Contains(t, m.Message, "stream disconnected before completion: ")
	require.True(t, m.Retry)
}

func TestRedirectsThatKeepTheBody(t *testing.T) {
	var body string
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			http.Redirect(w, r, "/v2", http.StatusTemporaryRedirect)
			return
		}
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		modeltest.Events(stop)(w, r)
	})
	_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Contains(t, body, `"content":"hi"`)
}

// TestManyAtOnce has turns share a provider; each must get its own answer.
func TestManyAtOnce(t *testing.T) {
	provider := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), `"content":"`)
		name, _, _ := strings.Cut(rest, `"`)
		modeltest.Events(strings.Repeat(event(`{"content":"`+name+`."}`), 20)+stop+done)(w, r)
	})
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	answers := make([]string, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			for range 5 {
				pieces, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays(name))
				if err != nil {
					answers[i] = err.Error()
					return
				}
				text, _ := modeltest.Spoken(pieces)
				answers[i] += text
			}
		})
	}
	wait.Wait()
	for i, name := range names {
		require.Equal(t, strings.Repeat(name+".", 100), answers[i])
	}
}
