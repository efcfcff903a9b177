package config

import (
	"net/url"
	"slices"
	"strings"
)

// LocalServers returns the built-in providers of programs that serve models on the user's machine.
func LocalServers() []string {
	return []string{ProviderOllama, ProviderLMStudio, ProviderLlamaCpp, ProviderVLLM}
}

// OnThisMachine reports whether the address of the provider is on this machine. The models of such a provider have the
// names that the user gave them.
func (p Provider) OnThisMachine() bool {
	u, err := url.Parse(p.BaseURL)
	return err == nil && isLoopback(strings.ToLower(u.Hostname()))
}

// servesOwnModels reports whether the names of a provider's models are those of its user: it is on this machine, or is
// one of the programs that users run.
func (c *Config) servesOwnModels(provider string) bool {
	return slices.Contains(LocalServers(), provider) || c.ModelProviders[provider].OnThisMachine()
}
