package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/test/apptest"
)

// homeWithNamedClient returns a home whose provider records the client's name in requests.
func homeWithNamedClient(t *testing.T) (home string, seen func() (originator, userAgent string)) {
	t.Helper()
	var mu sync.Mutex
	var headers http.Header
	srv := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		headers = r.Header.Clone()
		mu.Unlock()
		apptest.TextAnswer("hello")(w)
	}))
	t.Cleanup(srv.Close)
	home = t.TempDir()
	apptest.WriteConfig(t, home,
		fmt.Sprintf("model = \"m\"\nmodel_provider = \"mine\"\n[model_providers.mine]\nbase_url = %q\nwire_api = \"chat\"\n",
			srv.URL+"/v1"))
	return home, func() (string, string) {
		mu.Lock()
		defer mu.Unlock()
		return headers.Get("Originator"), headers.Get("User-Agent")
	}
}

func TestProviderGetsClientsName(t *testing.T) {
	for _, c := range []struct{ name, override, originator, agent string }{
		{"my client", "", "my client", "my client/0.169.0 ("},
		{"my client", "other name", "other name", "other name/0.169.0 ("},
		{"my client", "bad\nname", "my client", "my client/0.169.0 ("},
	} {
		home, seen := homeWithNamedClient(t)
		cmd := apptest.ServerCommand(t, home)
		cmd.Env = append(cmd.Env, "CODEX_INTERNAL_ORIGINATOR_OVERRIDE="+c.override)
		client := apptest.StartProcess(t, cmd)
		client.Call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": c.name, "version": "1\r\n2"}})
		thread := client.CallThread("thread/start", apptest.Object{})
		client.Turn(thread.ID, "hello")
		originator, agent := seen()
		require.Equal(t, c.originator, originator)
		require.True(t, strings.HasPrefix(agent, c.agent), agent)
		require.Contains(t, agent, "("+c.name+"; 1__2)")
		require.Contains(t, client.StoredLines(thread.ID), fmt.Sprintf(`"originator":%q`, c.originator))
		client.Close()
	}
}

func TestClientNamesMustFitIntoHeaders(t *testing.T) {
	client := apptest.StartProcess(t, apptest.OfflineCommand(t, t.TempDir()))
	for _, name := range []string{"bad\nname", "\u0001", "a\u007fb"} {
		f := client.CallRejected("initialize", apptest.Object{"clientInfo": apptest.Object{"name": name, "version": "1"}})
		require.Equal(t, -32600, f.Code)
		require.Equal(t, fmt.Sprintf("Invalid clientInfo.name: %q. Use a name without control characters: it must be a valid HTTP header value.", name), f.Message)
	}
	client.Call("initialize", apptest.Object{"clientInfo": apptest.Object{"name": "ünï\tcode 😀", "version": "1"}})
	client.Close()
}
