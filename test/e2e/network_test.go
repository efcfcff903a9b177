package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"appserver/test/apptest"
)

const (
	modelsHost = "models.example.test"
	toolsHost  = "tools.example.test"
	memoryHost = "memory.example.test"
)

// startRemote starts the server with a provider, an MCP server and an endpoint of embeddings on hosts that only a
// proxy knows, and with variables of the environment.
func startRemote(t *testing.T, env ...string) (c *apptest.Client, id string) {
	home := t.TempDir()
	apptest.WriteConfig(t, home, `model = "test"
model_provider = "test"
[model_providers.test]
base_url = "https://`+modelsHost+`/v1"
wire_api = "chat"
request_max_retries = 0
[mcp_servers.remote]
url = "https://`+toolsHost+`/mcp"
[memory]
index_code = true
[memory.embeddings]
model = "m"
base_url = "http://`+memoryHost+`/v1"
`)
	cmd := apptest.ServerCommand(t, home)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		env = append([]string{name + "=", strings.ToLower(name) + "="}, env...)
	}
	cmd.Env = append(cmd.Env, env...)
	c = apptest.StartProcess(t, cmd)
	c.Initialize()
	return c, c.StartThread(apptest.Object{"cwd": t.TempDir()})
}

// TestAllRequestsUseTheProxyAndCertificatesOfTheEnvironment uses an HTTP proxy and a SOCKS proxy.
func TestAllRequestsUseTheProxyAndCertificatesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "socks5h"} {
		p, a := apptest.NewProvider(t, apptest.TextAnswer("hello")), apptest.NewAuthority(t)
		vectors, _ := vectorServer(t)
		proxy := apptest.NewProxy(t, map[string]string{
			modelsHost: a.ServeTLS(t, modelsHost, p.Server.Config.Handler),
			toolsHost:  a.ServeTLS(t, toolsHost, http.NotFoundHandler()),
			memoryHost: strings.TrimSuffix(strings.TrimPrefix(vectors, "http://"), "/v1"),
		})
		proxy.User = "user:pa55word"
		c, id := startRemote(t, "ALL_PROXY="+scheme+"://"+proxy.User+"@"+proxy.Address, "CODEX_CA_CERTIFICATE="+a.File)
		require.Equal(t, "completed", c.Turn(id, "hi").Status)
		c.MemorySearch(apptest.Object{"query": "money", "repoKey": codeRepository(t)})
		require.Eventually(t, func() bool {
			asked := proxy.Asked()
			return slices.Contains(asked, modelsHost+":443") && slices.Contains(asked, toolsHost+":443") &&
				slices.Contains(asked, memoryHost+":80")
		}, apptest.Timeout, apptest.Timeout/1000)
		c.Close()
	}
}

// TestErrorsBlameTheProxyOrTheVariable never shows a password.
func TestErrorsBlameTheProxyOrTheVariable(t *testing.T) {
	t.Parallel()
	proxy := apptest.NewProxy(t, nil)
	proxy.User = "user:pa55word"
	for name, c := range map[string]struct {
		env, message string
	}{
		"proxy": {"HTTPS_PROXY=http://user:pa55word2@" + proxy.Address,
			"the proxy " + proxy.Address + " of HTTPS_PROXY refused the connection with status 407"},
		"variable":    {"HTTPS_PROXY=ftp://user:pa55word2@p", "the environment variable HTTPS_PROXY is not the address of a proxy"},
		"certificate": {"CODEX_CA_CERTIFICATE=/none.pem", "the environment variable CODEX_CA_CERTIFICATE names the file /none.pem: "},
	} {
		t.Run(name, func(t *testing.T) {
			client, id := startRemote(t, c.env)
			end := client.Turn(id, "hi")
			require.Equal(t, "failed", end.Status)
			message := gjson.GetBytes(client.Notifications("turn/completed")[0].Params, "turn.error.message").Str
			require.Contains(t, message, c.message)
			status := gjson.GetBytes(client.Call("mcpServerStatus/list", apptest.Object{"threadId": id}), "data.0.toolsError").Str
			require.Contains(t, status, c.message)
			for _, m := range client.Seen {
				require.NotContains(t, m.Line, "pa55word")
			}
			client.Close()
		})
	}
}

// TestKeysOfVariablesAreTrimmedOrRefused sends a key with a line end, and none with quotes.
func TestKeysOfVariablesAreTrimmedOrRefused(t *testing.T) {
	t.Parallel()
	p := apptest.NewProvider(t, apptest.TextAnswer("hello"))
	home := p.Home(t)
	apptest.WriteConfig(t, home, "model = \"test\"\nmodel_provider = \"test\"\n[model_providers.test]\nbase_url = \""+
		p.Server.URL+"/v1\"\nwire_api = \"chat\"\nenv_key = \"TEST_KEY\"\nenv_http_headers = { X-Org = \"TEST_ORG\" }\n")
	start := func(env ...string) (*apptest.Client, string) {
		cmd := apptest.ServerCommand(t, home)
		cmd.Env = append(cmd.Env, env...)
		c := apptest.StartProcess(t, cmd)
		c.Initialize()
		return c, c.StartThread(apptest.Object{"cwd": t.TempDir()})
	}
	c, id := start("TEST_KEY= sk-1234567\r\n", "TEST_ORG=\"me\" \n")
	require.Equal(t, "completed", c.Turn(id, "hi").Status)
	require.Equal(t, "Bearer sk-1234567", p.Requests()[0].Header.Get("Authorization"))
	require.Equal(t, `"me"`, p.Requests()[0].Header.Get("X-Org"))
	c.Close()

	c, id = start("TEST_KEY=\"sk-1234567\"\r")
	refused := c.CallRejected("turn/start", apptest.Object{"threadId": id, "input": apptest.TextInput("hi")})
	require.Contains(t, refused.Message, "the environment variable TEST_KEY has quotes in its value")
	require.NotContains(t, refused.Message, "1234567")
	require.Len(t, p.Requests(), 1)
	c.Close()
}
