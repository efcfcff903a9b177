package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"appserver/core"
	"appserver/protocol"
)

// The built-in providers.
const (
	ProviderOpenAI     = "openai"
	ProviderOllama     = "ollama"
	ProviderLMStudio   = "lmstudio"
	ProviderLlamaCpp   = "llamacpp"
	ProviderVLLM       = "vllm"
	ProviderOpenRouter = "openrouter"
	// ProviderOffline needs no network.
	ProviderOffline = "offline"
)

// OpenAIAddress is the address of the provider openai, for API keys.
const OpenAIAddress = "https://api.openai.com/v1"

// The APIs of providers.
const (
	WireChat      = "chat"
	WireResponses = "responses"
)

// Providers are model providers by name.
type Providers map[string]Provider

// Provider is an endpoint with models.
type Provider struct {
	// ID is the provider's key in Providers.
	ID string
	// Name is the name for people.
	Name string `key:"name"`
	// BaseURL is the address before /responses or /chat/completions.
	BaseURL string `key:"base_url"`
	// EnvKey is the variable with the API key. EnvKeyInstructions explain how to get one.
	EnvKey             string `key:"env_key"`
	EnvKeyInstructions string `key:"env_key_instructions"`
	// BearerToken is an API key in the file itself; EnvKey has precedence.
	BearerToken string `key:"experimental_bearer_token"`
	// RequiresOpenAIAuth is set if the login of the user authorizes requests. The provider openai needs no such setting.
	RequiresOpenAIAuth bool `key:"requires_openai_auth"`
	// WireAPI is the API of the provider: WireResponses or WireChat. The default of configured
	// providers is WireResponses, as in the reference implementation.
	WireAPI     string            `key:"wire_api" oneof:"chat responses"`
	QueryParams map[string]string `key:"query_params"`
	HTTPHeaders map[string]string `key:"http_headers"`
	// EnvHTTPHeaders are headers whose values are in the named variables.
	EnvHTTPHeaders map[string]string `key:"env_http_headers"`
	// RequestMaxRetries bounds the silent retries of requests without a response, or with a server
	// error. StreamMaxRetries bounds the retries that clients are notified of.
	RequestMaxRetries int `key:"request_max_retries" min:"0" max:"100"`
	StreamMaxRetries  int `key:"stream_max_retries" min:"0" max:"100"`
	// StreamIdleTimeout is the longest time between two events of a provider.
	StreamIdleTimeout time.Duration `key:"stream_idle_timeout_ms" min:"1" max:"86400000"`
	// CachedPriceRatio is the price of a cached input token over that of another one. CacheRetentionSecs is
	// how long an unused prefix stays in the provider's cache. Nil is the default of the address.
	CachedPriceRatio   *Ratio `key:"cached_price_ratio"`
	CacheRetentionSecs *int   `key:"cache_retention_secs" min:"0" max:"604800"`
	// OmitStore leaves out store: false, for a provider of the Responses API that refuses it and keeps no conversations.
	OmitStore bool `key:"omit_store"`
	// ExtraBody has further members of requests, MaxOutputTokens limits the tokens of an answer. Models has settings for
	// single models, by their names.
	ExtraBody       ExtraBody                `key:"extra_body"`
	MaxOutputTokens *int64                   `key:"max_output_tokens" min:"1" max:"100000000"`
	Models          map[string]ProviderModel `key:"models"`
	// Model is the model of threads that name only the provider.
	Model string `key:"model"`
	// WebSearch reports whether the provider can search the web for models. Nil is the default of the address.
	WebSearch *bool `key:"web_search"`
	// Script is a file of answers for the provider offline.
	Script string `key:"script" path:""`
}

func newProvider(id, name, baseURL, envKey, wireAPI string) Provider {
	return Provider{
		ID: id, Name: name, BaseURL: baseURL, EnvKey: envKey, WireAPI: wireAPI,
		RequestMaxRetries: 4, StreamMaxRetries: 5, StreamIdleTimeout: 5 * time.Minute,
	}
}

