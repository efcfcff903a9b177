package model_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
)

// lists answers /models with a text.
func lists(t *testing.T, answer string) *model.Client {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || r.URL.Path != "/v1/models" || r.URL.Query().Get("api-version") != "1" ||
			r.Header.Get("Authorization") != "Bearer secret-key" || r.Header.Get("X-Own") != "yes" {
			http.Error(w, "unexpected request", http.StatusTeapot)
			return
		}
		_, _ = w.Write([]byte(answer)) // the client's end tells
	}))
	t.Cleanup(srv.Close)
	o := model.NewClient(model.Endpoint{
		Name: "mine", BaseURL: srv.URL + "/v1", APIKey: "secret-key", Query: map[string]string{"api-version": "1"},
		Headers: map[string]string{"X-Own": "yes"},
	}, chat.New())
	t.Cleanup(o.Close)
	return o
}

// TestModelsInTheFormsOfProviders reads the window from the member of each provider.
func TestModelsInTheFormsOfProviders(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		want   []core.ListedModel
	}{
		"OpenAI, the newest first": {
			`{"object":"list","data":[{"id":"gpt-old","created":1},{"id":"gpt-new","created":2},{"id":"text-embedding-3-large","created":3}]}`,
			[]core.ListedModel{{ID: "text-embedding-3-large", Created: 3, Wordless: true}, {ID: "gpt-new", Created: 2},
				{ID: "gpt-old", Created: 1}},
		},
		"OpenRouter": {
			`{"data":[{"id":"a/m","name":"A: M","description":"Does much.","context_length":1000000,"created":7,
				"architecture":{"input_modalities":["file","image","text"],"output_modalities":["text"]},"top_provider":{"context_length":200000,"max_completion_tokens":null}},
				{"id":"a/painter","architecture":{"input_modalities":["text"],"output_modalities":["image"]},"top_provider":{"context_length":null}}]}`,
			[]core.ListedModel{
				{ID: "a/m", Name: "A: M", Description: "Does much.", Window: 200_000, Created: 7,
					Modalities: []string{"text", "image"}},
				{ID: "a/painter", Modalities: []string{"text"}, Wordless: true},
			},
		},
		"vLLM":      {`{"object":"list","data":[{"id":"qwen","object":"model","owned_by":"vllm","max_model_len":32768,"permission":[]}]}`, []core.ListedModel{{ID: "qwen", Window: 32_768}}},
		"llama.cpp": {`{"models":[{"name":"x","model":"x"}],"object":"list","data":[{"id":"x.gguf","meta":{"n_ctx":8192,"n_ctx_train":131072}}]}`, []core.ListedModel{{ID: "x.gguf", Window: 8192, Running: true, AnyName: true, NoProviderTools: true}}},
		"llama.cpp that tells what the model was trained with only": {
			`{"data":[{"id":"x.gguf","meta":{"n_ctx_train":131072}},{"id":"unloaded","meta":null}]}`,
			[]core.ListedModel{{ID: "x.gguf", Loads: true, NoProviderTools: true},
				{ID: "unloaded", Loads: true, NoProviderTools: true}},
		},
		"Groq": {`{"data":[{"id":"g","context_window":131072,"active":true}]}`,
			[]core.ListedModel{{ID: "g", Window: 131_072}}},
		"Mistral": {`{"data":[{"id":"m","max_context_length":262144,"name":"m-large","description":"Large"}]}`,
			[]core.ListedModel{{ID: "m", Name: "m-large", Description: "Large", Window: 262_144}}},
		"Anthropic": {`{"data":[{"type":"model","id":"claude-x","display_name":"Claude X","created_at":"2026-01-01T00:00:00Z"}],"has_more":false}`, []core.ListedModel{{ID: "claude-x", Name: "Claude X"}}},
		"Gemini":    {`{"object":"list","data":[{"id":"models/gemini-x","object":"model","owned_by":"google","display_name":"Gemini X"}]}`, []core.ListedModel{{ID: "models/gemini-x", Name: "Gemini X"}}},
		"DeepSeek": {`{"object":"list","data":[{"id":"deepseek-chat","object":"model","owned_by":"deepseek"}]}`,
			[]core.ListedModel{{ID: "deepseek-chat"}}},
		"Azure": {
			`{"object":"list","data":[{"status":"succeeded","capabilities":{"inference":true,"chat_completion":true},"lifecycle_status":"generally-available","id":"gpt-4o-2024-11-20","created_at":1731974400,"object":"model"}]}`,
			[]core.ListedModel{{ID: "gpt-4o-2024-11-20"}},
		},
		"Together": {`[{"id":"t/chat","type":"chat","context_length":4096,"display_name":"T"},{"id":"t/pic","type":"image"}]`,
			[]core.ListedModel{{ID: "t/chat", Name: "T", Window: 4096}, {ID: "t/pic", Wordless: true}}},
		"Ollama": {`{"object":"list","data":[{"id":"qwen3:8b","object":"model","created":5,"owned_by":"library"}]}`,
			[]core.ListedModel{{ID: "qwen3:8b", Created: 5, NoProviderTools: true}}},
		"nothing": {`{"object":"list","data":null}`, nil},
		"OpenRouter's prices": {
			`{"data":[{"id":"a/b","context_length":1000,"supported_parameters":["tools","reasoning"],"pricing":{"prompt":"0.00000125",` +
				`"completion":"0.00001","input_cache_read":"0.000000125","image":"0","discount":0}},{"id":"a/auto","pricing":{"prompt":"-1",` +
				`"completion":"-1"}},{"id":"a/c","pricing":{"prompt":"many","completion":7}}]}`,
			[]core.ListedModel{{ID: "a/b", Window: 1000, Tools: true, Thinking: true,
				Prices: &core.ModelPrices{Input: new(1.25), CachedInput: new(0.125), Output: new(10.0)}},
				{ID: "a/auto"}, {ID: "a/c"}},
		},
		"rows of no sense": {`{"data":[7,{"id":""},{"id":3},{"id":"a","context_length":"long","name":{},"created":"now","meta":[]},{"id":"a"},null]}`, []core.ListedModel{{ID: "a"}}},
		"absurd windows":   {`{"data":[{"id":"a","context_length":-5},{"id":"b","context_length":1e300},{"id":"c","context_length":4096.0}]}`, []core.ListedModel{{ID: "a"}, {ID: "b"}, {ID: "c", Window: 4096}}},
		"a model in folder": {`{"data":[{"id":"openai/whisper-1"},{"id":"org/tts-ish"}]}`,
			[]core.ListedModel{{ID: "openai/whisper-1", Wordless: true}, {ID: "org/tts-ish", Wordless: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			models, err := lists(t, tt.answer).Models(t.Context())
			require.NoError(t, err)
			require.Equal(t, tt.want, models)
		})
	}
}

