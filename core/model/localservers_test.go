package model_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"appserver/core"
	"appserver/core/model"
	"appserver/core/model/chat"
)

// local answers requests by their method, path and query, and for /api/show by the model.
type local struct{ answers map[string]string }

func (l *local) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + r.URL.RequestURI()
	if r.Method == http.MethodPost {
		body, _ := io.ReadAll(r.Body)
		key += " " + string(body)
	}
	if answer, ok := l.answers[key]; ok {
		_, _ = io.WriteString(w, answer)
		return
	}
	http.NotFound(w, r)
}

func (l *local) client(t *testing.T) *model.Client {
	srv := httptest.NewServer(l)
	t.Cleanup(srv.Close)
	c := model.NewClient(model.Endpoint{Name: "mine", BaseURL: srv.URL + "/v1"}, chat.New())
	t.Cleanup(c.Close)
	return c
}

const (
	ollamaList = `{"object":"list","data":[{"id":"qwen3:8b","object":"model","created":3,"owned_by":"library"},` +
		`{"id":"gemma3:latest","created":2,"owned_by":"library"},{"id":"nomic-embed-text:latest","created":1,"owned_by":"library"}]}`
	llamaList = `{"models":[{"name":"x.gguf","model":"x.gguf"}],"object":"list","data":[{"id":"x.gguf","object":"model",` +
		`"owned_by":"llamacpp","meta":{"n_vocab":151936,"n_ctx_train":131072,"n_embd":1024}}]}`
	routerList = `{"data":[{"id":"big","object":"model","owned_by":"llamacpp","created":2,"status":{"value":"loaded"}},` +
		`{"id":"small","object":"model","owned_by":"llamacpp","created":1,"status":{"value":"unloaded"}}],"object":"list"}`
)

// TestModelsOfLocalServers reads windows and abilities from the interfaces that Ollama and llama-server have beside
// the API of OpenAI.
func TestModelsOfLocalServers(t *testing.T) {
	for name, tt := range map[string]struct {
		answers map[string]string
		want    []core.ListedModel
		other   bool // it is neither Ollama nor llama-server
	}{
		"Ollama": {
			map[string]string{
				"GET /v1/models": ollamaList,
				"GET /api/ps":    `{"models":[{"name":"gemma3:latest","model":"gemma3:latest","size_vram":1,"context_length":4096}]}`,
				`POST /api/show {"model":"qwen3:8b"}`: `{"capabilities":["completion","tools","thinking"],"model_info":` +
					`{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.rope.scaling.original_context_length":8}}`,
				`POST /api/show {"model":"gemma3:latest"}`: `{"capabilities":["completion","vision"],` +
					`"parameters":"stop \"<end>\"\nnum_ctx    16384\ntemperature 1","model_info":{"gemma3.context_length":131072}}`,
				`POST /api/show {"model":"nomic-embed-text:latest"}`: `{"capabilities":["embedding"],"model_info":` +
					`{"nomic-bert.context_length":2048}}`,
			},
			[]core.ListedModel{
				{ID: "qwen3:8b", Created: 3, Window: 40960, Loads: true, Modalities: []string{"text"}},
				{ID: "gemma3:latest", Created: 2, Window: 4096, Running: true, Loads: true,
					Modalities: []string{"text", "image"}, NoTools: true, NoThinking: true},
				{ID: "nomic-embed-text:latest", Created: 1, Window: 2048, Loads: true, Modalities: []string{"text"},
					NoTools: true, NoThinking: true, Wordless: true},
			}, false,
		},
		"Ollama with models from elsewhere, and answers of no sense": {
			map[string]string{
				"GET /v1/models":   `{"data":[{"id":"hf.co/unsloth/x:Q4","owned_by":"unsloth"}]}`,
				"GET /api/version": `{"version":"0.17.4"}`,
				"GET /api/ps":      `{"models":[{"name":"hf.co/unsloth/x:Q4","context_length":-4}]}`,
				`POST /api/show {"model":"hf.co/unsloth/x:Q4"}`: `{"capabilities":"all","parameters":7,` +
					`"model_info":{"x.context_length":1e300}}`,
			},
			[]core.ListedModel{{ID: "hf.co/unsloth/x:Q4", Loads: true}}, false,
		},
		"Ollama of an older version": {
			map[string]string{"GET /v1/models": `{"data":[{"id":"a","owned_by":"library"}]}`},
			[]core.ListedModel{{ID: "a"}}, false,
		},
		"llama-server": {
			map[string]string{
				"GET /v1/models": llamaList,
				"GET /props": `{"default_generation_settings":{"n_ctx":8192},"total_slots":2,"model_alias":"coder",` +
					`"modalities":{"vision":true,"audio":false}}`,
			},
			[]core.ListedModel{{ID: "x.gguf", Aliases: []string{"coder"}, AnyName: true, Window: 8192, Running: true,
				Loads: true, Modalities: []string{"text", "image"}}}, false,
		},
		"llama-server with models to load": {
			map[string]string{
				"GET /v1/models":                        routerList,
				"GET /props":                            `{"role":"router","default_generation_settings":{"params":null,"n_ctx":0}}`,
				"GET /props?autoload=false&model=big":   `{"default_generation_settings":{"n_ctx":32768}}`,
				"GET /props?autoload=false&model=small": `{"error":{"code":400,"message":"model is not loaded"}}`,
			},
			[]core.ListedModel{{ID: "big", Created: 2, Window: 32768, Running: true, Loads: true},
				{ID: "small", Created: 1, Loads: true}}, false,
		},
		"another server is not asked": {
			map[string]string{
				"GET /v1/models": `{"data":[{"id":"a","owned_by":"vllm","max_model_len":512}]}`,
				"GET /props":     `{"default_generation_settings":{"n_ctx":8192}}`,
				"GET /api/ps":    `{"models":[{"name":"a","context_length":4096}]}`,
			},
			[]core.ListedModel{{ID: "a", Window: 512}}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			models, err := (&local{tt.answers}).client(t).Models(t.Context())
			require.NoError(t, err)
			for i := range tt.want {
				tt.want[i].NoProviderTools = !tt.other
			}
			require.Equal(t, tt.want, models)
		})
	}
}

