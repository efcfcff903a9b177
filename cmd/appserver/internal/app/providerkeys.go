package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"go.uber.org/zap"

	"appserver/core/effects/config"
	"appserver/core/effects/model"
	"appserver/core/effects/providerkey"
	"appserver/protocol"
	"appserver/server"
)

// openKeys returns the keys of providers that the user has typed, and a function that returns those of a home as
// secrets, which reads them at its first call.
func openKeys(home, mode string) (keys *providerkey.Store, secrets func() []string) {
	keys = providerkey.New(home, mode)
	read := sync.OnceFunc(func() { _ = keys.Check() }) // requests report the error
	return keys, func() []string {
		read()
		return keys.Secrets()
	}
}

// TypedKeys returns a function that returns the keys of providers that the user of a home has typed.
func TypedKeys(home string, c *config.Config) func() []string {
	_, secrets := openKeys(home, c.AuthStore)
	return secrets
}

// providerKey authorizes requests to one provider by the key that the user has typed for it, or else by the configured
// one. It implements model.Account.
type providerKey struct {
	*localHome
	provider config.Provider
}

// keyError is a key that cannot be used until the user acts.
type keyError struct{ error }

// Unwrap returns the reason.
func (e keyError) Unwrap() error { return e.error }

// NeedsUser implements model.SignIn.
func (e keyError) NeedsUser() bool { return true }

// Authorize implements model.Account. It returns nil if the configured key counts.
func (k providerKey) Authorize(_ context.Context, rejected *model.Grant) (*model.Grant, error) {
	key, err := k.config.Current().KeyOf(k.provider)
	switch {
	case err != nil:
		return nil, keyError{err}
	case !key.Stored:
		return nil, nil
	case rejected != nil && rejected.Of == key.Value:
		return rejected, nil
	}
	header, err := k.provider.KeyHeader()
	if err != nil {
		return nil, keyError{err}
	}
	value := key.Value
	if header == config.Authorization {
		value = "Bearer " + value
	}
	return &model.Grant{BaseURL: k.provider.BaseURL, Headers: map[string]string{header: value},
		Secrets: []string{key.Value}, IsKey: true, Of: key.Value}, nil
}

// Report implements model.Account.
func (providerKey) Report(http.Header) {}

// rejected returns where the key comes from that the provider has rejected, and the next action.
func (k providerKey) rejected() string {
	c, p := k.config.Current(), k.provider
	source, _ := c.KeySource(p)
	again := fmt.Sprintf("type one with `appserver login --provider %s` or modelProvider/key/write", p.ID)
	switch source {
	case protocol.KeyStored:
		return "The provider rejects the key that was typed for it: " + providerkey.Advice(p.ID)
	case protocol.KeyEnvironment:
		return fmt.Sprintf("The provider rejects the key of the server's environment (%s): correct the variable and start "+
			"the server again, or %s", c.KeyVariable(p), again)
	case protocol.KeyConfiguration:
		return fmt.Sprintf("The provider rejects the key in [model_providers.%s] of config.toml: correct it there, or %s",
			p.ID, again)
	}
	return "The server has no key for this provider: " + again
}

// providerKeys stores the keys that clients type. It implements server.ProviderKeys.
type providerKeys struct {
	*localHome
	server *server.Server
}

// changed notifies all clients that the result of modelProvider/list changed.
func (k *providerKeys) changed() {
	for _, conn := range k.server.Clients() {
		k.server.Notify(conn, protocol.ModelProviderChangedNotification{})
	}
}

// warning returns a warning about stored keys that cannot be read, or nothing.
func (k *providerKeys) warning() []string {
	if err := k.keys.Check(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// WriteKey implements server.ProviderKeys.
func (k *providerKeys) WriteKey(ctx context.Context, p *protocol.ModelProviderKeyWriteParams) (
	answer protocol.ModelProviderKeyWriteResponse, then func(), err error) {
	if err := storeKey(ctx, k.localHome, p.ModelProvider, p.APIKey, p.AllowHTTP); err != nil {
		if open := new(providerkey.OpenError); errors.As(err, &open) {
			err = fmt.Errorf("%w, or permit it with allowHttp", err)
		}
		return answer, nil, refused(err)
	}
	answer.Provider, err = k.config.Current().Summary(p.ModelProvider)
	return answer, k.changed, err
}

// DeleteKey implements server.ProviderKeys.
func (k *providerKeys) DeleteKey(ctx context.Context, p *protocol.ModelProviderKeyDeleteParams) (
	answer protocol.ModelProviderKeyDeleteResponse, then func(), err error) {
	if answer.Removed, err = k.keys.Remove(ctx, p.ModelProvider); err != nil {
		return answer, nil, refused(err)
	}
	return answer, k.changed, nil
}

// storeKey stores the key of a provider for its address. It rejects a key that would have no effect.
func storeKey(ctx context.Context, l *localHome, provider, key string, open bool) error {
	p, err := keyTaker(l.config.Current(), provider)
	if err != nil {
		return err
	}
	return l.keys.Set(ctx, p.ID, p.BaseURL, key, open)
}

// keyTaker returns a provider whose requests a typed key can authorize.
func keyTaker(c *config.Config, provider string) (config.Provider, error) {
	p, err := c.Provider(provider)
	switch {
	case err != nil:
		return p, err
	case p.ID == config.ProviderOffline:
		return p, fmt.Errorf("model provider %s needs no key", p.ID)
	case c.UsesAccount(p):
		return p, fmt.Errorf("model provider %s uses the login of the user: sign in with `appserver login --with-api-key`, "+
			"or with account/login/start", p.ID)
	case p.BaseURL == "":
		return p, fmt.Errorf("model provider %s has no address: set base_url in [model_providers.%s] of config.toml first",
			p.ID, p.ID)
	}
	if _, err := p.KeyHeader(); err != nil {
		return p, fmt.Errorf("model provider %s: %w", p.ID, err)
	}
	return p, nil
}

// UserKeys are the keys of providers that the user has typed, for commands.
type UserKeys struct {
	local  *localHome
	Config *config.Config
}

// NewUserKeys reads the configuration, without settings of projects.
func NewUserKeys(o *Options) (*UserKeys, error) {
	local, err := loadHome(o, zap.NewNop())
	if err != nil {
		return nil, err
	}
	return &UserKeys{local, local.config.Current()}, nil
}

// errEphemeral is the reason why commands store no keys in memory.
var errEphemeral = errors.New("cli_auth_credentials_store = \"ephemeral\" keeps keys in the memory of the server: type the " +
	"key in a client, or set another place")

// Origin returns the origin that gets the key of a provider. It fails if a key would have no effect.
func (k *UserKeys) Origin(provider string) (providerkey.Origin, error) {
	if k.local.keys.IsEphemeral() {
		return "", errEphemeral
	}
	p, err := keyTaker(k.Config, provider)
	if err != nil {
		return "", err
	}
	return providerkey.OriginOf(p.BaseURL)
}

// Set stores the key of a provider. Open permits an address without encryption on another machine.
func (k *UserKeys) Set(ctx context.Context, provider, key string, open bool) error {
	return storeKey(ctx, k.local, provider, key, open)
}

// Remove removes the key of a provider, and reports whether there was one.
func (k *UserKeys) Remove(ctx context.Context, provider string) (bool, error) {
	if k.local.keys.IsEphemeral() {
		return false, errEphemeral
	}
	return k.local.keys.Remove(ctx, provider)
}
