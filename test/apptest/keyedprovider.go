package apptest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// KeyedProvider is a provider with Chat Completions and a list of models that accepts some keys. It repeats the keys
// that it rejects in its errors, as careless providers do.
type KeyedProvider struct {
	*httptest.Server
	mu       sync.Mutex
	accepted []string
	headers  []http.Header
}

// StartKeyedProvider starts a provider that accepts these keys.
func StartKeyedProvider(t *testing.T, keys ...string) *KeyedProvider {
	p := &KeyedProvider{accepted: keys}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// keyOf returns the key of a request.
func keyOf(h http.Header) string {
	key := strings.TrimPrefix(h.Get("Authorization"), "Bearer ")
	if key == "" {
		key = h.Get("Api-Key")
	}
	return key
}

func (p *KeyedProvider) serve(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	key := keyOf(r.Header)
	p.mu.Lock()
	ok := slices.Contains(p.accepted, key)
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		p.headers = append(p.headers, r.Header.Clone())
	}
	p.mu.Unlock()
	switch {
	case !ok:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s"}}`, key)
	case r.Method == http.MethodGet:
		fmt.Fprint(w, `{"object":"list","data":[{"id":"keyed-model","object":"model","context_length":50000}]}`)
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		TextAnswer("fine")(w)
	}
}

// Keys returns the keys of the requests for answers so far, "" for one without.
func (p *KeyedProvider) Keys() (keys []string) {
	for _, h := range p.Headers() {
		keys = append(keys, keyOf(h))
	}
	return keys
}

// Headers returns the headers of the requests for answers so far.
func (p *KeyedProvider) Headers() []http.Header {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.headers)
}

// Table returns the table of the configuration for the provider, with more lines.
func (p *KeyedProvider) Table(name string, lines ...string) string {
	return fmt.Sprintf("\n[model_providers.%s]\nbase_url = %q\nwire_api = \"chat\"\nrequest_max_retries = 0\nstream_max_retries = 0\n%s\n",
		name, p.URL+"/v1", strings.Join(lines, "\n"))
}
