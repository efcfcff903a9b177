package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/providerkey"
	"appserver/platform/httpclient"
	"appserver/platform/vault"
	"appserver/protocol"
	"appserver/server"
	"appserver/test/apptest"
)

// followed returns the models of a home with a configuration.
func followed(t *testing.T, text string) *models {
	t.Helper()
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), []byte(text), 0o600))
	keys := providerkey.New(home, vault.File)
	source := config.Source{Home: home, Ports: config.Ports{StoredKey: keys.Key}}
	c, err := config.Load(source)
	require.NoError(t, err)
	local := &localHome{home: home, config: config.NewLive(source, c), keys: keys, identity: &model.Identity{},
		log: zap.NewNop()}
	local.account = openAccount(local.config, home, local.identity)
	m, err := openModels(local, httpclient.New(func(string) string { return "" }),
		&accounts{localHome: local, server: server.New(zap.NewNop())})
	require.NoError(t, err)
	t.Cleanup(m.cache.Close)
	return m
}

// set writes a value of the configuration.
func set(t *testing.T, m *models, key string, value any) {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	_, err = m.config.Write(&protocol.ConfigBatchWriteParams{
		Edits: []protocol.ConfigEdit{{KeyPath: key, Value: raw, MergeStrategy: "replace"}}})
	require.NoError(t, err)
}

func answering(t *testing.T, wait func()) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(apptest.ModelHandler(func(w http.ResponseWriter, _ *http.Request) {
		wait()
		apptest.TextAnswer("fine")(w)
	}))
	t.Cleanup(s.Close)
	return s
}

func stream(m *models, provider string) error {
	_, err := m.Stream(context.Background(), &core.Prompt{Provider: provider, Model: "m"}, func(core.Piece) {})
	return err
}

// TestClientsFollowTheConfiguration: only the provider that changes gets another client, and its models are listed
// anew.
func TestClientsFollowTheConfiguration(t *testing.T) {
	m := followed(t, "[model_providers.a]\nbase_url = \"http://127.0.0.1:1/v1\"\n"+
		"[model_providers.b]\nbase_url = \"http://127.0.0.1:2/v1\"\n")
	before := m.router.Load().Providers
	m.windows.Learn("a", "m", 1000)
	m.windows.Learn("b", "m", 2000)
	set(t, m, "model_providers.a.base_url", "http://127.0.0.1:3/v1")
	after := m.router.Load().Providers
	require.NotSame(t, before["a"], after["a"])
	require.Same(t, before["b"], after["b"])
	require.Same(t, before["offline"], after["offline"])
	require.Zero(t, m.cache.Model("a", "m").Window, "facts about the former address are forgotten")
	require.EqualValues(t, 2000, m.cache.Model("b", "m").Window)
	set(t, m, "model_providers.c.base_url", "http://127.0.0.1:4/v1")
	require.Contains(t, m.router.Load().Providers, "c")
	set(t, m, "model_providers.c", nil)
	require.NotContains(t, m.router.Load().Providers, "c")
	set(t, m, "model_providers.offline.script", "none.json")
	require.ErrorContains(t, stream(m, "offline"), "none.json")
	set(t, m, "model_providers.offline.script", nil)
	require.NoError(t, stream(m, "offline"))
}

// TestRequestsKeepTheirClient: a request that is under way ends at the address where it began, and others run while the
// configuration changes.
func TestRequestsKeepTheirClient(t *testing.T) {
	begun, finish := make(chan struct{}), make(chan struct{})
	slow := answering(t, func() {
		close(begun)
		<-finish
	})
	fast := answering(t, func() {})
	m := followed(t, fmt.Sprintf("[model_providers.a]\nbase_url = %q\nwire_api = \"chat\"\n", slow.URL+"/v1"))
	ended := make(chan error, 1)
	go func() { ended <- stream(m, "a") }()
	<-begun
	set(t, m, "model_providers.a.base_url", fast.URL+"/v1")
	require.NoError(t, stream(m, "a"))
	close(finish)
	require.NoError(t, <-ended)

	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if err := stream(m, "a"); err != nil {
					t.Error(err)
				}
				m.cache.List("a", func([]core.ListedModel) {})
			}
		})
	}
	for i := range 10 {
		set(t, m, "model_providers.a.base_url", fmt.Sprintf("%s/v%d", fast.URL, i))
	}
	all.Wait()
}