func TestModelsThatCannotBeRead(t *testing.T) {
	for _, answer := range []string{"", "<html>", `"models"`, `{"data":{}}`} {
		_, err := lists(t, answer).Models(t.Context())
		require.EqualError(t, err, `the models of provider "mine": the answer is no list of models`)
	}
	_, err := model.NewClient(model.Endpoint{Name: "mine", BaseURL: "ftp://x"}, chat.New()).Models(t.Context())
	require.ErrorContains(t, err, "base_url is not an http or https URL")

	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	base := strings.Replace(srv.URL, "http://", "http://user:password@", 1)
	_, err = model.NewClient(model.Endpoint{Name: "mine", BaseURL: base + "/v1",
		Query: map[string]string{"key": "query-secret"}}, chat.New()).Models(t.Context())
	require.ErrorContains(t, err, "unexpected status 404 from "+srv.URL+"/v1/models")

	srv.Close()
	_, err = model.NewClient(model.Endpoint{Name: "mine", BaseURL: base, Query: map[string]string{"key": "query-secret"}},
		chat.New()).Models(t.Context())
	require.Error(t, err)
	require.NotContains(t, err.Error(), "password")
	require.NotContains(t, err.Error(), "query-secret")
}

// fakeLister replies when the test lets it. Without a reply it waits until its context ends.
type fakeLister struct {
	asked   int
	answers chan []core.ListedModel
}

