package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

func probe(c *apptest.Client, params apptest.Object) gjson.Result {
	return gjson.ParseBytes(c.Call("model/provider/probe", params))
}

// keyedServer serves a provider on this machine that takes one key only, for its list as well unless it is public.
func keyedServer(t *testing.T, key string, public bool) string {
	return listenLocal(t, func(w http.ResponseWriter, r *http.Request) {
		isList := r.URL.Path == "/v1/models"
		switch {
		case r.Header.Get("Authorization") != "Bearer "+key && !(isList && public):
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, r.Header.Get("Authorization"))
		case isList:
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
		default:
			hello(w, r)
		}
	}).URL
}

// keyedClient starts a server with a provider that has its key in MY_KEY.
func keyedClient(t *testing.T, url, key string) *apptest.Client {
	home := t.TempDir()
	apptest.WriteConfig(t, home, fmt.Sprintf("model_provider = \"offline\"\n[model_providers.mine]\nbase_url = %q\nwire_api = \"chat\"\n"+
		"env_key = \"MY_KEY\"\nenv_key_instructions = \"Ask Ann.\"\n", url+"/v1"))
	cmd := apptest.ServerCommand(t, home)
	cmd.Env = append(cmd.Env, "MY_KEY="+key)
	c := apptest.StartProcess(t, cmd)
	c.Initialize()
	return c
}

// TestAProbeDescribesALocalServer without a test answer: no model is asked.
func TestAProbeDescribesALocalServer(t *testing.T) {
	ollama := newLocalServer(t, ollamaAnswers(), hello)
	c := apptest.StartServer(t, localHome(t, ollama.URL))
	c.Initialize()
	r := probe(c, apptest.Object{"modelProvider": "ollama"})
	require.Equal(t, ollama.URL+"/v1", r.Get("baseUrl").Str)
	require.JSONEq(t, `{"needed":false,"present":false,"accepted":null,"source":"none","envKey":null}`, r.Get("key").Raw)
	require.True(t, r.Get("reachable").Bool())
	require.True(t, r.Get("local").Bool())
	require.EqualValues(t, 2, r.Get("modelCount").Int())
	require.EqualValues(t, 16384, r.Get("models.0.contextWindow").Int())
	require.Equal(t, "null", r.Get("test").Raw)
	require.Equal(t, "null", r.Get("problem").Raw)
	require.Empty(t, ollama.turns)
	c.Close()
}

