package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/protocol"
	"appserver/test/apptest"
)

// TestModelsCommandListsModels of the configured provider, and of found servers with --find.
func TestModelsCommandListsModels(t *testing.T) {
	vllm := newLocalServer(t, vllmAnswers(), hello)
	home := localHome(t, "", "", "", vllm.URL)
	status, out, errs := apptest.Execute(t, home, "models")
	require.Zero(t, status, errs)
	require.Equal(t, []string{"Provider Model Window Abilities Dollars per million Usable",
		"openai gpt-5 * 272,000 tools, images, reasoning 1.25 in, 10 out no"}, rowsOf(out)[:2])
	require.Contains(t, out, "set OPENAI_API_KEY")
	require.NotContains(t, out, "vllm")

	status, out, errs = apptest.Execute(t, home, "models", "--find")
	require.Zero(t, status, errs)
	require.Equal(t, "vllm Qwen/Qwen3-8B 40,960 - - yes", rowOf(t, out, "vllm"))

	status, out, errs = apptest.Execute(t, home, "models", "--provider", "vllm", "--json")
	require.Zero(t, status, errs)
	var list protocol.ModelListResponse
	require.NoError(t, json.Unmarshal([]byte(out), &list))
	require.Len(t, list.Data, 1)
	require.Equal(t, "Qwen/Qwen3-8B", list.Data[0].ID)
	require.True(t, *list.Data[0].Available)

	_, out, _ = apptest.Execute(t, home, "models", "--provider", "ollama")
	require.Contains(t, out, "appserver models --find")
}

// TestModelsCommandHasTheListOfModelList member by member.
func TestModelsCommandHasTheListOfModelList(t *testing.T) {
	ollama := newLocalServer(t, ollamaAnswers(), hello)
	home := localHome(t, ollama.URL)
	_, out, _ := apptest.Execute(t, home, "models", "--find", "--json")
	c := apptest.StartServer(t, home)
	c.Initialize()
	require.JSONEq(t, string(c.Call("model/list", apptest.Object{"findLocal": true})), out)
	c.Close()
}

// TestModelsTestAsksAModel, and fails with the reason and the next action.
func TestModelsTestAsksAModel(t *testing.T) {
	ollama := newLocalServer(t, ollamaAnswers(), hello)
	home := localHome(t, ollama.URL)
	status, out, errs := apptest.Execute(t, home, "models", "test", "ollama", "tiny-think")
	require.Zero(t, status, errs)
	for _, row := range []string{"address " + ollama.URL + "/v1", "reachable yes", "key none", "model tiny-think",
		`answer "Hello."`, "tokens 2000 in, 5 out"} {
		require.Contains(t, rowsOf(out), row)
	}
	status, out, errs = apptest.Execute(t, home, "models", "test", "vllm")
	require.Equal(t, 1, status)
	require.Contains(t, rowsOf(out), "reachable no")
	require.Contains(t, errs, "nothing listens on 127.0.0.1:")
	require.Contains(t, errs, "start it with `vllm serve MODEL`")
	status, out, _ = apptest.Execute(t, home, "models", "test", "vllm", "--json")
	require.Equal(t, 1, status)
	require.Equal(t, "unreachable", gjson.Get(out, "problem.kind").Str)
}

// TestModelsCommandPrintsNoControlCharacters of a provider.
func TestModelsCommandPrintsNoControlCharacters(t *testing.T) {
	vllm := newLocalServer(t, map[string]string{
		"GET /v1/models": `{"object":"list","data":[{"id":"a\u001b[2Jb\u202e","object":"model"}]}`}, hello)
	home := localHome(t, "", "", "", vllm.URL)
	for _, args := range [][]string{{"models", "--find"}, {"models", "--find", "--json"}, {"models", "test", "vllm"}} {
		_, out, errs := apptest.Execute(t, home, args...)
		require.NotContains(t, out+errs, "\x1b", args)
		require.NotContains(t, out+errs, "\u202e", args)
	}
}

func TestModelsCommandRefusesWrongArguments(t *testing.T) {
	home := localHome(t)
	for args, reason := range map[string]string{
		"models x":                           `unexpected argument "x"`,
		"models test":                        "PROVIDER is missing",
		"models test a b c":                  `unexpected argument "c"`,
		"models test ollama --find":          "no flags --find and --provider",
		"models --provider":                  "flag needs an argument",
		"models test --provider ollama vllm": "no flags --find and --provider",
	} {
		status, _, errs := apptest.Execute(t, home, strings.Fields(args)...)
		require.Equal(t, 2, status, args)
		require.Contains(t, errs, reason)
	}
	status, _, errs := apptest.Execute(t, home, "models", "--provider", "nope")
	require.Equal(t, 1, status)
	require.Contains(t, errs, "choose one of llamacpp")
}
