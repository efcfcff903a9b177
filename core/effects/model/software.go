package model

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// software is a program that serves models. It is learned from what an endpoint answers, never from its address.
type software int32

const (
	unknownSoftware software = iota
	// llamaCpp is llama-server of llama.cpp.
	llamaCpp
	ollama
	lmStudio
)

// The owners by which servers mark the models in their lists.
const (
	ownerLlamaCpp = "llamacpp"
	ownerOllama   = "library"
	ownerLMStudio = "organization_owner"
)

// String returns the name of the program, or "".
func (s software) String() string {
	switch s {
	case llamaCpp:
		return "llama.cpp"
	case ollama:
		return "Ollama"
	case lmStudio:
		return "LM Studio"
	}
	return ""
}

// serverLlamaCpp is the header Server of llama-server.
const serverLlamaCpp = "llama.cpp"

// software returns the program that lists a model so.
func (m *listed) software() software {
	switch {
	case m.OwnedBy.value == ownerLlamaCpp, m.Meta.value != metadata{}:
		return llamaCpp
	case m.OwnedBy.value == ownerOllama:
		return ollama
	case m.OwnedBy.value == ownerLMStudio:
		return lmStudio
	}
	return unknownSoftware
}

// recognise records the program of the endpoint, if s names one.
func (c *Client) recognise(s software) {
	if s != unknownSoftware {
		c.made.Store(int32(s))
	}
}

// recogniseHeader records the program that the header of a response names.
func (c *Client) recogniseHeader(h http.Header) {
	if strings.HasPrefix(h.Get("Server"), serverLlamaCpp) {
		c.recognise(llamaCpp)
	}
}

func (c *Client) software() software { return software(c.made.Load()) }

// besideURL returns the place of a path beside the version in the address of the endpoint: /props for /v1.
func (c *Client) besideURL(path ...string) (*url.URL, error) {
	u, err := requestURL(c.endpoint)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1") + "/"
	return u.JoinPath(path...), nil
}

// IsLocal reports whether the endpoint is on this machine or in its network.
func (c *Client) IsLocal() bool { return c.urlErr == nil && isLocal(c.url.Hostname()) }

// localSuffixes end the names of hosts that no public name server knows.
var localSuffixes = []string{".localhost", ".local", ".internal", ".lan", ".home.arpa"}

func isLocal(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if address, err := netip.ParseAddr(host); err == nil {
		ip := net.IP(address.Unmap().AsSlice())
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	for _, suffix := range localSuffixes {
		if strings.HasSuffix(host, suffix) {
			return true
		}
	}
	return host != "" && !strings.Contains(host, ".")
}