func builtinProviders() Providers {
	providers := Providers{}
	for _, p := range []Provider{
		newProvider(ProviderOpenAI, "OpenAI", OpenAIAddress, "OPENAI_API_KEY", WireResponses),
		newProvider(ProviderOllama, "Ollama", "http://127.0.0.1:11434/v1", "", WireChat),
		newProvider(ProviderLMStudio, "LM Studio", "http://127.0.0.1:1234/v1", "", WireChat),
		newProvider(ProviderLlamaCpp, "llama.cpp", "http://127.0.0.1:8080/v1", "", WireChat),
		newProvider(ProviderVLLM, "vLLM", "http://127.0.0.1:8000/v1", "", WireChat),
		newProvider(ProviderOpenRouter, "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", WireChat),
		newProvider(ProviderOffline, "Offline", "", "", WireChat),
	} {
		providers[p.ID] = p
	}
	return providers
}

// IsBuiltIn reports whether a provider exists without a configuration.
func IsBuiltIn(name string) bool { return builtinProviders()[name].ID != "" }

// inUserFile reports whether the user's file has a table of a provider.
func (c *Config) inUserFile(name string) bool {
	return slices.ContainsFunc(c.layers, func(l *layer) bool {
		return l.name.Type == protocol.LayerUser && l.root.find("model_providers", name) != nil
	})
}

// providers adds the configured providers to the built-in ones. A setting of a built-in provider
// changes only that setting.
func (d *decoder) providers(to Providers, n *node, path []string) {
	if n.table == nil {
		d.expected(n, path, "a table of providers")
		return
	}
	for _, name := range sortedKeys(n.table) {
		p, builtin := to[name]
		if !builtin {
			p = newProvider(name, name, "", "", WireResponses)
		}
		d.fields(reflect.ValueOf(&p).Elem(), n.table[name], below(path, name))
		to[name] = p
	}
}

// applyBaseURL applies the reference implementation's second key for the address of the provider
// openai. Its own base_url is stronger.
func (c *Config) applyBaseURL() {
	if c.OpenAIBaseURL == "" || c.root.find("model_providers", ProviderOpenAI, "base_url") != nil {
		return
	}
	p := c.ModelProviders[ProviderOpenAI]
	p.BaseURL = c.OpenAIBaseURL
	c.ModelProviders[ProviderOpenAI] = p
}

// Provider returns the provider with a name. The error is a *protocol.Error of kind
// providerNotFound.
func (c *Config) Provider(name string) (Provider, error) {
	p, ok := c.ModelProviders[name]
	if !ok {
		known := strings.Join(sortedKeys(c.ModelProviders), ", ")
		return Provider{}, protocol.Refuse(protocol.KindProviderNotFound,
			"Model provider `%s` not found; choose one of %s, or add [model_providers.%s] to %s", name, known, name, c.file())
	}
	return p, nil
}

// Summaries returns the providers for modelProvider/list, sorted by id.
func (c *Config) Summaries() []protocol.ModelProviderSummary {
	out := []protocol.ModelProviderSummary{}
	for _, id := range sortedKeys(c.ModelProviders) {
		out = append(out, c.summary(c.ModelProviders[id]))
	}
	return out
}

// ShownAddress returns the address of a provider without secrets, or "".
func (c *Config) ShownAddress(p Provider) string {
	if p.BaseURL == "" {
		return ""
	}
	return redactText([]string{"base_url"}, p.BaseURL)
}

// Summary returns one of the providers for modelProvider/list.
func (c *Config) Summary(name string) (protocol.ModelProviderSummary, error) {
	p, err := c.Provider(name)
	if err != nil {
		return protocol.ModelProviderSummary{}, err
	}
	return c.summary(p), nil
}

func (c *Config) summary(p Provider) protocol.ModelProviderSummary {
	s := protocol.ModelProviderSummary{ID: p.ID, Name: p.Name, Settings: p.settings()}
	s.CanEdit = !IsBuiltIn(p.ID) && c.inUserFile(p.ID)
	s.KeySource, s.Problem = c.KeySource(p)
	if err := c.Ready(p.ID); err != nil {
		s.Problem = new(err.Error())
	} else {
		s.Ready = true
	}
	s.BaseURL = protocol.OrNil(c.ShownAddress(p))
	return s
}

// settings describes how requests to the provider are authenticated.
func (p Provider) settings() protocol.ProviderSettings {
	switch {
	case p.ID == ProviderOpenAI:
		return protocol.ProviderSettings{Type: protocol.ProviderOpenAI}
	case p.EnvKey != "":
		return protocol.ProviderSettings{Type: protocol.ProviderCustom,
			Auth: &protocol.GatewayAuth{Mode: "environmentVariable", EnvKey: &p.EnvKey}}
	case p.BearerToken != "", len(p.HTTPHeaders) > 0, len(p.EnvHTTPHeaders) > 0:
		return protocol.ProviderSettings{Type: protocol.ProviderCustom,
			Auth: &protocol.GatewayAuth{Mode: "externallyConfigured"}}
	}
	return protocol.ProviderSettings{Type: protocol.ProviderCustom, Auth: &protocol.GatewayAuth{Mode: "none"}}
}

