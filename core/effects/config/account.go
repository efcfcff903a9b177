package config

import (
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"appserver/protocol"
)

// The values of forced_login_method and cli_auth_credentials_store that have a meaning here.
const (
	loginAPI     = "api"
	storeInFile  = "file"
	accountHosts = "account_hosts"
)

// OneOrMore is a string or a list of strings.
type OneOrMore []string

// UnmarshalJSON accepts both.
func (o *OneOrMore) UnmarshalJSON(text []byte) error {
	var one string
	if protocol.Unmarshal(text, &one) == nil {
		*o = OneOrMore{one}
		return nil
	}
	var list []string
	if protocol.Unmarshal(text, &list) != nil {
		return errors.New("expected a string or a list of strings")
	}
	*o = list
	return nil
}

// MarshalJSON writes one string as it is.
func (o OneOrMore) MarshalJSON() ([]byte, error) {
	switch len(o) {
	case 0:
		return []byte("null"), nil
	case 1:
		return json.Marshal(o[0])
	}
	return json.Marshal([]string(o))
}

// accountKeys are the keys about the account of the user. Neither a project nor a thread sets them.
var accountKeys = [][]string{{"cli_auth_credentials_store"}, {"forced_login_method"}, {"forced_chatgpt_workspace_id"},
	{"chatgpt_base_url"}, {accountHosts}}

// checkAccount rejects addresses and hosts that cannot be used, and empty restrictions.
func (c *Config) checkAccount(d *decoder) {
	if n := c.root.find("chatgpt_base_url"); n != nil {
		d.checkURL(c.ChatGPTBaseURL, n, []string{"chatgpt_base_url"})
	}
	if n := c.root.find("forced_chatgpt_workspace_id"); n != nil && len(c.ForcedWorkspaces) == 0 {
		d.problem(n, []string{"forced_chatgpt_workspace_id"}, "expected at least one workspace")
	}
	for _, host := range c.AccountHosts {
		if u, err := url.Parse("https://" + host); err != nil || u.Host != host || u.Hostname() == "" {
			d.problem(c.root.find(accountHosts), []string{accountHosts},
				"expected hosts such as proxy.example.com or proxy.example.com:8443, without a scheme and a path")
			return
		}
	}
}

// PermittedLogins returns the kinds of logins, and the workspaces of ChatGPT accounts, that the user and the
// administrator permit. Nil permits all.
func (c *Config) PermittedLogins() (methods, workspaces []string) {
	methods, workspaces = c.required.logins, c.required.workspaces
	if c.ForcedLoginMethod != "" {
		methods = common(methods, []string{c.ForcedLoginMethod})
	}
	if len(c.ForcedWorkspaces) > 0 {
		workspaces = common(workspaces, c.ForcedWorkspaces)
	}
	return methods, workspaces
}

func (c *Config) permitsKeys() bool {
	methods, _ := c.PermittedLogins()
	return allowed(methods, loginAPI)
}

// common returns the words that two lists permit. Nil permits all.
func common(allowed, words []string) []string {
	if allowed == nil {
		return words
	}
	both := []string{}
	for _, word := range words {
		if slices.Contains(allowed, word) {
			both = append(both, word)
		}
	}
	return both
}

// UsesAccount reports whether requests to a provider are authorized by the login of the user. A key that is configured
// for the provider has precedence.
func (c *Config) UsesAccount(p Provider) bool {
	if p.BearerToken != "" {
		return false
	}
	if p.ID == ProviderOpenAI {
		return c.root.find("model_providers", ProviderOpenAI, "env_key") == nil
	}
	return p.RequiresOpenAIAuth && p.EnvKey == ""
}

// HasOwnKey reports whether a provider has a key that is used while the user is signed out.
func (c *Config) HasOwnKey(p Provider) bool {
	key, err := c.APIKey(p)
	return err == nil && key != "" && (!c.UsesAccount(p) || c.permitsKeys())
}

// signedIn returns nil if a login authorizes requests to a provider, or if its own key does.
func (c *Config) signedIn(p Provider) error {
	signedIn, err := false, error(nil)
	if c.ports.Login != nil {
		signedIn, err = c.ports.Login()
	}
	var unusable interface{ NeedsUser() bool } // another login can help
	switch {
	case signedIn:
		return nil
	case err != nil && !errors.As(err, &unusable):
	case c.HasOwnKey(p):
		return nil
	case err == nil:
		return c.noLogin(p)
	}
	return protocol.Refuse(protocol.KindProviderNotReady, "model provider %s cannot be used: %v", p.ID, err)
}

func (c *Config) noLogin(p Provider) error {
	key := ""
	if p.EnvKey != "" && c.permitsKeys() {
		key = ", or set " + p.EnvKey + " in the server's environment"
	}
	return protocol.Refuse(protocol.KindProviderNotReady,
		"model provider %s needs a login: sign in with `appserver login` or account/login/start%s, or choose another provider with model_provider in %s (offline needs no key)",
		p.ID, key, c.file())
}
