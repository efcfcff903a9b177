package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// namedAs is a provider that keeps what its requests say of the client.
func namedAs(t *testing.T) (home string, seen func() (originator, userAgent string)) {
	t.Helper()
	var mu sync.Mutex
	var headers http.Header
	srv := httptest.NewServer(completions(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		headers = r.Header.Clone()
		mu.Unlock()
		says("hello")(w)
	}))
	t.Cleanup(srv.Close)
	home = t.TempDir()
	writeConfig(t, home, fmt.Sprintf("model = \"m\"\nmodel_provider = \"mine\"\n[model_providers.mine]\nbase_url = %q\nwire_api = \"chat\"\n", srv.URL+"/v1"))
	return home, func() (string, string) {
		mu.Lock()
		defer mu.Unlock()
		return headers.Get("Originator"), headers.Get("User-Agent")
	}
}

func TestBinaryProvidersAreToldTheClientsName(t *testing.T) {
	for _, c := range []struct{ name, override, originator, agent string }{
		{"my client", "", "my client", "my client/0.169.0 ("},
		{"my client", "other name", "other name", "other name/0.169.0 ("},
		{"my client", "bad\nname", "my client", "my client/0.169.0 ("},
	} {
		home, seen := namedAs(t)
		cmd := serverCommand(t, home)
		cmd.Env = append(cmd.Env, "CODEX_INTERNAL_ORIGINATOR_OVERRIDE="+c.override)
		client := dial(t, cmd)
		client.call("initialize", object{"clientInfo": object{"name": c.name, "version": "1\r\n2"}})
		thread := client.threadOf("thread/start", object{})
		client.turn(thread.ID, "hello")
		originator, agent := seen()
		require.Equal(t, c.originator, originator)
		require.True(t, strings.HasPrefix(agent, c.agent), agent)
		require.Contains(t, agent, "("+c.name+"; 1__2)")
		client.close()
		rollout, err := os.ReadFile(thread.Path)
		require.NoError(t, err)
		require.Contains(t, string(rollout), fmt.Sprintf(`"originator":%q`, c.originator))
	}
}

func TestBinaryRefusesClientNamesThatNoHeaderCanCarry(t *testing.T) {
	client := dial(t, offlineCommand(t, t.TempDir()))
	for _, name := range []string{"bad\nname", "\u0001", "a\u007fb"} {
		f := client.refused("initialize", object{"clientInfo": object{"name": name, "version": "1"}})
		require.Equal(t, -32600, f.Code)
		require.Equal(t, fmt.Sprintf("Invalid clientInfo.name: %q. Use a name without control characters: it must be a valid HTTP header value.", name), f.Message)
	}
	client.call("initialize", object{"clientInfo": object{"name": "ünï\tcode 😀", "version": "1"}})
	client.close()
}
