package config

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// ollamaHost is the variable with which Ollama and its clients choose the address of the server.
const ollamaHost = "OLLAMA_HOST"

// applyOllamaHost sets the address of Ollama to that of OLLAMA_HOST. The user's base_url, which is decoded later, is
// stronger. Projects cannot set either.
func (c *Config) applyOllamaHost() {
	if address, ok := ollamaAddress(c.getenv(ollamaHost)); ok {
		p := c.ModelProviders[ProviderOllama]
		p.BaseURL = address
		c.ModelProviders[ProviderOllama] = p
	}
}

// OllamaHostIgnored reports whether OLLAMA_HOST has a value that is no address, and no base_url takes its place. Then
// Ollama is at its usual address.
func (c *Config) OllamaHostIgnored() bool {
	value := c.getenv(ollamaHost)
	_, ok := ollamaAddress(value)
	return !ok && strings.TrimSpace(value) != "" && c.root.find("model_providers", ProviderOllama, "base_url") == nil
}

// ollamaAddress returns the base URL for a value of OLLAMA_HOST. It follows envconfig.Host of Ollama: the port is
// 11434, or that of the scheme if there is one; a wrong port is the default one. An address that only servers use,
// 0.0.0.0 or ::, means this machine.
func ollamaAddress(value string) (string, bool) {
	if value = strings.TrimSpace(strings.Trim(strings.TrimSpace(value), `"'`)); value == "" {
		return "", false
	}
	port, scheme := "11434", "http"
	if before, after, found := strings.Cut(value, "://"); found {
		scheme, value = strings.ToLower(before), after
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	} else if value == "ollama.com" {
		scheme, port = "https", "443"
	}
	hostport, path, _ := strings.Cut(value, "/")
	host := strings.Trim(hostport, "[]")
	if h, p, err := net.SplitHostPort(hostport); err == nil {
		host = h
		if n, err := strconv.ParseUint(p, 10, 16); err == nil {
			port = strconv.FormatUint(n, 10)
		}
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.Is6() {
			host = "::1"
		}
	}
	if host == "" {
		host = "127.0.0.1"
	}
	u := &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: "/" + path}
	parsed, err := url.Parse(u.String())
	ok := port != "" && !strings.ContainsAny(hostport, "@?#%\\ ") && !strings.ContainsFunc(value, isControl) &&
		err == nil && parsed.Hostname() == host
	return strings.TrimRight(u.String(), "/") + "/v1", ok
}
