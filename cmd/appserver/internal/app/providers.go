package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"

	"go.uber.org/zap"

	"appserver/core"
	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/offline"
	"appserver/core/effects/model/responses"
	"appserver/platform/httpclient"
	"appserver/protocol"
)

// models are the providers of a server and their lists of models. They follow the configuration: a provider whose
// settings change gets a new client, and requests that are under way keep theirs. They implement engine.Model.
type models struct {
	*localHome
	network *httpclient.Environment
	user    *accounts
	cache   *model.ModelCache
	windows *model.Windows
	router  atomic.Pointer[model.Router]
	// clients are those of the current configuration. Only follow uses them.
	clients map[string]*providerClient
}

// providerClient is a client with the settings that it was made from.
type providerClient struct {
	model.Provider
	of         config.Provider
	ofAccount  bool
	superseded atomic.Bool
}

// openModels returns the models of all configured providers. It fails if the script of the provider offline cannot be
// read.
func openModels(local *localHome, network *httpclient.Environment, user *accounts) (*models, error) {
	m := &models{localHome: local, network: network, user: user, windows: &model.Windows{}}
	changes := func() uint64 { return user.changes.Load() + local.keys.Changes() }
	m.cache = model.NewModelCache(nil, m.windows, changes)
	m.follow(local.config.Current())
	if failed, ok := m.clients[offline.Name].Provider.(*failingProvider); ok {
		return nil, failed.reason
	}
	local.config.Changed = m.follow
	return m, nil
}

// follow makes the clients of a configuration. It keeps those of providers whose settings are the same.
func (m *models) follow(c *config.Config) {
	former := m.clients
	m.clients = map[string]*providerClient{}
	providers := map[string]model.Provider{}
	for id, p := range c.ModelProviders {
		client := former[id]
		if client == nil || !client.isOf(p, c.UsesAccount(p)) {
			client = m.client(c, p)
		}
		m.clients[id], providers[id] = client, client.Provider
	}
	m.router.Store(&model.Router{Providers: providers, Fallback: chat.Render,
		Window: func(provider, name string) int64 { return m.cache.Answered(provider, name).Window }})
	for id, old := range former {
		if m.clients[id] != old {
			old.supersede()
			m.windows.Forget(id)
		}
	}
	m.cache.Replace(model.Listers(providers))
}

// provider returns the client of a provider, or nil.
func (m *models) provider(id string) model.Provider { return m.router.Load().Providers[id] }

// isOf reports whether the client is that of a provider with these settings.
func (p *providerClient) isOf(of config.Provider, ofAccount bool) bool {
	return p.ofAccount == ofAccount && reflect.DeepEqual(p.of, of)
}

// supersede closes the idle connections of a client that gets no more requests.
func (p *providerClient) supersede() {
	p.superseded.Store(true)
	if closer, ok := p.Provider.(interface{ Close() }); ok {
		closer.Close()
	}
}

// Stream implements engine.Model.
func (m *models) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	return m.router.Load().Stream(ctx, p, emit)
}

// Render implements engine.Model.
func (m *models) Render(p *core.Prompt) (core.RenderedPrompt, error) {
	return m.router.Load().Render(p)
}

// client returns a new client of a provider. It notes the windows that errors state.
func (m *models) client(c *config.Config, p config.Provider) *providerClient {
	client := &providerClient{of: p, ofAccount: c.UsesAccount(p)}
	if p.ID == offline.Name {
		client.Provider = m.offline(p)
		return client
	}
	key, _ := c.APIKey(p) // the error is that of Authorize
	headers, wrong := c.Headers(p)
	endpoint := model.Endpoint{
		Name: p.ID, BaseURL: p.BaseURL, APIKey: key, Query: p.QueryParams, Headers: headers,
		Transport: m.network.Transport(), Problem: wrong,
		IdleTimeout: p.StreamIdleTimeout, NotFound: wireAdvice(p), Identity: m.identity,
		Window: func(name string, tokens int64) {
			if !client.superseded.Load() {
				m.windows.Learn(p.ID, name, tokens)
			}
		},
		Learned: func(notice string) { m.log.Info("the form of requests changed", zap.String("notice", notice)) },
		Extra:   extraOf(p.ExtraBody, p.MaxOutputTokens), ModelExtra: modelExtra(p),
	}
	if client.ofAccount {
		endpoint.Account = providerAccount{m.user, p}
	} else {
		keys := providerKey{m.localHome, p}
		endpoint.Account, endpoint.Rejected = keys, keys.rejected
	}
	client.Provider = model.NewClient(endpoint, wireOf(p))
	return client
}

func (m *models) offline(p config.Provider) model.Provider {
	script, err := offlineScript(p.Script, m.home)
	if err != nil {
		return &failingProvider{err}
	}
	return offline.New(script)
}

// failingProvider is a provider whose settings cannot be used.
type failingProvider struct{ reason error }

// Stream returns the reason.
func (p *failingProvider) Stream(context.Context, *core.Prompt, func(core.Piece)) (core.Answer, error) {
	return core.Answer{}, &core.ModelError{Message: p.reason.Error(),
		Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther}}
}

func extraOf(body config.ExtraBody, maxOutput *int64) model.Extra {
	extra := model.Extra{Members: string(body)}
	if maxOutput != nil {
		extra.MaxOutput = *maxOutput
	}
	return extra
}

// modelExtra returns the settings of the user for requests to single models.
func modelExtra(p config.Provider) map[string]model.Extra {
	extra := map[string]model.Extra{}
	for name, m := range p.Models {
		extra[name] = extraOf(m.ExtraBody, m.MaxOutputTokens)
	}
	return extra
}

// wireOf returns the API of a provider. A new API gets a case here.
func wireOf(p config.Provider) model.Wire {
	switch p.WireAPI {
	case config.WireResponses:
		return responses.New(responses.Options{OmitStore: p.OmitStore})
	default:
		return chat.New()
	}
}

// wireAdvice returns the advice for a provider without the configured API, or "".
func wireAdvice(p config.Provider) string {
	if p.WireAPI == config.WireResponses {
		return fmt.Sprintf("If the provider has Chat Completions only, set wire_api = %q in [model_providers.%s].",
			config.WireChat, p.ID)
	}
	return ""
}

// offlineScript reads the script of the provider offline. It returns nil if no script is configured.
func offlineScript(path, home string) (*offline.Script, error) {
	if path == "" {
		return nil, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(home, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("model_providers.offline.script: %w", err)
	}
	defer f.Close()
	script, err := offline.ReadScript(f)
	if err != nil {
		return nil, fmt.Errorf("model_providers.offline.script: %s: %w", path, err)
	}
	return script, nil
}
