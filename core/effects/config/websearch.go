package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"appserver/core"
	"appserver/protocol"
)

// WebSearchTool is tools.web_search: options of the provider's web search. False, a former form, turns
// the search off unless web_search is set. True has no effect.
type WebSearchTool struct {
	// Off is set for false.
	Off bool
	// Options are members of the provider's tool, as a JSON object, or empty.
	Options string
}

// ownServers are the ports on which Ollama and LM Studio listen by default.
var ownServers = []string{ollamaPort, "1234"}

// searchesWeb reports whether a provider can search the web for models. Some servers do not refuse the tool but fail:
// Ollama then sends calls without names. Others refuse it, which is learned.
func (p Provider) searchesWeb(listed core.ListedModel) bool {
	if p.WebSearch != nil {
		return *p.WebSearch
	}
	u, err := url.Parse(p.BaseURL)
	return err == nil && !slices.Contains(LocalServers(), p.ID) && !listed.NoProviderTools &&
		!slices.Contains(ownServers, u.Port())
}

// webSearch returns the search of the web that a provider offers to a model.
func (c *Config) webSearch(provider string, listed core.ListedModel) core.WebSearch {
	if !c.ModelProviders[provider].searchesWeb(listed) {
		return core.WebSearch{}
	}
	return core.WebSearch{Mode: or(c.WebSearch, core.WebSearchCached), Options: c.Tools.WebSearch.Options}
}

// location is the user's approximate location.
type location struct {
	Type     string `json:"type"`
	Country  string `json:"country,omitempty"`
	Region   string `json:"region,omitempty"`
	City     string `json:"city,omitempty"`
	Timezone string `json:"timezone,omitempty"`
}

// contextSizes are the sizes of search results in the context.
var contextSizes = []string{"low", "medium", "high"}

// UnmarshalJSON reads the table, or a boolean.
func (w *WebSearchTool) UnmarshalJSON(b []byte) error {
	var on bool
	if protocol.Unmarshal(b, &on) == nil {
		w.Off = !on
		return nil
	}
	if err := onlyMembers(b, "context_size", "allowed_domains", "location"); err != nil {
		return err
	}
	var table struct {
		Size     string    `json:"context_size"`
		Domains  *[]string `json:"allowed_domains"`
		Location *location `json:"location"`
	}
	if err := protocol.Unmarshal(b, &table); err != nil {
		return err
	}
	options := map[string]any{}
	if table.Size != "" {
		if !slices.Contains(contextSizes, table.Size) {
			return fmt.Errorf("context_size: %w", &protocol.UnknownVariantError{Value: table.Size, Expected: contextSizes})
		}
		options["search_context_size"] = table.Size
	}
	if table.Domains != nil {
		options["filters"] = map[string]any{"allowed_domains": *table.Domains}
	}
	if at := table.Location; at != nil {
		at.Type = "approximate"
		options["user_location"] = at
	}
	if len(options) == 0 {
		return nil
	}
	raw, err := protocol.Marshal(options)
	w.Options = string(raw)
	return err
}

// onlyMembers returns an error for a table with other members. Members of a restriction must not be lost.
func onlyMembers(b []byte, known ...string) error {
	var members map[string]any
	if err := protocol.Unmarshal(b, &members); err != nil {
		return err
	}
	for _, name := range sortedKeys(members) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown key %s, expected one of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}
