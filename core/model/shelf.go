package model

import (
	"context"
	"sync"
	"time"

	"appserver/core"
)

const (
	// listTime bounds how long a provider is asked for its models.
	listTime = 3 * time.Second
	// fresh is how long a list is believed, and stale how long a failure is.
	fresh = 5 * time.Minute
	stale = 20 * time.Second
)

// Shelf keeps the models that providers list. The zero Shelf knows none, and asks nobody.
// It is safe for concurrent use.
type Shelf struct {
	mu      sync.Mutex
	listers map[string]Lister
	lists   map[string]*list
	ctx     context.Context
	stop    context.CancelFunc
	asking  sync.WaitGroup
}

// list is what is known of a provider.
type list struct {
	models []core.ListedModel
	// until is when it is to be asked again; busy is set while it is being asked, and
	// waiting are told its end.
	until   time.Time
	busy    bool
	waiting []func([]core.ListedModel)
}

// Stock says whom to ask. It is called once, before anything is asked.
func (s *Shelf) Stock(listers map[string]Lister) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listers, s.lists = listers, map[string]*list{}
	s.ctx, s.stop = context.WithCancel(context.Background())
}

// Ask gives then the models of a provider: at once where they are known, else when it has
// told them, has failed to, or took too long, which are then those that were known before.
// It does not wait itself.
func (s *Shelf) Ask(provider string, then func([]core.ListedModel)) {
	s.mu.Lock()
	l := s.listLocked(provider)
	if l == nil || !l.busy && time.Now().Before(l.until) {
		var known []core.ListedModel
		if l != nil {
			known = l.models
		}
		s.mu.Unlock()
		then(known)
		return
	}
	l.waiting = append(l.waiting, then)
	s.askLocked(provider, l)
	s.mu.Unlock()
}

// Window is the context window that a provider has told of a model, 0 where it has not.
func (s *Shelf) Window(provider, model string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.listLocked(provider); l != nil {
		for _, m := range l.models {
			if m.ID == model {
				return m.Window
			}
		}
	}
	return 0
}

// Learn asks a provider that was not asked of late, for whoever wants to know later.
func (s *Shelf) Learn(provider string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.listLocked(provider); l != nil && time.Now().After(l.until) {
		s.askLocked(provider, l)
	}
}

// Close gives up what is being asked, and waits for its end.
func (s *Shelf) Close() {
	s.mu.Lock()
	if s.stop != nil {
		s.stop()
	}
	s.listers = nil
	s.mu.Unlock()
	s.asking.Wait()
}

// listLocked is nil for a provider that cannot be asked.
func (s *Shelf) listLocked(provider string) *list {
	if s.listers[provider] == nil {
		return nil
	}
	if s.lists[provider] == nil {
		s.lists[provider] = &list{}
	}
	return s.lists[provider]
}

func (s *Shelf) askLocked(provider string, l *list) {
	if l.busy {
		return
	}
	l.busy = true
	lister := s.listers[provider]
	s.asking.Go(func() {
		ctx, cancel := context.WithTimeout(s.ctx, listTime)
		defer cancel()
		models, err := lister.Models(ctx)
		s.put(l, models, err)
	})
}

func (s *Shelf) put(l *list, models []core.ListedModel, err error) {
	s.mu.Lock()
	l.busy, l.until = false, time.Now().Add(stale)
	if err == nil {
		l.models, l.until = models, time.Now().Add(fresh)
	}
	waiting := l.waiting
	l.waiting, models = nil, l.models
	s.mu.Unlock()
	for _, then := range waiting {
		then(models)
	}
}
