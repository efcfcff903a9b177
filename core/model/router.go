package model

import (
	"context"
	"encoding/json"
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
}

// Listers are the providers that can be asked for their models.
func (r *Router) Listers() map[string]Lister {
	listers := map[string]Lister{}
	for name, p := range r.Providers {
		if l, ok := p.(Lister); ok {
			listers[name] = l
		}
	}
	return listers
}

// Render gives the messages and the tools of the request that p makes, whatever its
// provider.
func (r *Router) Render(p *core.Prompt) (messages, tools []json.RawMessage, err error) {
	for _, m := range ChatMessages(p) {
		raw, err := protocol.Marshal(m)
		if err != nil {
			return nil, nil, fmt.Errorf("writing the messages of the request: %w", err)
		}
		messages = append(messages, raw)
	}
	for _, t := range request(p).Tools {
		raw, err := protocol.Marshal(t)
		if err != nil {
			return nil, nil, fmt.Errorf("writing the tools of the request: %w", err)
		}
		tools = append(tools, raw)
	}
	return messages, tools, nil
}

// Stream passes p on. It fails with a *core.ModelError where p names no provider
// of this router.
func (r *Router) Stream(ctx context.Context, p *core.Prompt, emit func(core.Piece)) (core.Answer, error) {
	if provider, ok := r.Providers[p.Provider]; ok {
		return provider.Stream(ctx, p, emit)
	}
	names := slices.Sorted(maps.Keys(r.Providers))
	return core.Answer{}, &core.ModelError{
		Message: fmt.Sprintf("model provider %q is not configured (there are: %s); add [model_providers.%s] to config.toml",
			p.Provider, strings.Join(names, ", "), p.Provider),
		Info: protocol.CodexErrorInfo{Kind: protocol.ErrorOther},
	}
}
