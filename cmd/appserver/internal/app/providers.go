package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/model/chat"
	"appserver/core/effects/model/offline"
	"appserver/core/effects/model/responses"
	"appserver/platform/httpclient"
)

// models are the providers of a server and their lists of models.
type models struct {
	router *model.Router
	cache  *model.ModelCache
}

// openModels returns the models of all configured providers.
func openModels(local *localHome, network *httpclient.Environment, user *accounts) (models, error) {
	windows := &model.Windows{}
	clients, err := providers(local, network, user, windows)
	if err != nil {
		return models{}, err
	}
	cache := model.NewModelCache(model.Listers(clients), windows, user.changes.Load)
	return models{cache: cache, router: &model.Router{Providers: clients, Fallback: chat.Render,
		Window: func(provider, name string) int64 { return cache.Answered(provider, name).Window }}}, nil
}

// providers returns the clients of all configured providers. They note the windows that errors state.
func providers(local *localHome, network *httpclient.Environment, user *accounts,
	windows *model.Windows) (map[string]model.Provider, error) {
	c, clients := local.config.Current(), map[string]model.Provider{}
	for id, p := range c.ModelProviders {
		if id == offline.Name {
			continue
		}
		key, err := c.APIKey(p)
		headers, wrong := c.Headers(p)
		clients[id] = model.NewClient(model.Endpoint{
			Name: id, BaseURL: p.BaseURL, APIKey: key, Query: p.QueryParams, Headers: headers,
			Transport: network.Transport(), Problem: cmp.Or(err, wrong),
			IdleTimeout: p.StreamIdleTimeout, NotFound: wireAdvice(p), Identity: local.identity, Account: user.of(p),
			Window:  func(name string, tokens int64) { windows.Learn(id, name, tokens) },
			Learned: func(notice string) { local.log.Info("the form of requests changed", zap.String("notice", notice)) },
			Extra:   extraOf(p.ExtraBody, p.MaxOutputTokens), ModelExtra: modelExtra(p),
		}, wireOf(p))
	}
	script, err := offlineScript(c.ModelProviders[offline.Name].Script, local.home)
	if err != nil {
		return nil, err
	}
	clients[offline.Name] = offline.New(script)
	return clients, nil
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
