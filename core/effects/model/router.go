package model

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// Provider answers prompts; see the package's contract.
type Provider interface {
	Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error)
}

// Router is a Provider that passes each prompt on to the one that it names.
type Router struct {
	// Providers are the providers by name. They are not changed after the first
	// Stream.
	Providers map[string]Provider
	// Fallback renders the prompts of providers that are no Renderer.
	Fallback func(p *core.Prompt) (core.RenderedPrompt, error)
	// Window returns the context window of a model that has answered, or 0. It can be nil.
	Window func(provider, model string) int64
}

// Listers returns the providers that can be asked for their models.
func Listers(providers map[string]Provider) map[string]Lister {
	listers := map[string]Lister{}
	for name, p := range providers {
		if l, ok := p.(Lister); ok {
			listers[name] = l
		}
	}
	return listers
}

// Renderer shows requests as they are sent.
type Renderer interface {
	Render(p *core.Prompt) (core.RenderedPrompt, error)
}

// Render gives the messages and the tools of the request for p, in the form of its provider. Fallback
// shows the prompts of providers that have no form of their own.
func (r *Router) Render(p *core.Prompt) (core.RenderedPrompt, error) {
	if provider, ok := r.Providers[p.Provider].(Renderer); ok {
		return provider.Render(p)
	}
	return r.Fallback(p)
}

// Stream passes p on. It fails with a *core.ModelError where p names no provider
// of this router.
func (r *Router) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	if provider, ok := r.Providers[p.Provider]; ok {
		answer, err := provider.Stream(ctx, p, emit)
		if err == nil && r.Window != nil {
			answer.ContextWindow = r.Window(p.Provider, p.Model)
		}
		return answer, err
	}
	names := slices.Sorted(maps.Keys(r.Providers))
	return core.Answer{}, &core.ModelError{
		Message: fmt.Sprintf("model provider %q is not configured (there are: %s); add [model_providers.%s] to config.toml",
			p.Provider, strings.Join(names, ", "), p.Provider),
		Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
	}
}
