package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

// ollamaAnswers returns answers of Ollama 0.17.4 with a model that reasons and one that embeds.
func ollamaAnswers() map[string]string {
	return map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"tiny-think:latest","object":"model","created":1795842530,` +
			`"owned_by":"library"},{"id":"tiny-embed:latest","object":"model","created":1795842529,"owned_by":"library"}]}`,
		"GET /api/version": `{"version":"0.17.4"}`,
		"GET /api/ps":      `{"models":[]}`,
		"POST /api/show": `{"parameters":"num_ctx                        16384","details":{"format":"gguf","family":"llama"},` +
			`"model_info":{"general.architecture":"llama","llama.context_length":32768},` +
			`"capabilities":["completion","tools","thinking"]}`,
	}
}

// studioAnswers returns answers of LM Studio, as its documentation has them.
func studioAnswers() map[string]string {
	return map[string]string{
		"GET /v1/models": `{"data":[{"id":"qwen2-vl-7b-instruct","object":"model","owned_by":"organization_owner"}],"object":"list"}`,
		"GET /api/v0/models": `{"object":"list","data":[{"id":"qwen2-vl-7b-instruct","object":"model","type":"vlm",` +
			`"publisher":"mlx-community","arch":"qwen2_vl","compatibility_type":"mlx","quantization":"4bit",` +
			`"state":"not-loaded","max_context_length":32768,"capabilities":["tool_use"]}]}`,
	}
}

// llamaAnswers returns answers of llama-server with one model.
func llamaAnswers() map[string]string {
	return map[string]string{
		"GET /v1/models": `{"models":[{"name":"coder.gguf","model":"coder.gguf"}],"object":"list","data":[{"id":"coder.gguf",` +
			`"object":"model","created":1795842000,"owned_by":"llamacpp","meta":{"n_vocab":151936,"n_ctx_train":131072}}]}`,
		"GET /props": `{"default_generation_settings":{"n_ctx":8192},"total_slots":4,"modalities":{"vision":false,"audio":false}}`,
	}
}

// vllmAnswers returns answers of vLLM with one model.
func vllmAnswers() map[string]string {
	return map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","created":1795842000,` +
			`"owned_by":"vllm","root":"Qwen/Qwen3-8B","parent":null,"max_model_len":40960,"permission":[]}]}`,
	}
}

// closedPort returns an address where nothing listens.
func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return "http://" + l.Addr().String()
}

// localHome returns a home in which the built-in providers of local servers have these addresses, in the order Ollama,
// LM Studio, llama-server, vLLM. An empty address is one where nothing listens.
func localHome(t *testing.T, addresses ...string) string {
	var config strings.Builder
	for i, provider := range []string{"ollama", "lmstudio", "llamacpp", "vllm"} {
		address := closedPort(t)
		if i < len(addresses) && addresses[i] != "" {
			address = addresses[i]
		}
		fmt.Fprintf(&config, "[model_providers.%s]\nbase_url = %q\n", provider, address+"/v1")
	}
	home := t.TempDir()
	apptest.WriteConfig(t, home, config.String())
	return home
}