// TestNamesOfModels finds the model that a provider uses for a name.
func TestNamesOfModels(t *testing.T) {
	models := []core.ListedModel{{ID: "qwen3:latest"}, {ID: "qwen3"}, {ID: "gemma3:latest"}, {ID: "phi:14b"},
		{ID: "file.gguf", Aliases: []string{"coder"}}}
	for name, want := range map[string]int{"qwen3": 1, "qwen3:latest": 0, "gemma3": 2, "phi": -1, "phi:latest": -1,
		"coder": 4, "file.gguf:latest": 4, "other": -1, "": -1} {
		require.Equal(t, want, core.FindModel(models, name), name)
	}
	require.Equal(t, 0, core.FindModel([]core.ListedModel{{ID: "x", AnyName: true}}, "other"))
}

// loading is a local provider that knows the window of its model after the second list.
type loading struct{ lists int }

func (l *loading) IsLocal() bool { return true }

func (l *loading) Models(ctx context.Context) ([]core.ListedModel, error) {
	l.lists++
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.lists == 1 {
		return []core.ListedModel{{ID: "a", Loads: true}}, nil
	}
	return []core.ListedModel{{ID: "a", Loads: true, Window: 9000, Running: true}}, nil
}

// TestWindowAfterTheFirstAnswer lists the models of a local provider before the first turn and after the first answer.
func TestWindowAfterTheFirstAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := &loading{}, &model.ModelCache{}
		c.SetListers(map[string]model.Lister{"p": p})
		c.Await("p")
		require.Equal(t, core.ListedModel{ID: "a", Loads: true}, c.Model("p", "a"))
		require.EqualValues(t, 9000, c.Answered("p", "a").Window)
		require.EqualValues(t, 9000, c.Answered("p", "a").Window)
		require.Equal(t, 2, p.lists, "the window is known")
		require.Zero(t, c.Answered("p", "other").Window)
		require.Zero(t, c.Answered("p", "other").Window)
		require.Equal(t, 3, p.lists, "a model that the provider does not list is asked for once")
		c.Close()
	})
}

// TestTurnsDoNotWaitLongForLists bounds the wait for a silent local provider, and does not wait for others.
func TestTurnsDoNotWaitLongForLists(t *testing.T) {
	bubble(t, func(t *testing.T, s *model.ModelCache, p *fakeLister) {
		began := time.Now()
		s.Await("p")
		s.Answered("p", "a")
		require.Zero(t, time.Since(began))
		require.Zero(t, p.asked)
		s.SetListers(map[string]model.Lister{"near": nearLister{p}})
		s.Await("near")
		require.Equal(t, 500*time.Millisecond, time.Since(began))
	})
}

type nearLister struct{ *fakeLister }

func (nearLister) IsLocal() bool { return true }

// TestLocalHosts tells machines of the own network from others.
func TestLocalHosts(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "[::1]": true, "10.1.2.3": true, "192.168.0.7": true, "172.16.0.1": true,
		"[fd00::1]": true, "gpu-box": true, "Studio.local": true, "host.docker.internal": true, "0.0.0.0": true,
		"[::ffff:10.0.0.1]": true, "api.openai.com": false, "8.8.8.8": false, "172.32.0.1": false, "local.example.com": false,
		"[2001:db8::1]": false,
	} {
		c := model.NewClient(model.Endpoint{BaseURL: "http://" + host + ":8080/v1"}, chat.New())
		require.Equal(t, want, c.IsLocal(), host)
	}
	require.False(t, model.NewClient(model.Endpoint{BaseURL: "ftp://localhost"}, chat.New()).IsLocal())
}
