package model_test

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

	"appserver/core/effects/model/modeltest"

	"appserver/core"
	"appserver/core/effects/model"

	"github.com/stretchr/testify/require"
)

// countingTransport counts the connections that it makes.
func countingTransport(count *atomic.Int32) *http.Transport {
	return &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		count.Add(1)
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
}

func TestConnectionIsUsedAgain(t *testing.T) { eachWire(t, testConnectionIsUsedAgain) }

func testConnectionIsUsedAgain(t *testing.T, w encoding) {
	var connections atomic.Int32
	provider := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		modeltest.Events(w.text("a")+w.end)(rw, r)
		_ = http.NewResponseController(rw).Flush()
	}, func(e *model.Endpoint) {
		e.Transport = countingTransport(&connections)
	})
	for range 5 {
		_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, connections.Load())
}

// TestConnectionIsUsedAgainAfterLateUsage sends the rest of the stream some time after the finish_reason.
func TestConnectionIsUsedAgainAfterLateUsage(t *testing.T) {
	eachWire(t, testConnectionIsUsedAgainAfterLateUsage)
}

func testConnectionIsUsedAgainAfterLateUsage(t *testing.T, w encoding) {
	if w.finish == "" {
		t.Skip("nothing follows the end")
	}
	var connections atomic.Int32
	provider := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		modeltest.Events(w.text("a")+w.finish)(rw, r)
		_ = http.NewResponseController(rw).Flush()
		time.Sleep(100 * time.Millisecond)
		_, _ = io.WriteString(rw, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n"+
			"data: [DONE]\n\n")
		_ = http.NewResponseController(rw).Flush()
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

func TestKeptConnectionsThatWereClosed(t *testing.T) { eachWire(t, testKeptConnectionsThatWereClosed) }

func testKeptConnectionsThatWereClosed(t *testing.T, w encoding) {
	server := httptest.NewServer(modeltest.Events(w.text("a") + w.end))
	t.Cleanup(server.Close)
	provider := w.client(model.Endpoint{BaseURL: server.URL})
	t.Cleanup(provider.Close)
	for range 20 {
		_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
		require.NoError(t, err)
		server.CloseClientConnections()
	}
}

func TestHTTP2(t *testing.T) { eachWire(t, testHTTP2) }

func testHTTP2(t *testing.T, w encoding) {
	var protocols atomic.Int32
	handler := func(rw http.ResponseWriter, r *http.Request) {
		protocols.Store(int32(r.ProtoMajor))
		body, _ := io.ReadAll(r.Body)
		modeltest.Events(w.text("a"))(rw, r)
		_ = http.NewResponseController(rw).Flush()
		if strings.Contains(string(body), "break off") {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(rw, w.end)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(handler))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	provider := w.client(model.Endpoint{BaseURL: server.URL, Transport: server.Client().Transport})
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

func TestRedirectsThatKeepTheBody(t *testing.T) { eachWire(t, testRedirectsThatKeepTheBody) }

func testRedirectsThatKeepTheBody(t *testing.T, w encoding) {
	var body string
	provider := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/"+w.path {
			http.Redirect(rw, r, "/v2", http.StatusTemporaryRedirect)
			return
		}
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		modeltest.Events(w.text("ok")+w.end)(rw, r)
	})
	_, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("hi"))
	require.NoError(t, err)
	require.Contains(t, body, `hi"`)
}

// TestManyAtOnce has turns share a provider; each must get its own answer.
func TestManyAtOnce(t *testing.T) { eachWire(t, testManyAtOnce) }

func testManyAtOnce(t *testing.T, w encoding) {
	provider := w.serve(t, func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(body), "I am ")
		name, _, _ := strings.Cut(rest, `"`)
		modeltest.Events(strings.Repeat(w.text(name+"."), 20)+w.end)(rw, r)
	})
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	answers := make([]string, len(names))
	var wait sync.WaitGroup
	for i, name := range names {
		wait.Go(func() {
			for range 5 {
				pieces, _, err := modeltest.Ask(t.Context(), provider, modeltest.UserSays("I am "+name))
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
