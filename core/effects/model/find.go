package model

import (
	"context"
	"time"

	"appserver/core"
)

// findTime limits the time in which a server on this machine lists its models, when a client searches for servers.
const findTime = time.Second

// Finder finds out whether a model server listens at the address of a provider.
type Finder interface {
	// Find returns the models of the server. It fails, soon, if nothing answers, or something else than a model server.
	Find(ctx context.Context) ([]core.ListedModel, error)
}

// Find returns the models of the endpoint. It fails within a second unless the endpoint has the list of a model
// server.
func (c *Client) Find(ctx context.Context) ([]core.ListedModel, error) {
	if c.urlErr != nil {
		return nil, c.urlErr
	}
	listing, cancel := context.WithTimeout(ctx, findTime)
	defer cancel()
	list, err := c.readList(listing, askOptions{})
	if err == nil && !list.exact {
		err = noListError{}
	}
	if err != nil {
		return nil, err
	}
	detailing, stop := context.WithTimeout(ctx, detailTime)
	defer stop()
	c.describe(detailing, list.models)
	return list.models, nil
}

// search is a running search for the server of a provider. The other fields are set when done is closed.
type search struct {
	done   chan struct{}
	models []core.ListedModel
	err    error
}

// Find asks providers for their models, all at once and also if they failed a moment ago. Then it calls then with the
// models of those that answered. It does not wait. A running search serves all who ask meanwhile.
func (c *ModelCache) Find(providers []string, then func(found map[string][]core.ListedModel)) {
	c.mu.Lock()
	searches := map[string]*search{}
	for _, provider := range providers {
		if s := c.searchLocked(provider); s != nil {
			searches[provider] = s
		}
	}
	if len(searches) == 0 {
		c.mu.Unlock()
		then(nil)
		return
	}
	c.requests.Go(func() {
		found := map[string][]core.ListedModel{}
		for provider, s := range searches {
			if <-s.done; s.err == nil {
				found[provider] = s.models
			}
		}
		then(found)
	})
	c.mu.Unlock()
}

// searchLocked returns the running search for the server of a provider, or starts one. It returns nil if the provider
// cannot be searched for.
func (c *ModelCache) searchLocked(provider string) *search {
	finder, ok := c.listers[provider].(Finder)
	if !ok || c.searches[provider] != nil {
		return c.searches[provider]
	}
	s, l := &search{done: make(chan struct{})}, c.listLocked(provider)
	c.searches[provider] = s
	c.requests.Go(func() {
		s.models, s.err = finder.Find(c.ctx)
		if s.err == nil {
			c.store(l, s.models, nil)
		}
		c.mu.Lock()
		l.listed, l.answered, l.found = true, s.err == nil, s.err == nil
		delete(c.searches, provider)
		c.mu.Unlock()
		close(s.done)
	})
	return s
}

// Store keeps the models that a provider has listed, for later lists.
func (c *ModelCache) Store(provider string, models []core.ListedModel) {
	c.mu.Lock()
	l := c.listLocked(provider)
	c.mu.Unlock()
	if l != nil {
		c.store(l, models, nil)
	}
}

// Found returns the models of the servers that the last search found.
func (c *ModelCache) Found(providers []string) map[string][]core.ListedModel {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string][]core.ListedModel{}
	for _, provider := range providers {
		if l := c.lists[provider]; l != nil && l.found {
			found[provider] = l.models
		}
	}
	return found
}

// Answers reports whether a provider answered the last request for its models, or returns nil if none was sent.
func (c *ModelCache) Answers(provider string) *bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.lists[provider]; l != nil && l.listed {
		return new(l.answered)
	}
	return nil
}
