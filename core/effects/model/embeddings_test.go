package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"appserver/core/effects/model/modeltest"

	"github.com/stretchr/testify/require"

	"appserver/core/effects/model"
)

// vectors starts an endpoint for embeddings, and what asks it.
func vectors(t *testing.T, handler http.HandlerFunc, edit ...func(*model.Endpoint)) *model.Embeddings {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	e := model.Endpoint{Name: "test", BaseURL: server.URL + "/v1", APIKey: modeltest.SecretKey}
	for _, f := range edit {
		f(&e)
	}
	by := model.NewEmbeddings(e, "small", 0)
	t.Cleanup(by.Close)
	return by
}

// lengths answers each text with a vector of its length, the last text first.
func lengths(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusTeapot)
		return
	}
	var rows []string
	for i := len(asked.Input) - 1; i >= 0; i-- {
		rows = append(rows, fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%d,0.5]}`, i, len(asked.Input[i])))
	}
	_, _ = fmt.Fprintf(w, `{"object":"list","model":"small","data":[%s],"usage":{"prompt_tokens":1,"total_tokens":1}}`,
		strings.Join(rows, ","))
}

func TestVectorsComeInTheOrderOfTheTexts(t *testing.T) {
	var requests atomic.Int32
	by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		lengths(w, r)
	})
	var texts []string
	for n := range 150 {
		texts = append(texts, strings.Repeat("x", n))
	}
	got, err := by.Embed(t.Context(), texts)
	require.NoError(t, err)
	require.Len(t, got, 150)
	for n, v := range got {
		require.Equal(t, []float32{float32(n), 0.5}, v)
	}
	require.Equal(t, int32(5), requests.Load(), "8, 16, 32, 64 and the rest")
	got, err = by.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestARequestForVectors(t *testing.T) {
	var method, path, query, key, own, body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var raw json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&raw)
		method, path, query, key, own, body = r.Method, r.URL.Path, r.URL.RawQuery, r.Header.Get("Authorization"),
			r.Header.Get("X-Own"), string(raw)
		_, _ = w.Write([]byte(`{"data":[{"embedding":[1]}]}`))
	}))
	defer server.Close()
	e := model.Endpoint{Name: "mine", BaseURL: server.URL + "/v1", APIKey: modeltest.SecretKey,
		Query: map[string]string{"api-version": "1"}, Headers: map[string]string{"X-Own": "yes"}}
	by := model.NewEmbeddings(e, "small", 256)
	defer by.Close()
	require.Equal(t, "mine/small/256", by.Model())
	got, err := by.Embed(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1}}, got)
	require.Equal(t, []string{"POST", "/v1/embeddings", "api-version=1", "Bearer " + modeltest.SecretKey, "yes"},
		[]string{method, path, query, key, own})
	require.JSONEq(t, `{"input":["a"],"model":"small","encoding_format":"float","dimensions":256}`, body)

	e.APIKey = ""
	plain := model.NewEmbeddings(e, "small", 0)
	defer plain.Close()
	require.Equal(t, "mine/small", plain.Model())
	_, err = plain.Embed(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.Empty(t, key)
	require.JSONEq(t, `{"input":["a"],"model":"small","encoding_format":"float"}`, body)
}

func TestVectorsWithoutNumbersKeepTheirOrder(t *testing.T) {
	by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"data":[{"embedding":[1]},{"embedding":[2]}]}`))
	})
	got, err := by.Embed(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	require.Equal(t, [][]float32{{1}, {2}}, got)
}

func TestWhatMaySucceedLaterIsTriedAgain(t *testing.T) {
	for _, status := range []int{429, 500, 503} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
				if requests.Add(1) < 3 {
					w.Header().Set("Retry-After-Ms", "1")
					w.WriteHeader(status)
					return
				}
				lengths(w, r)
			})
			begin := time.Now()
			_, err := by.Embed(t.Context(), []string{"a"})
			require.NoError(t, err)
			require.Equal(t, int32(3), requests.Load())
			require.Greater(t, time.Since(begin), time.Second, "pauses grow, whatever the provider says")
		})
	}
}

