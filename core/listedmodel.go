package core

import (
	"slices"
	"strings"
)

// ListedModel describes a model in the list of a provider.
type ListedModel struct {
	// ID names the model in requests. Name and Description are for people, and may be "".
	ID, Name, Description string
	// Aliases are further names of the model in requests.
	Aliases []string
	// AnyName is set if the provider answers requests for any name with this model.
	AnyName bool
	// Window is the context window in tokens, or 0 if unknown.
	Window int64
	// Running is set if the model runs with Window. Otherwise it may run with a smaller one.
	Running bool
	// Loads is set if the provider loads the model with its first request, and knows the window only then.
	Loads bool
	// Modalities are the kinds of input (text, image, audio) that the model accepts, or nil if unknown.
	Modalities []string
	// NoTools is set if the model is known to call no tools, NoThinking if it is known not to reason.
	NoTools, NoThinking bool
	// Tools is set if the model is known to call tools, Thinking if it is known to reason.
	Tools, Thinking bool
	// NoProviderTools is set if the provider runs no tools itself, such as a search of the web.
	NoProviderTools bool
	// Created is the time of its release in Unix seconds, or 0 if unknown.
	Created int64
	// Wordless is set for models whose output is not text.
	Wordless bool
	// Prices are those that the provider reports, or nil.
	Prices *ModelPrices
}

// ModelPrices are prices for a million tokens in US dollars. An unknown price is nil.
type ModelPrices struct{ Input, CachedInput, Output *float64 }

// defaultTag is the tag that Ollama adds to names without one.
const defaultTag = ":latest"

// Named reports whether a name in a request means the model.
func (m *ListedModel) Named(name string) bool {
	name = strings.TrimSuffix(name, defaultTag)
	return strings.TrimSuffix(m.ID, defaultTag) == name || slices.ContainsFunc(m.Aliases, func(alias string) bool {
		return strings.TrimSuffix(alias, defaultTag) == name
	})
}

// FindModel returns the index of the model that a provider uses for a name, or -1. The exact id has precedence.
func FindModel(models []ListedModel, name string) int {
	for _, matches := range []func(m ListedModel) bool{
		func(m ListedModel) bool { return m.ID == name },
		func(m ListedModel) bool { return m.Named(name) },
		func(m ListedModel) bool { return m.AnyName },
	} {
		if i := slices.IndexFunc(models, matches); i >= 0 {
			return i
		}
	}
	return -1
}
