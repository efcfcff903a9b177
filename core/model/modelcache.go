package model

import (
	"context"
	"sync"
	"time"

	"appserver/core"
)

const (
	// listTimeout limits the time of a request for a provider's models.
	listTimeout = 3 * time.Second
	// listLifetime is the age at which a list is requested again. failureLifetime is that age after a
	// failure.
	listLifetime    = 5 * time.Minute
	failureLifetime = 20 * time.Second
)

// ModelCache caches the model lists of providers. The zero value has no providers. It is safe
// for concurrent use.
type ModelCache struct {
	mu       sync.Mutex
	listers  map[string]Lister
	lists    map[string]*modelList
	windows  map[string]map[string]int64 // learned ones, by provider and model
	ctx      context.Context
	stop     context.CancelFunc
	requests sync.WaitGroup
}

// modelList is the cached list of a provider.
type modelList struct {
	models []core.ListedModel
	// until is the time after which the list is requested again. busy is set during a request.
	// waiting holds the callbacks to call after it.
	until   time.Time
	busy    bool
	waiting []func([]core.ListedModel)
}

// SetListers sets the providers. Call it once, before other methods.
func (c *ModelCache) SetListers(listers map[string]Lister) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listers, c.lists = listers, map[string]*modelList{}
	c.ctx, c.stop = context.WithCancel(context.Background())
}

// List calls then with the models of a provider: immediately if the list is valid, or after a
// request. If the request fails or times out, then gets the former list. List does not wait.
func (c *ModelCache) List(provider string, then func([]core.ListedModel)) {
	c.mu.Lock()
	l := c.listLocked(provider)
	if l == nil || !l.busy && time.Now().Before(l.until) {
		var known []core.ListedModel
		if l != nil {
			known = l.models
		}
		c.mu.Unlock()
		then(known)
		return
	}
	l.waiting = append(l.waiting, then)
	c.requestLocked(provider, l)
	c.mu.Unlock()
}

// LearnWindow takes note of the context window of a model in tokens, which an error of the provider stated. It has
// precedence over that of the list, until the process ends.
func (c *ModelCache) LearnWindow(provider, model string, tokens int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.windows == nil {
		c.windows = map[string]map[string]int64{}
	}
	if c.windows[provider] == nil {
		c.windows[provider] = map[string]int64{}
	}
	if len(c.windows[provider]) < maxListed {
		c.windows[provider][model] = tokens
	}
}

// ContextWindow returns the context window of a model in tokens, or 0 if it is unknown.
func (c *ModelCache) ContextWindow(provider, model string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if learned := c.windows[provider][model]; learned > 0 {
		return learned
	}
	if l := c.listLocked(provider); l != nil {
		for _, m := range l.models {
			if m.ID == model {
				return m.Window
			}
		}
	}
	return 0
}

// Refresh requests an outdated list in the background, so that later calls find a valid one.
func (c *ModelCache) Refresh(provider string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.listLocked(provider); l != nil && time.Now().After(l.until) {
		c.requestLocked(provider, l)
	}
}

// Close cancels running requests and waits for their end.
func (c *ModelCache) Close() {
	c.mu.Lock()
	if c.stop != nil {
		c.stop()
	}
	c.listers = nil
	c.mu.Unlock()
	c.requests.Wait()
}

// listLocked returns the list of a provider, or nil if the provider cannot list models.
func (c *ModelCache) listLocked(provider string) *modelList {
	if c.listers[provider] == nil {
		return nil
	}
	if c.lists[provider] == nil {
		c.lists[provider] = &modelList{}
	}
	return c.lists[provider]
}

func (c *ModelCache) requestLocked(provider string, l *modelList) {
	if l.busy {
		return
	}
	l.busy = true
	lister := c.listers[provider]
	c.requests.Go(func() {
		ctx, cancel := context.WithTimeout(c.ctx, listTimeout)
		defer cancel()
		models, err := lister.Models(ctx)
		c.store(l, models, err)
	})
}

func (c *ModelCache) store(l *modelList, models []core.ListedModel, err error) {
	c.mu.Lock()
	l.busy, l.until = false, time.Now().Add(failureLifetime)
	if err == nil {
		l.models, l.until = models, time.Now().Add(listLifetime)
	}
	waiting := l.waiting
	l.waiting, models = nil, l.models
	c.mu.Unlock()
	for _, then := range waiting {
		then(models)
	}
}
