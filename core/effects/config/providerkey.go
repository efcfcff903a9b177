package config

import (
	"errors"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"appserver/protocol"
)

// connect sets the ports. The redactor then knows the keys of providers: the typed ones, and those that are configured.
func (c *Config) connect(p Ports) {
	c.ports = p
	own := c.configuredSecrets()
	c.redactor = c.redactor.Knowing(func() []string {
		if p.Secrets == nil {
			return own
		}
		return slices.Concat(own, p.Secrets())
	})
}

// configuredSecrets returns the keys of providers in the file and in the environment.
func (c *Config) configuredSecrets() (secrets []string) {
	variables := []string{c.Memory.Embeddings.EnvKey}
	for _, name := range sortedKeys(c.ModelProviders) {
		p := c.ModelProviders[name]
		variables = append(variables, p.EnvKey)
		variables = slices.AppendSeq(variables, maps.Values(p.EnvHTTPHeaders))
		secrets = append(secrets, p.BearerToken)
		for header, value := range p.HTTPHeaders {
			if secret([]string{header}) {
				secrets = append(secrets, secretPart(value))
			}
		}
	}
	for _, variable := range variables {
		if variable != "" {
			secrets = append(secrets, secretPart(strings.TrimSpace(c.getenv(variable))))
		}
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
}

// secretPart returns the value of a header without its scheme, such as Bearer.
func secretPart(value string) string { return value[strings.LastIndex(value, " ")+1:] }

// Key is the key for requests to a provider.
type Key struct {
	// Value is empty if there is none.
	Value string
	// Stored is set if the user has typed the key.
	Stored bool
}

// KeyOf returns the key for requests to a provider. A key that the user has typed for it counts before one that is
// configured. The error states why the typed key or the configured one cannot be used, if no other counts.
func (c *Config) KeyOf(p Provider) (Key, error) {
	stored, storedErr := c.StoredKey(p)
	if stored != "" {
		return Key{stored, true}, nil
	}
	key, err := c.APIKey(p)
	switch {
	case key != "" || err != nil:
		return Key{key, false}, err
	case storedErr == nil || c.headerSource(p) != protocol.KeyNone:
		return Key{}, nil
	case p.EnvKey != "" || needsUser(storedErr):
		return Key{}, storedErr
	}
	return Key{}, nil // nothing says that the provider needs a key
}

// needsUser reports whether an error ends only when the user acts.
func needsUser(err error) bool {
	var final interface{ NeedsUser() bool }
	return errors.As(err, &final) && final.NeedsUser()
}

// StoredKey returns the key that the user has typed for a provider, or empty. The error states why it cannot be used.
// The login of the user takes its place if it authorizes requests to the provider.
func (c *Config) StoredKey(p Provider) (string, error) {
	if c.ports.StoredKey == nil || p.BaseURL == "" || p.ID == "" || c.UsesAccount(p) {
		return "", nil
	}
	return c.ports.StoredKey(p.ID, p.BaseURL)
}

// KeyVariable returns the name of the variable with the key of a provider, or empty.
func (c *Config) KeyVariable(p Provider) string {
	if p.EnvKey != "" {
		return p.EnvKey
	}
	for _, header := range sortedKeys(p.EnvHTTPHeaders) {
		if secret([]string{header}) {
			return p.EnvHTTPHeaders[header]
		}
	}
	return ""
}

// KeySource returns where the key of a provider comes from, and why a typed key is not used.
func (c *Config) KeySource(p Provider) (source string, problem *string) {
	stored, err := c.StoredKey(p)
	if err != nil {
		problem = new(err.Error())
	}
	if stored != "" {
		return protocol.KeyStored, problem
	}
	if c.UsesAccount(p) && c.ports.Login != nil {
		if signedIn, err := c.ports.Login(); signedIn && err == nil {
			return protocol.KeyLogin, problem
		}
	}
	key, err := c.APIKey(p)
	if err != nil || key == "" {
		return c.headerSource(p), problem
	}
	if variable, err := c.token(p.EnvKey); p.EnvKey != "" && err == nil && variable != "" {
		return protocol.KeyEnvironment, problem
	}
	return protocol.KeyConfiguration, problem
}

// DescribeKey describes the key of a provider without its value. A key that cannot be used counts as absent; Ready
// returns its error.
func (c *Config) DescribeKey(p Provider) protocol.ModelProviderKey {
	source, _ := c.KeySource(p)
	key := protocol.ModelProviderKey{Source: source, Present: source != protocol.KeyNone}
	if p.EnvKey != "" || c.UsesAccount(p) {
		key.Needed = new(true)
	}
	if source == protocol.KeyEnvironment || source == protocol.KeyNone {
		key.EnvKey = protocol.OrNil(c.KeyVariable(p))
	}
	return key
}

// headerSource returns where the headers with keys come from.
func (c *Config) headerSource(p Provider) string {
	for header, variable := range p.EnvHTTPHeaders {
		if value, err := c.headerValue(variable); err == nil && value != "" && secret([]string{header}) {
			return protocol.KeyEnvironment
		}
	}
	for header, value := range p.HTTPHeaders {
		if value != "" && secret([]string{header}) {
			return protocol.KeyConfiguration
		}
	}
	return protocol.KeyNone
}

// Authorization is the header of keys that are bearer tokens.
const Authorization = "Authorization"

// errHeaders means that it is unknown which header of a provider gets a key.
var errHeaders = errors.New("the provider has several headers for keys in http_headers and env_http_headers: " +
	"set their variables, or leave one of them")

// azureDomains are the domains of hosts that take keys in the header api-key (Microsoft Learn, Azure OpenAI REST API).
var azureDomains = []string{".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"}

// KeyHeader returns the header with the key of a provider: [Authorization], or the one that its configuration has for a
// key.
func (p Provider) KeyHeader() (string, error) {
	if p.EnvKey != "" {
		return Authorization, nil
	}
	names := map[string]bool{}
	for _, headers := range []map[string]string{p.HTTPHeaders, p.EnvHTTPHeaders} {
		for header := range headers {
			if secret([]string{header}) {
				names[strings.ToLower(header)] = true
			}
		}
	}
	switch header := ""; {
	case len(names) > 1:
		return "", errHeaders
	case len(names) == 1:
		for header = range names {
		}
		if strings.EqualFold(header, Authorization) {
			return Authorization, nil
		}
		return header, nil
	case p.isAzure():
		return "api-key", nil
	}
	return Authorization, nil
}

func (p Provider) isAzure() bool {
	u, err := url.Parse(p.BaseURL)
	return err == nil && slices.ContainsFunc(azureDomains, func(domain string) bool {
		return strings.HasSuffix(strings.ToLower(u.Hostname()), domain)
	})
}

// WithProviders returns the settings of a thread with the providers of the current configuration. Settings of
// providers in the thread's own overrides remain.
func (c *Config) WithProviders(current *Config) *Config {
	var own [][]string
	if over := c.overrides(); over != nil {
		own = over.root.matching([]string{"model_providers", "*", "*"})
	}
	if len(own) == 0 && (c == current || c.base == current) {
		return c
	}
	next := *c
	next.ModelProviders = maps.Clone(current.ModelProviders)
	for _, path := range own {
		if p, ok := next.ModelProviders[path[1]]; ok && providerKeysOfThreads[path[2]] {
			copyKey(&p, c.ModelProviders[path[1]], path[2])
			next.ModelProviders[path[1]] = p
		}
	}
	return &next
}

// copyKey copies the field of a key.
func copyKey(to *Provider, from Provider, key string) {
	into, of := reflect.ValueOf(to).Elem(), reflect.ValueOf(from)
	for i := range into.NumField() {
		if into.Type().Field(i).Tag.Get("key") == key {
			into.Field(i).Set(of.Field(i))
		}
	}
}
