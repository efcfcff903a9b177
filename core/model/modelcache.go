package model

import (
	"context"
	"sync"
	"time"

	"appserver/core"
)

const (
	// listTime bounds how long a provider is asked for its models.
	listTimeout = 3 * time.Second
	// fresh is how long a list is believed, and stale how long a failure is.
	listLifetime    = 5 * time.Minute
	failureLifetime = 20 * time.Second
)

// Shelf keeps the models that providers list. The zero Shelf knows none, and asks nobody.
// It is safe for concurrent use.
type ModelCache struct {
	mu       sync.Mutex
	listers  map[string]Lister
	lists    map[string]*modelList
	ctx      context.Context
	stop     context.CancelFunc
	requests sync.WaitGroup
}

// list is what is known of a provider.
type modelList struct {
	models []core.ListedModel
	// until is when it is to be asked again; busy is set while it is being asked, and
	// waiting are told its end.
	until   time.Time
	busy    bool
	waiting []func([]core.ListedModel)
}

// Stock says whom to ask. It is called once, before anything is asked.
func (c *ModelCache) SetListers(listers map[string]Lister) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listers, c.lists = listers, map[string]*modelList{}
	c.ctx, c.stop = context.WithCancel(context.Background())
}

// Ask gives then the models of a provider: at once where they are known, else when it has
// told them, has failed to, or took too long, which are then those that were known before.
// It does not wait itself.
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

// Window is the context window that a provider has told of a model, 0 where it has not.
func (c *ModelCache) ContextWindow(provider, model string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.listLocked(provider); l != nil {
		for _, m := range l.models {
			if m.ID == model {
				return m.Window
			}
		}
	}
	return 0
}

// Learn asks a provider that was not asked of late, for whoever wants to know later.
func (c *ModelCache) Refresh(provider string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.listLocked(provider); l != nil && time.Now().After(l.until) {
		c.requestLocked(provider, l)
	}
}

// Close gives up what is being asked, and waits for its end.
func (c *ModelCache) Close() {
	c.mu.Lock()
	if c.stop != nil {
		c.stop()
	}
	c.listers = nil
	c.mu.Unlock()
	c.requests.Wait()
}

// listLocked is nil for a provider that cannot be asked.
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