func (f *fakeLister) Models(ctx context.Context) ([]core.ListedModel, error) {
	f.asked++
	select {
	case models := <-f.answers:
		if models == nil {
			return nil, errors.New("refused")
		}
		return models, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// shelved asks a shelf for the models of p, and gives the ids that come; nil while none do.
func shelved(s *model.ModelCache) func() []string {
	var told atomic.Pointer[[]string]
	s.List("p", func(models []core.ListedModel) {
		ids := []string{}
		for _, m := range models {
			ids = append(ids, m.ID)
		}
		told.Store(&ids)
	})
	return func() []string {
		synctest.Wait()
		if ids := told.Load(); ids != nil {
			return *ids
		}
		return nil
	}
}

func bubble(t *testing.T, test func(t *testing.T, s *model.ModelCache, p *fakeLister)) {
	synctest.Test(t, func(t *testing.T) {
		p := &fakeLister{answers: make(chan []core.ListedModel, 1)}
		s := model.NewModelCache(map[string]model.Lister{"p": p}, nil, func() uint64 { return 0 })
		test(t, s, p)
		s.Close()
	})
}

func TestShelfAsksOnce(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		first, second := shelved(s), shelved(s)
		require.Nil(t, first(), "nobody waits in Ask")
		p.answers <- []core.ListedModel{{ID: "a", Window: 5}}
		require.Equal(t, []string{"a"}, first())
		require.Equal(t, []string{"a"}, second())
		time.Sleep(4 * time.Minute)
		require.Equal(t, []string{"a"}, shelved(s)(), "it is believed for a while")
		require.Equal(t, 1, p.asked)
		require.EqualValues(t, 5, s.Model("p", "a").Window)
		require.Zero(t, s.Model("p", "b").Window)
		require.Zero(t, s.Model("q", "a").Window)
		time.Sleep(2 * time.Minute)
		p.answers <- []core.ListedModel{{ID: "b"}}
		require.Equal(t, []string{"b"}, shelved(s)())
	})
}

func TestShelfDoesNotWaitForASilentProvider(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		answer, begun := shelved(s), time.Now()
		time.Sleep(3 * time.Second)
		require.Equal(t, []string{}, answer())
		require.Equal(t, 3*time.Second, time.Since(begun))
		require.Equal(t, []string{}, shelved(s)(), "a failure is believed, too")
		require.Equal(t, 1, p.asked)
	})
}

func TestShelfKeepsWhatItKnew(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		p.answers <- []core.ListedModel{{ID: "a"}}
		require.Equal(t, []string{"a"}, shelved(s)())
		time.Sleep(time.Hour)
		p.answers <- nil
		require.Equal(t, []string{"a"}, shelved(s)(), "the list of before is better than none")
		require.Equal(t, 2, p.asked)
	})
}

func TestShelfLearns(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		s.Refresh("nobody")
		s.Refresh("p")
		s.Refresh("p")
		p.answers <- []core.ListedModel{{ID: "a", Window: 7}}
		synctest.Wait()
		require.EqualValues(t, 7, s.Model("p", "a").Window)
		s.Refresh("p")
		synctest.Wait()
		require.Equal(t, 1, p.asked)
	})
}

func TestShelfEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		answer := shelved(s)
		s.Close()
		require.Equal(t, []string{}, answer(), "who waits is told")
		require.Equal(t, []string{}, shelved(s)(), "and who comes later")
		s.Refresh("p")
		require.Equal(t, 1, p.asked)
	})
	new(model.ModelCache).Close()
	require.Equal(t, []string{}, func() []string {
		ids := []string{"x"}
		new(model.ModelCache).List("p", func([]core.ListedModel) { ids = []string{} })
		return ids
	}())
}

// TestKeysStayWithTheProvider: a redirect to another host, port or scheme is not followed,
// for lists and for turns; one within the host is.
func TestKeysStayWithTheProvider(t *testing.T) {
	reached := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached++ }))
	defer other.Close()
	to, hops := "", 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/v1/"):
			http.Redirect(w, r, to, http.StatusTemporaryRedirect)
		case r.URL.Path == "/loop":
			hops++
			http.Redirect(w, r, "/loop", http.StatusTemporaryRedirect)
		case r.Method == http.MethodGet:
			_, _ = w.Write([]byte(`{"data":[{"id":"` + r.Header.Get("X-Key") + `"}]}`))
		}
	}))
	defer srv.Close()
	o := model.NewClient(model.Endpoint{Name: "mine", BaseURL: srv.URL + "/v1",
		Headers: map[string]string{"X-Key": "secret"}}, chat.New())
	defer o.Close()
	for _, to = range []string{other.URL, strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) + "/v2/models",
		"https://" + strings.TrimPrefix(srv.URL, "http://")} {
		_, err := o.Models(t.Context())
		require.ErrorContains(t, err, "unexpected status 307")
		_, err = o.Stream(t.Context(), &core.Prompt{Model: "m"}, func(core.Piece) {})
		require.Error(t, err)
		require.Zero(t, reached)
	}
	to = "/v2/models"
	models, err := o.Models(t.Context())
	require.NoError(t, err)
	require.Equal(t, []core.ListedModel{{ID: "secret"}}, models)
	to = "/loop"
	_, err = o.Models(t.Context())
	require.ErrorContains(t, err, "unexpected status 307")
	require.Less(t, hops, 20)
}

