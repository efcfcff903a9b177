package config

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"appserver/protocol"
)

// Ratio is a number from 0 to 1.
type Ratio float64

// UnmarshalJSON reads a number from 0 to 1.
func (r *Ratio) UnmarshalJSON(b []byte) error {
	var n float64
	if err := protocol.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("expected a number from 0 to 1")
	}
	if !(n >= 0 && n <= 1) {
		return fmt.Errorf("expected a number from 0 to 1, got %v", n)
	}
	*r = Ratio(n)
	return nil
}

// promptCache describes the prompt cache of a provider. ratio is the price of a cached input token over that
// of another one. retention is how long an unused prefix stays at most, as the provider names it.
type promptCache struct {
	ratio     float64
	retention time.Duration
}

// promptCaches are the caches of providers by the hosts of their addresses. A host that begins with a dot
// includes the hosts below it. docs/providers.md has the sources.
var promptCaches = []struct {
	host string
	promptCache
}{
	{"api.openai.com", promptCache{0.1, 30 * time.Minute}},
	{".openai.azure.com", promptCache{0.1, 30 * time.Minute}},
	{".services.ai.azure.com", promptCache{0.1, 30 * time.Minute}},
	{"api.anthropic.com", promptCache{0.1, 5 * time.Minute}},
	{"api.deepseek.com", promptCache{0.03, 24 * time.Hour}},
	{"generativelanguage.googleapis.com", promptCache{0.1, time.Hour}},
	{"aiplatform.googleapis.com", promptCache{0.1, time.Hour}},
	{".aiplatform.googleapis.com", promptCache{0.1, time.Hour}},
	{"-aiplatform.googleapis.com", promptCache{0.1, time.Hour}},
	{"api.moonshot.ai", promptCache{0.1, 5 * time.Minute}},
	{"api.moonshot.cn", promptCache{0.1, 5 * time.Minute}},
}

const ollamaPort = "11434"

var (
	// unknownCache is for providers that are not in the list. Most large providers charge a tenth.
	unknownCache = promptCache{0.1, 10 * time.Minute}
	// localCache is for servers on this machine. They keep prefixes until their memory is needed. A cached
	// token still costs time in attention, so it is not free.
	localCache = promptCache{0.1, time.Hour}
	// ollamaCache is for the default port of Ollama. It lasts as long as Ollama keeps an unused model in memory.
	ollamaCache = promptCache{0.1, 5 * time.Minute}
)

// defaultPromptCache returns the cache of an address that has no settings.
func defaultPromptCache(address string) promptCache {
	u, err := url.Parse(address)
	if err != nil {
		return unknownCache
	}
	host := strings.ToLower(u.Hostname())
	for _, known := range promptCaches {
		if host == known.host || strings.ContainsAny(known.host[:1], ".-") && strings.HasSuffix(host, known.host) {
			return known.promptCache
		}
	}
	switch {
	case !isLoopback(host):
		return unknownCache
	case u.Port() == ollamaPort:
		return ollamaCache
	}
	return localCache
}

func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
