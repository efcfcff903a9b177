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
	// listWait is the longest time for which a turn waits for the list of a local provider.
	listWait = 500 * time.Millisecond
)

// ModelCache caches the model lists of providers. The zero value has no providers. It is safe
// for concurrent use.
type ModelCache struct {
	mu       sync.Mutex
	listers  map[string]Lister
	lists    map[string]*modelList
	searches map[string]*search // those that run, by provider
	windows  *Windows
	logins   func() uint64
	ctx      context.Context
	stop     context.CancelFunc
	requests sync.WaitGroup
}

// modelList is the cached list of a provider.
type modelList struct {
	models []core.ListedModel
	// until is the time after which the list is requested again, and login the state of the account of the latest
	// request. busy is set during a request. waiting holds the callbacks to call after it.
	until   time.Time
	login   uint64
	busy    bool
	waiting []func([]core.ListedModel)
	// listed is set after the first request, answered if the last one succeeded, found if the last search did.
	// settled has the models that have answered, and whose windows were requested again afterwards.
	listed, answered, found bool
	settled                 map[string]bool
}

// NewModelCache returns a cache of the lists of providers. The learned windows may be nil. Lists are requested again
// after logins, the number of logins and logouts so far, has changed.
func NewModelCache(listers map[string]Lister, learned *Windows, logins func() uint64) *ModelCache {
	c := &ModelCache{listers: listers, lists: map[string]*modelList{}, searches: map[string]*search{},
		windows: learned, logins: logins}
	c.ctx, c.stop = context.WithCancel(context.Background())
	return c
}

// Replace replaces the listers. A provider with another one gets a new list; a request under way ends unused.
func (c *ModelCache) Replace(listers map[string]Lister) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name := range c.lists {
		if listers[name] != c.listers[name] {
			delete(c.lists, name)
		}
	}
	c.listers = listers
}

// List calls then with the models of a provider: immediately if the list is valid, or after a
// request. If the request fails or times out, then gets the former list. List does not wait.
func (c *ModelCache) List(provider string, then func([]core.ListedModel)) {
	c.mu.Lock()
	l := c.listLocked(provider)
	if l == nil || !l.busy && c.isValidLocked(l) {
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

// Model returns a model by a name for requests, with the learned context window. Of a model that the provider does not
// list, it returns that window only.
func (c *ModelCache) Model(provider, name string) core.ListedModel {
	c.mu.Lock()
	defer c.mu.Unlock()
	var m core.ListedModel
	if l := c.listLocked(provider); l != nil {
		m = l.find(name)
	}
	if learned := c.windows.of(provider, name); learned > 0 && (m.Window == 0 || learned < m.Window) {
		m.Window = learned
	}
	return m
}

// find returns the model with a name, or the zero value.
func (l *modelList) find(name string) core.ListedModel {
	if i := core.FindModel(l.models, name); i >= 0 {
		return l.models[i]
	}
	return core.ListedModel{}
}

// Await waits for the first list of a local provider, a moment at most. Other providers answer too slowly for a turn
// to wait for them.
func (c *ModelCache) Await(provider string) {
	c.mu.Lock()
	l := c.listLocked(provider)
	if l == nil || l.listed || !isLocalLister(c.listers[provider]) {
		c.mu.Unlock()
		return
	}
	listed := c.awaitLocked(provider, l)
	c.mu.Unlock()
	waitFor(listed, listWait)
}

// Wait returns the models of a provider. It waits for the first list, a few seconds at most.
func (c *ModelCache) Wait(provider string) []core.ListedModel {
	c.mu.Lock()
	l := c.listLocked(provider)
	if l == nil {
		c.mu.Unlock()
		return nil
	}
	if !l.listed {
		listed := c.awaitLocked(provider, l)
		c.mu.Unlock()
		<-listed
		c.mu.Lock()
	}
	defer c.mu.Unlock()
	return l.models
}

// Answered returns a model that has answered. Local servers load a model with its first request, and only then know
// its window. So the list is requested again after the first answer, and awaited a moment.
func (c *ModelCache) Answered(provider, name string) core.ListedModel {
	c.mu.Lock()
	l := c.listLocked(provider)
	if l == nil {
		c.mu.Unlock()
		return core.ListedModel{}
	}
	m := l.find(name)
	var listed <-chan struct{}
	unknown := m.Loads && !m.Running || m.Window == 0 && isLocalLister(c.listers[provider])
	if unknown && !l.settled[name] && len(l.settled) < maxListed {
		if l.settled == nil {
			l.settled = map[string]bool{}
		}
		l.settled[name] = true
		listed = c.awaitLocked(provider, l)
	}
	c.mu.Unlock()
	if listed == nil {
		return m
	}
	waitFor(listed, listWait)
	return c.Model(provider, name)
}

// awaitLocked requests a list and returns a channel that is closed after it.
func (c *ModelCache) awaitLocked(provider string, l *modelList) <-chan struct{} {
	done := make(chan struct{})
	l.waiting = append(l.waiting, func([]core.ListedModel) { close(done) })
	c.requestLocked(provider, l)
	return done
}

func waitFor(done <-chan struct{}, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// isLocalLister reports whether a provider is on this machine or in its network.
func isLocalLister(l Lister) bool {
	local, ok := l.(interface{ IsLocal() bool })
	return ok && local.IsLocal()
}

// Refresh requests an outdated list in the background, so that later calls find a valid one.
func (c *ModelCache) Refresh(provider string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.listLocked(provider); l != nil && !c.isValidLocked(l) {
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

// isValidLocked reports whether a list need not be requested again.
func (c *ModelCache) isValidLocked(l *modelList) bool {
	return time.Now().Before(l.until) && l.login == c.logins()
}

func (c *ModelCache) requestLocked(provider string, l *modelList) {
	if l.busy {
		return
	}
	l.busy, l.login = true, c.logins()
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
	l.busy, l.listed, l.until = false, true, time.Now().Add(failureLifetime)
	l.answered = err == nil
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