// TestListsAreBounded: neither what is read, nor how many models, nor their names.
func TestListsAreBounded(t *testing.T) {
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf(`{"id":"m%d"}`, i))
	}
	models, err := lists(t, `{"data":[`+strings.Join(rows, ",")+`]}`).Models(t.Context())
	require.NoError(t, err)
	require.Len(t, models, 2000)
	models, err = lists(t, `{"data":[{"id":"`+strings.Repeat("n", 257)+`"},{"id":"`+strings.Repeat("n", 256)+
		`"}]}`).Models(t.Context())
	require.NoError(t, err)
	require.Len(t, models, 1)
	_, err = lists(t, `{"data":[{"id":"a","x":"`+strings.Repeat("x", 8<<20)+`"}]}`).Models(t.Context())
	require.ErrorContains(t, err, "the answer is no list of models")
}

// TestShelfUnderMany sends one request for many concurrent callers. Each receives the result once, and
// no caller can change the shared list.
func TestShelfUnderMany(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		var told atomic.Int32
		for i := range 100 {
			go s.List("p", func(models []core.ListedModel) {
				told.Add(1)
				if len(models) != 2 || models[0].ID != "a" {
					t.Errorf("%d is told %v", i, models)
				}
			})
			go s.Refresh("p")
			go s.Model("p", "a")
		}
		synctest.Wait()
		require.Zero(t, told.Load())
		require.Equal(t, 1, p.asked)
		p.answers <- []core.ListedModel{{ID: "a", Window: 1}, {ID: "b"}}
		synctest.Wait()
		require.EqualValues(t, 100, told.Load())
	})
}

// TestShelfAsksEachProvider expects that a silent provider does not delay the lists of others.
func TestShelfAsksEachProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent, quick := &fakeLister{answers: make(chan []core.ListedModel)},
			&fakeLister{answers: make(chan []core.ListedModel, 1)}
		quick.answers <- []core.ListedModel{{ID: "q", Window: 3}}
		s := model.NewModelCache(map[string]model.Lister{"silent": silent, "quick": quick}, nil, func() uint64 { return 0 })
		waits := true
		s.List("silent", func([]core.ListedModel) { waits = false })
		var ids []core.ListedModel
		s.List("quick", func(models []core.ListedModel) { ids = models })
		synctest.Wait()
		require.True(t, waits)
		require.Len(t, ids, 1)
		require.EqualValues(t, 3, s.Model("quick", "q").Window, "told while another is asked")
		s.Close()
		require.False(t, waits)
		require.Zero(t, s.Model("quick", "q").Window, "nobody asks any more")
	})
}

// TestShelfAsksAgainInTime expects a new request 20 seconds after a failure and five minutes after a
// reply. In the meantime it returns no list that is older than the reply.
func TestShelfAsksAgainInTime(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		p.answers <- nil
		require.Equal(t, []string{}, shelved(s)())
		time.Sleep(19 * time.Second)
		require.Equal(t, []string{}, shelved(s)())
		require.Equal(t, 1, p.asked)
		time.Sleep(2 * time.Second)
		p.answers <- []core.ListedModel{{ID: "a"}}
		require.Equal(t, []string{"a"}, shelved(s)())
		require.Equal(t, 2, p.asked)
		time.Sleep(5*time.Minute + time.Second)
		again := shelved(s)
		require.Nil(t, again(), "it waits for the provider")
		p.answers <- []core.ListedModel{{ID: "b"}}
		require.Equal(t, []string{"b"}, again())
		time.Sleep(5*time.Minute + time.Second)
		late := shelved(s)
		time.Sleep(2 * time.Second)
		require.Nil(t, late())
		time.Sleep(time.Second)
		require.Equal(t, []string{"b"}, late(), "silence costs three seconds, not the list")
	})
}
