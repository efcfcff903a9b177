package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
	"appserver/test/sample"
)

// modelServer is a provider with a list of models. It answers every turn with "Hello."
type modelServer struct {
	*httptest.Server
	list   func(w http.ResponseWriter, r *http.Request)
	listed atomic.Int32
}

func newModelServer(t *testing.T, list func(w http.ResponseWriter, r *http.Request)) *modelServer {
	m := &modelServer{list: list}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		m.listed.Add(1)
		m.list(w, r)
	})
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		apptest.TextAnswer("Hello.")(w)
	})
	m.Server = httptest.NewServer(mux)
	t.Cleanup(m.Close)
	return m
}

func (m *modelServer) home(t *testing.T, model string) string {
	home := t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("%smodel_provider = \"mine\"\n[model_providers.mine]\nname = \"Mine\"\nbase_url = %q\nwire_api = \"chat\"\n", model, m.URL+"/v1"))
	return home
}

type modelPage struct {
	Data []struct {
		ID            string
		IsDefault     bool
		ContextWindow *int64
	}
	NextCursor *string
}

func models(c *apptest.Client, params apptest.Object) (page modelPage) {
	c.T.Helper()
	require.NoError(c.T, json.Unmarshal(c.Call("model/list", params), &page))
	return page
}

func writeHandler(text string) func(w http.ResponseWriter, _ *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

// TestModelListHasProvidersModels returns pages with the configured model first. The provider gets
// one request.
func TestModelListHasProvidersModels(t *testing.T) {
	m := newModelServer(t,
		writeHandler(`{"data":[{"id":"a","max_model_len":4096},{"id":"b"},{"id":"c"},{"id":"text-embedding-x"}]}`))
	c := apptest.StartServer(t, m.home(t, "model = \"b\"\n"))
	c.Initialize()
	var ids []string
	var cursor *string
	for range 5 {
		page := models(c, apptest.Object{"cursor": cursor, "limit": 2})
		for _, model := range page.Data {
			ids = append(ids, model.ID)
			require.Equal(t, model.ID == "b", model.IsDefault)
		}
		if cursor = page.NextCursor; cursor == nil {
			break
		}
	}
	require.Equal(t, []string{"b", "a", "c"}, ids)
	all := models(c, apptest.Object{"includeHidden": true, "modelProvider": "mine"})
	require.Len(t, all.Data, 5, "the embedding model and the offline model")
	require.EqualValues(t, 4096, *all.Data[1].ContextWindow)
	require.EqualValues(t, 1, m.listed.Load())
	c.Close()
}

// TestModelListTimesOut returns the configured model while the provider is silent. Other requests are served
// meanwhile.
func TestModelListTimesOut(t *testing.T) {
	sample.Long(t)
	m := newModelServer(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := apptest.StartServer(t, m.home(t, "model = \"b\"\n"))
	c.Initialize()
	list := c.SendRequest("model/list", apptest.Object{})
	c.Call("account/read", apptest.Object{})
	answer := c.UntilResponse(list)
	require.Nil(t, answer.Error)
	require.Contains(t, string(answer.Result), `"id":"b"`)
	c.Close()
}

// TestShutdownDuringModelList does not wait for the provider, and answers the request.
func TestShutdownDuringModelList(t *testing.T) {
	requested := make(chan struct{})
	m := newModelServer(t, func(_ http.ResponseWriter, r *http.Request) {
		close(requested)
		<-r.Context().Done()
	})
	c := apptest.StartServer(t, m.home(t, "model = \"b\"\n"))
	c.Initialize()
	list := c.SendRequest("model/list", apptest.Object{})
	<-requested
	start := time.Now()
	require.NoError(t, c.In.Close())
	require.Nil(t, c.UntilResponse(list).Error)
	c.AwaitExit()
	require.Less(t, time.Since(start), apptest.CleanupLimit)
}

// TestContextWindowComesFromProvider requires that the second turn has the window of an unknown
// model, without a request for the list.
func TestContextWindowComesFromProvider(t *testing.T) {
	listed := make(chan struct{})
	m := newModelServer(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(listed)
		writeHandler(`{"data":[{"id":"own","meta":{"n_ctx":8192}}]}`)(w, r)
	})
	c := apptest.StartServer(t, m.home(t, "model = \"own\"\n"))
	c.Initialize()
	thread := c.StartTrusted()
	c.Turn(thread, "one")
	<-listed
	require.Eventually(t, func() bool { return models(c, apptest.Object{}).Data[0].ContextWindow != nil },
		apptest.Timeout, time.Millisecond)
	c.Turn(thread, "two")
	require.Contains(t, string(c.Call("context/getUsage", apptest.Object{"threadId": thread})),
		`"modelContextWindow":8192`)
	require.EqualValues(t, 1, m.listed.Load())
	c.Close()
}