// TestAProbeAsksAModel and reports its answer. It makes no thread and no rollout.
func TestAProbeAsksAModel(t *testing.T) {
	ollama := newLocalServer(t, ollamaAnswers(), hello)
	home := localHome(t, ollama.URL)
	c := apptest.StartServer(t, home)
	c.Initialize()
	r := probe(c, apptest.Object{"modelProvider": "ollama", "test": true})
	require.Equal(t, "Hello.", r.Get("test.text").Str)
	require.Equal(t, "tiny-think:latest", r.Get("test.model").Str)
	require.GreaterOrEqual(t, r.Get("test.durationMs").Int(), int64(0))
	require.EqualValues(t, 2000, r.Get("test.tokens.inputTokens").Int())
	require.EqualValues(t, 5, r.Get("test.tokens.outputTokens").Int())
	require.Equal(t, "null", r.Get("problem").Raw)
	require.Equal(t, "tiny-embed:latest", probe(c, apptest.Object{"modelProvider": "ollama", "test": true,
		"model": "tiny-embed:latest"}).Get("test.model").Str)
	require.Equal(t, "offline", probe(c, apptest.Object{"modelProvider": "offline", "test": true}).Get("test.model").Str)
	require.NotContains(t, string(c.Call("thread/list", apptest.Object{})), `"preview"`)
	c.Close()
	_, err := os.Stat(filepath.Join(home, "sessions"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestAProbeAsksByTheApiOfTheProvider once.
func TestAProbeAsksByTheApiOfTheProvider(t *testing.T) {
	apptest.OnBothWires(t, func(t *testing.T, on apptest.WireAPI) {
		p := on.NewProvider(t, apptest.TextAnswer("OK"))
		c := apptest.StartServer(t, p.Home(t))
		c.Initialize()
		r := probe(c, apptest.Object{"modelProvider": "test", "test": true})
		require.Equal(t, "OK", r.Get("test.text").Str, r.Raw)
		require.Equal(t, "null", r.Get("problem").Raw)
		require.Len(t, p.Requests(), 1)
		c.Close()
	})
}

// TestAProbeShowsNoSecretOfAnAddress, whether it answers or not.
func TestAProbeShowsNoSecretOfAnAddress(t *testing.T) {
	page := listenLocal(t, writeHandler("<!doctype html>"))
	for _, address := range []string{closedPort(t), page.URL} {
		home := t.TempDir()
		apptest.WriteConfig(t, home, fmt.Sprintf("[model_providers.mine]\nwire_api = \"chat\"\nbase_url = %q\n"+
			"query_params = { token = \"hidden-in-query\" }\nhttp_headers = { X-Key = \"hidden-in-header\" }\n",
			strings.Replace(address, "//", "//me:hidden-password@", 1)+"/v1?api_key=hidden-parameter"))
		c := apptest.StartServer(t, home)
		c.Initialize()
		r := probe(c, apptest.Object{"modelProvider": "mine", "model": "m", "test": true})
		require.NotEmpty(t, r.Get("problem.kind").Str)
		require.NotContains(t, r.Raw, "hidden")
		require.True(t, r.Get("key.present").Bool())
		require.Equal(t, "configuration", r.Get("key.source").Str)
		c.Close()
	}
}

// TestAProbeSaysWhatFailedAndWhatToDo for each kind of problem.
func TestAProbeSaysWhatFailedAndWhatToDo(t *testing.T) {
	missing := newLocalServer(t, ollamaAnswers(), func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"message":"model 'gone' not found","type":"api_error","param":null,"code":null}}`)
	})
	empty := newLocalServer(t, map[string]string{"GET /v1/models": `{"object":"list","data":[]}`}, hello)
	page := listenLocal(t, writeHandler("<!doctype html><title>My app</title>"))
	failing := newLocalServer(t, vllmAnswers(), func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"CUDA out of memory"}}`, http.StatusInternalServerError)
	})
	closed := strings.TrimPrefix(closedPort(t), "http://")
	for name, tt := range map[string]struct {
		addresses             []string
		params                apptest.Object
		kind, message, advice string
	}{
		"nothing listens": {[]string{"http://" + closed}, apptest.Object{"modelProvider": "ollama"},
			"unreachable", "nothing listens on " + closed, "start it with `ollama serve`"},
		"another program": {[]string{3: page.URL}, apptest.Object{"modelProvider": "vllm", "test": true},
			"noModelServer", "is not the API of a model server", "set base_url in [model_providers.vllm]"},
		"no models": {[]string{empty.URL}, apptest.Object{"modelProvider": "ollama", "test": true},
			"noModels", "has no models", "`ollama pull MODEL`"},
		"a model that is not listed": {[]string{missing.URL}, apptest.Object{"modelProvider": "ollama", "model": "qwen3:8b"},
			"modelNotFound", "does not list the model qwen3:8b", "`ollama pull qwen3:8b`"},
		"a model that is not there": {[]string{missing.URL}, apptest.Object{"modelProvider": "ollama", "model": "gone", "test": true},
			"modelNotFound", "model 'gone' not found", "`ollama pull gone`"},
		"a name for a shell": {[]string{missing.URL}, apptest.Object{"modelProvider": "ollama", "model": "x; rm -rf ~"},
			"modelNotFound", "does not list the model x; rm -rf ~", "choose one of the models"},
		"a failing model": {[]string{3: failing.URL}, apptest.Object{"modelProvider": "vllm", "test": true},
			"failed", "CUDA out of memory", ""},
		"no key": {nil, apptest.Object{"modelProvider": "openai"},
			"keyMissing", "OPENAI_API_KEY is not set", "set OPENAI_API_KEY"},
	} {
		t.Run(name, func(t *testing.T) {
			c := apptest.StartServer(t, localHome(t, tt.addresses...))
			c.Initialize()
			problem := probe(c, tt.params).Get("problem")
			require.Equal(t, tt.kind, problem.Get("kind").Str, problem.Raw)
			require.Contains(t, problem.Get("message").Str, tt.message)
			require.Contains(t, problem.Get("advice").String(), tt.advice)
			c.Close()
		})
	}
}

