package model

import (
	"net/http"
	"sync/atomic"
)

// Identity names the client that requests are made for. The first client that is set stays. It
// is safe for concurrent use; a nil one names this program.
type Identity struct {
	client atomic.Pointer[identity]
}

type identity struct{ originator, userAgent string }

// Set stores the name of the client, unless there is one already. Both must be values of HTTP headers.
func (i *Identity) Set(originator, userAgent string) {
	i.client.CompareAndSwap(nil, &identity{originator, userAgent})
}

// Originator returns the name that was set, or "".
func (i *Identity) Originator() string {
	if client := i.client.Load(); client != nil {
		return client.originator
	}
	return ""
}

// Sign adds the name to headers, by their names.
func (i *Identity) Sign(headers map[string]string) {
	h := http.Header{}
	i.sign(h)
	for name := range h {
		headers[name] = h.Get(name)
	}
}

// sign adds the client's name to a request.
func (i *Identity) sign(h http.Header) {
	var client *identity
	if i != nil {
		client = i.client.Load()
	}
	if client == nil {
		h.Set("User-Agent", "appserver")
		return
	}
	h.Set("Originator", client.originator)
	h.Set("User-Agent", client.userAgent)
}