// Ready returns nil if requests can be sent to a provider. The error is a *protocol.Error of kind
// providerNotFound or providerNotReady that names the setting to change.
func (c *Config) Ready(name string) error {
	p, err := c.Provider(name)
	if err != nil {
		return err
	}
	switch {
	case p.ID == ProviderOffline:
		return nil
	case p.BaseURL == "":
		return c.notReady(name, "has no address: set base_url")
	}
	key, err := c.KeyOf(p)
	if err == nil {
		_, err = c.Headers(p)
	}
	switch {
	case err != nil:
		return protocol.Refuse(protocol.KindProviderNotReady, "model provider %s cannot be used: %v", name, err)
	case c.UsesAccount(p):
		return c.signedIn(p)
	case p.EnvKey != "" && key.Value == "":
		return c.noKey(p)
	}
	return nil
}

func (c *Config) notReady(name, what string) error {
	return protocol.Refuse(protocol.KindProviderNotReady,
		"model provider %s %s in [model_providers.%s] of %s", name, what, name, c.file())
}

func (c *Config) noKey(p Provider) error {
	advice := ""
	if p.EnvKeyInstructions != "" {
		advice = ". " + p.EnvKeyInstructions
	}
	return protocol.Refuse(protocol.KindProviderNotReady,
		"model provider %s needs an API key: set %s in the server's environment, type a key with `appserver login --provider %s` or modelProvider/key/write, or choose another provider with model_provider in %s (offline needs no key)%s",
		p.ID, p.EnvKey, p.ID, c.file(), advice)
}

// file returns the path of the user's file. The file may not exist.
func (c *Config) file() string {
	for _, l := range c.layers {
		if l.name.Type == protocol.LayerUser {
			return l.name.File
		}
	}
	return ""
}

// APIKey returns the key that is configured for a provider, or empty. The error names the variable with a value that is
// no key.
func (c *Config) APIKey(p Provider) (string, error) {
	if p.EnvKey != "" {
		if key, err := c.token(p.EnvKey); key != "" || err != nil {
			return key, err
		}
	}
	return p.BearerToken, nil
}

// Headers returns the additional headers of requests to a provider. It omits headers from empty
// variables. The error names a variable whose value cannot be a header.
func (c *Config) Headers(p Provider) (map[string]string, error) {
	return c.headers(p.HTTPHeaders, p.EnvHTTPHeaders)
}

// headers joins headers with those whose values are in environment variables.
func (c *Config) headers(values, variables map[string]string) (map[string]string, error) {
	headers := maps.Clone(values)
	if headers == nil {
		headers = map[string]string{}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		value, err := c.headerValue(variables[name])
		if err != nil {
			return nil, err
		}
		if value != "" {
			headers[name] = value
		}
	}
	return headers, nil
}

func (p Provider) cachedPriceRatio() float64 {
	if p.CachedPriceRatio != nil {
		return float64(*p.CachedPriceRatio)
	}
	return defaultPromptCache(p.BaseURL).ratio
}

func (p Provider) cacheRetention() time.Duration {
	if p.CacheRetentionSecs != nil {
		return time.Duration(*p.CacheRetentionSecs) * time.Second
	}
	return defaultPromptCache(p.BaseURL).retention
}

// ProviderInfo returns the facts for the thread machine about a provider and a model. reported is
// the context window that the provider reports, or 0. An unknown provider has no retries.
func (c *Config) ProviderInfo(provider, model string, reported int64) core.ProviderInfo {
	p := c.ModelProviders[provider]
	return core.ProviderInfo{
		RequestMaxRetries: p.RequestMaxRetries,
		StreamMaxRetries:  p.StreamMaxRetries,
		ContextWindow:     c.ContextWindow(provider, model, reported),
		WindowConfigured:  c.ModelContextWindow != nil,
		CachedPriceRatio:  c.CachedPriceRatio(provider, model),
		CacheRetention:    p.cacheRetention(),
	}
}