// listenLocal serves on a port of this machine, and ends its connections with the test.
func listenLocal(t *testing.T, serve http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the context ends with the connection only then
		serve(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// names returns the models of a list as PROVIDER MODEL.
func names(list gjson.Result) (out []string) {
	for _, m := range list.Get("data").Array() {
		out = append(out, m.Get("modelProvider").Str+" "+m.Get("id").Str)
	}
	return out
}

func callList(c *apptest.Client, params apptest.Object) gjson.Result {
	return gjson.ParseBytes(c.Call("model/list", params))
}

// TestFindLocalListsTheModelsOfAllLocalServers with what each reports about them, although nothing is configured.
func TestFindLocalListsTheModelsOfAllLocalServers(t *testing.T) {
	ollama, studio := newLocalServer(t, ollamaAnswers(), hello), newLocalServer(t, studioAnswers(), hello)
	llama, vllm := newLocalServer(t, llamaAnswers(), hello), newLocalServer(t, vllmAnswers(), hello)
	c := apptest.StartServer(t, localHome(t, ollama.URL, studio.URL, llama.URL, vllm.URL))
	c.Initialize()
	list := callList(c, apptest.Object{"findLocal": true})
	require.Equal(t, []string{"openai gpt-5", "ollama tiny-think:latest", "ollama tiny-embed:latest",
		"lmstudio qwen2-vl-7b-instruct", "llamacpp coder.gguf", "vllm Qwen/Qwen3-8B"}, names(list))
	require.False(t, list.Get("data.0.available").Bool(), "it has no key")
	require.Contains(t, list.Get("data.0.unavailableReason").Str, "OPENAI_API_KEY")
	yes, no := `{"supported":true,"source":"provider"}`, `{"supported":false,"source":"provider"}`
	for i, want := range []struct {
		window                   int64
		tools, images, reasoning string
	}{1: {16384, yes, no, yes}, 3: {32768, yes, yes, "null"}, 4: {8192, "null", no, "null"},
		5: {40960, "null", "null", "null"}} {
		if want.window == 0 {
			continue
		}
		m := list.Get("data").Array()[i]
		require.True(t, m.Get("available").Bool())
		require.False(t, m.Get("isDefault").Bool(), "threads without a model take another one")
		require.Equal(t, want.window, m.Get("contextWindow").Int())
		require.Equal(t, "provider", m.Get("contextWindowSource").Str)
		require.Equal(t, want.tools, m.Get("abilities.tools").Raw, m.Raw)
		require.Equal(t, want.images, m.Get("abilities.images").Raw, m.Raw)
		require.Equal(t, want.reasoning, m.Get("abilities.reasoning").Raw, m.Raw)
		require.Equal(t, "null", m.Get("prices").Raw)
	}
	thread := c.StartThread(apptest.Object{"modelProvider": "llamacpp", "model": "coder.gguf"})
	require.Equal(t, "completed", c.Turn(thread, "hi").Status)
	c.Close()
}

// TestFindLocalIsPaged: further pages have the servers of the first one, without a new search.
func TestFindLocalIsPaged(t *testing.T) {
	vllm := newLocalServer(t, vllmAnswers(), hello)
	c := apptest.StartServer(t, localHome(t, "", "", "", vllm.URL))
	c.Initialize()
	first := callList(c, apptest.Object{"findLocal": true, "limit": 1})
	require.Equal(t, []string{"openai gpt-5"}, names(first))
	vllm.Close()
	second := callList(c, apptest.Object{"findLocal": true, "limit": 1, "cursor": first.Get("nextCursor").Str})
	require.Equal(t, []string{"vllm Qwen/Qwen3-8B"}, names(second))
	require.Equal(t, "null", second.Get("nextCursor").Raw)
	require.Equal(t, []string{"openai gpt-5"}, names(callList(c, apptest.Object{"findLocal": true})), "it has ended")
	c.Close()
}

// TestOnlyRequestsOfClientsSearchForServers: not the start, lists without findLocal, or turns of another provider.
func TestOnlyRequestsOfClientsSearchForServers(t *testing.T) {
	var asked atomic.Int32
	s := listenLocal(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	c := apptest.StartServer(t, localHome(t, s.URL, s.URL, s.URL, s.URL), "-c", "model_provider=offline")
	c.Initialize()
	c.Call("model/list", apptest.Object{})
	c.Call("model/list", apptest.Object{"includeHidden": true})
	c.Call("modelProvider/list", apptest.Object{})
	c.Turn(c.StartTrusted(), "hi")
	require.Zero(t, asked.Load())
	c.Call("model/list", apptest.Object{"findLocal": true})
	require.EqualValues(t, 4, asked.Load())
	c.Close()
}

// TestOllamaHostIsSearched at the address of the environment.
func TestOllamaHostIsSearched(t *testing.T) {
	ollama := newLocalServer(t, ollamaAnswers(), hello)
	home := localHome(t)
	apptest.WriteConfig(t, home, fmt.Sprintf("[model_providers.lmstudio]\nbase_url = %[1]q\n"+
		"[model_providers.llamacpp]\nbase_url = %[1]q\n[model_providers.vllm]\nbase_url = %[1]q\n", closedPort(t)+"/v1"))
	cmd := apptest.ServerCommand(t, home)
	cmd.Env = append(cmd.Env, "OLLAMA_HOST="+strings.TrimPrefix(ollama.URL, "http://"))
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	require.Contains(t, names(callList(c, apptest.Object{"findLocal": true})), "ollama tiny-think:latest")
	c.Close()
}

// TestWhatIsNoModelServerIsNotFound, does not delay the list much, and is no error.
func TestWhatIsNoModelServerIsNotFound(t *testing.T) {
	elsewhere := newLocalServer(t, vllmAnswers(), hello)
	row := `{"id":"x","object":"model"},`
	for name, serve := range map[string]http.HandlerFunc{
		"a page":              writeHandler("<!doctype html><title>My app</title>"),
		"nothing":             writeHandler(""),
		"a text":              writeHandler("ok"),
		"null":                writeHandler("null"),
		"an object":           writeHandler(`{"status":"ok"}`),
		"an empty list":       writeHandler(`[]`),
		"rows of another app": writeHandler(`{"data":[{"id":"user-1"},{"id":"user-2"}]}`),
		"a list of others":    writeHandler(`{"object":"list","data":[{"id":"user-1","object":"user"}]}`),
		"rows of no sense":    writeHandler(`{"object":"list","data":[7,{},"x"]}`),
		"deep JSON":           writeHandler(strings.Repeat("[", 1<<20)),
		"10 MB": writeHandler(`{"object":"list","data":[` + strings.Repeat(row, 10<<20/len(row)) +
			row[:len(row)-1] + `]}`),
		"a status": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusTeapot) },
		"a login": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "login", http.StatusUnauthorized)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		},
		"a circle": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) },
		"silence":  func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a closed connection": func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		},
		"an endless body": func(w http.ResponseWriter, r *http.Request) {
			for chunk := bytes.Repeat([]byte(" "), 1<<16); r.Context().Err() == nil; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		},
		"a slow body": func(w http.ResponseWriter, r *http.Request) {
			for _, b := range []byte(`{"object":"list","data":[]}` + strings.Repeat(" ", 1000)) {
				if _, err := w.Write([]byte{b}); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-r.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := listenLocal(t, serve)
			c := apptest.StartServer(t, localHome(t, s.URL, s.URL, s.URL, s.URL), "-c", "model_provider=offline")
			c.Initialize()
			list := callList(c, apptest.Object{"findLocal": true})
			require.Equal(t, []string{"offline offline"}, names(list))
			c.Close()
		})
	}
}