// TestTextsThatAreTooLargeAreShortened: the endpoint rejects a whole request for one text of more than 500 bytes, or
// for more than 4 texts.
func TestTextsThatAreTooLargeAreShortened(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"llama-server": {500, `{"error":{"code":500,"message":"input (1001 tokens) is too large to process. increase the ` +
			`physical batch size (current batch size: 512)","type":"server_error"}}`},
		"llama-server, 400": {400, `{"error":{"code":400,"message":"input is too large to process","type":"x"}}`},
		"Ollama":            {500, `{"error":"the input length exceeds the context length"}`},
		"OpenAI":            {400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`},
		"TEI":               {413, `{"error":"Input validation error: inputs must have less than 512 tokens. Given: 900"}`},
		"TEI, batch":        {422, `{"error":"batch size 8 > maximum allowed batch size 4","error_type":"Validation"}`},
		"without a body":    {413, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var requests atomic.Int32
			by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				body, _ := io.ReadAll(r.Body)
				var asked struct{ Input []string }
				_ = json.Unmarshal(body, &asked)
				longest := 0
				for _, text := range asked.Input {
					longest = max(longest, len(text))
				}
				if longest > 500 || len(asked.Input) > 4 {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body)
					return
				}
				r.Body = io.NopCloser(bytes.NewReader(body))
				lengths(w, r)
			})
			var texts []string
			for range 20 {
				texts = append(texts, strings.Repeat("x", 100))
			}
			texts[3] = strings.Repeat("é", 900)
			got, err := by.Embed(t.Context(), texts)
			require.NoError(t, err)
			require.Len(t, got, 20)
			for i, v := range got {
				want := float32(100)
				if i == 3 {
					want = 450
				}
				require.Equal(t, []float32{want, 0.5}, v, i)
			}
			require.Less(t, requests.Load(), int32(25))
		})
	}
}

// TestTextsThatNoLengthFitsAreRefused: the endpoint is not taken for a broken one.
func TestTextsThatNoLengthFitsAreRefused(t *testing.T) {
	var requests atomic.Int32
	by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		w.WriteHeader(500)
		_, _ = io.WriteString(w, `{"error":{"message":"input is too large to process"}}`)
	})
	_, err := by.Embed(t.Context(), []string{strings.Repeat("x", 8000)})
	var embed *model.EmbedError
	require.ErrorAs(t, err, &embed)
	require.True(t, embed.Refused())
	require.Less(t, requests.Load(), int32(10))
	require.Equal(t, 8, by.Batch(), "the batch is not the reason")
}

func TestPermanentFailuresAreReported(t *testing.T) {
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	for _, c := range []struct {
		handler http.HandlerFunc
		refused bool
		want    string
	}{
		{answer(400, `{"error":{"message":"input too long"}}`), true, "input too long"},
		{answer(413, ``), true, "unexpected status 413 Request Entity Too Large, url: http://"},
		{answer(401, `{"error":{"message":"wrong key `+modeltest.SecretKey+`"}}`), false, "wrong key [redacted]"},
		{answer(404, `{"error":"model \"small\" not found, try pulling it first"}`), false,
			`not found, try pulling it first, url: http://`},
		{answer(429, `{"error":{"message":"slow down"}}`), false, "slow down"},
		{answer(200, `<html>`), false, "is no list of vectors"},
		{answer(200, `{"data":[]}`), false, "gave 0 vectors for 1 texts"},
	} {
		var embed *model.EmbedError
		_, err := vectors(t, c.handler).Embed(t.Context(), []string{"a"})
		require.ErrorAs(t, err, &embed, c.want)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, c.refused, embed.Refused(), c.want)
		require.NotContains(t, err.Error(), modeltest.SecretKey)
	}
	byQuery := vectors(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no such key: "+r.URL.Query().Get("key"), http.StatusUnauthorized)
	},
		func(e *model.Endpoint) { e.BaseURL, e.APIKey = e.BaseURL+"?key=another-secret", "" })
	_, err := byQuery.Embed(t.Context(), []string{"a"})
	require.ErrorContains(t, err, "no such key: [redacted]")
	by := model.NewEmbeddings(model.Endpoint{Name: "mine", BaseURL: "nonsense"}, "small", 0)
	_, err = by.Embed(t.Context(), []string{"a"})
	require.ErrorContains(t, err, `model provider "mine": base_url is not an http or https URL`)
}

func TestVectorsAreNotAskedForElsewhere(t *testing.T) {
	var elsewhere atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+"/v1/embeddings", http.StatusTemporaryRedirect)
	})
	_, err := by.Embed(t.Context(), []string{"a"})
	require.ErrorContains(t, err, "unexpected status 307")
	require.Zero(t, elsewhere.Load())
}

func TestVectorsEndWithTheirContext(t *testing.T) {
	begun := make(chan struct{}, 1)
	by := vectors(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then is the client's end seen
		begun <- struct{}{}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	_, err := by.Embed(ctx, []string{"a"})
	require.ErrorIs(t, err, context.Canceled)

	refusing := vectors(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	short, done := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer done()
	_, err = refusing.Embed(short, []string{"a"})
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