// TestAProbeFindsOutAboutTheKey, and never shows it.
func TestAProbeFindsOutAboutTheKey(t *testing.T) {
	const right, wrong = "sk-right-secret-1", "sk-wrong-secret-2"
	closed := keyedServer(t, right, false)
	public := keyedServer(t, right, true)
	for name, tt := range map[string]struct {
		url, key        string
		test            bool
		needed          string
		present         bool
		accepted, kind  string
		message, advice string
	}{
		"accepted":                   {closed, right, false, "true", true, "true", "", "", ""},
		"rejected":                   {closed, wrong, true, "true", true, "false", "keyRejected", "rejects the key in MY_KEY (401)", "set MY_KEY in the environment"},
		"a list for everyone":        {public, wrong, false, "true", true, "null", "", "", ""},
		"rejected by the model only": {public, wrong, true, "true", true, "false", "keyRejected", "rejects the key in MY_KEY (401)", "MY_KEY"},
		"accepted by the model":      {public, right, true, "true", true, "true", "", "", ""},
		"missing":                    {closed, "", false, "true", false, "null", "keyMissing", "MY_KEY is not set", "Ask Ann."},
	} {
		t.Run(name, func(t *testing.T) {
			c := keyedClient(t, tt.url, tt.key)
			r := probe(c, apptest.Object{"modelProvider": "mine", "test": tt.test, "model": "m"})
			key := r.Get("key")
			require.Equal(t, tt.needed, key.Get("needed").Raw, r.Raw)
			require.Equal(t, tt.present, key.Get("present").Bool())
			require.Equal(t, tt.accepted, key.Get("accepted").Raw, r.Raw)
			require.Equal(t, "MY_KEY", key.Get("envKey").Str)
			require.Equal(t, map[bool]string{true: "environmentVariable", false: "none"}[tt.present], key.Get("source").Str)
			require.Equal(t, tt.kind, r.Get("problem.kind").Str, r.Raw)
			require.Contains(t, r.Get("problem.message").Str, tt.message)
			require.Contains(t, r.Get("problem.advice").Str, tt.advice)
			require.NotContains(t, r.Raw, "secret")
			c.Close()
		})
	}
}

func TestAProbeRefusesWrongParams(t *testing.T) {
	c := apptest.StartServer(t, localHome(t))
	c.Initialize()
	require.Equal(t, "providerNotFound",
		c.CallRejected("model/provider/probe", apptest.Object{"modelProvider": "nope"}).Data.Kind)
	for _, model := range []string{"", strings.Repeat("x", 257)} {
		require.Contains(t, c.CallRejected("model/provider/probe", apptest.Object{"modelProvider": "ollama", "model": model}).Message,
			"`model`")
	}
	c.Close()
}

// TestAProbeEndsWithItsConnection, and does not delay other requests, threads or the end of the server.
func TestAProbeEndsWithItsConnection(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	vllm := newLocalServer(t, vllmAnswers(), func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(ended)
	})
	c := apptest.StartServer(t, localHome(t, "", "", "", vllm.URL), "-c", "model_provider=offline")
	c.Initialize()
	c.SendRequest("model/provider/probe", apptest.Object{"modelProvider": "vllm", "test": true})
	<-asked
	require.Equal(t, "completed", c.Turn(c.StartTrusted(), "hi").Status)
	c.Call("model/list", apptest.Object{})
	require.NoError(t, c.In.Close())
	<-ended
	c.AwaitExit()
}

// TestProbesOfAClientAreBounded: a further one is refused at once.
func TestProbesOfAClientAreBounded(t *testing.T) {
	asked := make(chan struct{}, 8)
	vllm := newLocalServer(t, vllmAnswers(), func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	c := apptest.StartServer(t, localHome(t, "", "", "", vllm.URL))
	c.Initialize()
	params := apptest.Object{"modelProvider": "vllm", "test": true}
	for range 4 {
		c.SendRequest("model/provider/probe", params)
	}
	for range 4 {
		<-asked
	}
	require.Contains(t, c.CallRejected("model/provider/probe", params).Message, "too many checks")
	require.NoError(t, c.In.Close())
	c.AwaitExit()
}