// TestSilentPortsAreGivenUpTogether: four ports that do not answer cost one second, not four, and other requests are
// served meanwhile.
func TestSilentPortsAreGivenUpTogether(t *testing.T) {
	asked := make(chan struct{}, 4)
	s := listenLocal(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	c := apptest.StartServer(t, localHome(t, s.URL, s.URL, s.URL, s.URL), "-c", "model_provider=offline")
	c.Initialize()
	list := c.SendRequest("model/list", apptest.Object{"findLocal": true})
	for range 4 {
		<-asked // all at once
	}
	c.Call("account/read", apptest.Object{})
	require.Nil(t, c.UntilResponse(list).Error)
	c.Close()
}

// TestDetailsAreNotAwaitedForLong: a server that lists its models and then is silent has models without details.
func TestDetailsAreNotAwaitedForLong(t *testing.T) {
	answers := ollamaAnswers()
	s := listenLocal(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			_, _ = io.WriteString(w, answers["GET /v1/models"])
			return
		}
		<-r.Context().Done()
	})
	c := apptest.StartServer(t, localHome(t, s.URL), "-c", "model_provider=offline")
	c.Initialize()
	list := callList(c, apptest.Object{"findLocal": true})
	require.Contains(t, names(list), "ollama tiny-think:latest")
	require.Equal(t, "null", list.Get("data.1.contextWindow").Raw)
	c.Close()
}

// TestIncludeHiddenNamesTheProvidersOfOtherModels, so that threads can use them.
func TestIncludeHiddenNamesTheProvidersOfOtherModels(t *testing.T) {
	home := t.TempDir()
	apptest.WriteConfig(t, home, "model_provider = \"offline\"\n[model_providers.mine]\nbase_url = \"https://models.example.com/v1\"\n"+
		"model = \"own\"\n[model_providers.without]\nbase_url = \"https://models.example.com/v1\"\n")
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.Equal(t, []string{"offline offline"}, names(callList(c, apptest.Object{})))
	all := callList(c, apptest.Object{"includeHidden": true})
	require.Equal(t, []string{"offline offline", "mine own"}, names(all))
	require.True(t, all.Get("data.1.hidden").Bool())
	require.True(t, all.Get("data.1.available").Bool())
	c.Close()
}

// TestAServerThatStartedIsFoundAtOnce although it did not answer a moment ago.
func TestAServerThatStartedIsFoundAtOnce(t *testing.T) {
	var started atomic.Bool
	s := listenLocal(t, func(w http.ResponseWriter, r *http.Request) {
		if !started.Load() {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, vllmAnswers()["GET /v1/models"])
	})
	c := apptest.StartServer(t, localHome(t, "", "", "", s.URL), "-c", "model_provider=vllm")
	c.Initialize()
	list := callList(c, apptest.Object{"includeHidden": true})
	require.Equal(t, []string{"offline offline"}, names(list))
	started.Store(true)
	list = callList(c, apptest.Object{"findLocal": true})
	require.Equal(t, []string{"vllm Qwen/Qwen3-8B"}, names(list))
	require.True(t, list.Get("data.0.isDefault").Bool(), "it is of the configured provider")
	require.True(t, list.Get("data.0.available").Bool())
	var page struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(c.Call("model/list", apptest.Object{"modelProvider": "vllm"}), &page))
	require.Len(t, page.Data, 1, "the list is kept")
	c.Close()
}
