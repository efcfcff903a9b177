package model

import "sync"

// Windows has the context windows that errors of providers have stated. A larger one of a list has no effect then,
// until the process ends. The zero value has none. It is safe for concurrent use.
type Windows struct {
	mu      sync.Mutex
	learned map[string]map[string]int64 // by provider and model
}

// Learn takes note of the context window of a model in tokens.
func (w *Windows) Learn(provider, model string, tokens int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.learned == nil {
		w.learned = map[string]map[string]int64{}
	}
	if w.learned[provider] == nil {
		w.learned[provider] = map[string]int64{}
	}
	if len(w.learned[provider]) < maxListed {
		w.learned[provider][model] = tokens
	}
}

// Forget removes the windows of a provider.
func (w *Windows) Forget(provider string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.learned, provider)
}

// of returns the learned window of a model, or 0.
func (w *Windows) of(provider, model string) int64 {
	if w == nil {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.learned[provider][model]
}
