package protocol

import (
	"encoding/json"
	"fmt"
)

// WebSearchItem is a search of the web by the model's provider.
type WebSearchItem struct {
	ID string `json:"id"`
	// Query is a short description of the search.
	Query string `json:"query"`
	// Action is null if the rollout lacks it.
	Action *WebSearchAction `json:"action"`
	// Results are null unless a tool of the reference implementation returned them.
	Results []json.RawMessage `json:"results"`
}

// ItemID returns the item's id.
func (i *WebSearchItem) ItemID() string { return i.ID }

// The types of WebSearchAction.
const (
	WebSearchQuery      = "search"
	WebSearchOpenPage   = "openPage"
	WebSearchFindInPage = "findInPage"
	WebSearchOther      = "other"
)

// WebSearchAction is one step of a search: search with query and queries, openPage with url,
// findInPage with url and pattern, or other.
type WebSearchAction struct {
	Type    string
	Query   *string
	Queries []string
	URL     *string
	Pattern *string
}

// MarshalJSON writes all members of the action's type, and no others.
func (a WebSearchAction) MarshalJSON() ([]byte, error) {
	switch a.Type {
	case WebSearchQuery:
		return marshal(struct {
			Type    string   `json:"type"`
			Query   *string  `json:"query"`
			Queries []string `json:"queries"`
		}{a.Type, a.Query, a.Queries})
	case WebSearchOpenPage:
		return marshal(struct {
			Type string  `json:"type"`
			URL  *string `json:"url"`
		}{a.Type, a.URL})
	case WebSearchFindInPage:
		return marshal(struct {
			Type    string  `json:"type"`
			URL     *string `json:"url"`
			Pattern *string `json:"pattern"`
		}{a.Type, a.URL, a.Pattern})
	}
	return marshal(struct {
		Type string `json:"type"`
	}{WebSearchOther})
}

// UnmarshalJSON reads an action of this protocol, of a rollout or of a provider. An unknown type is
// read as other.
func (a *WebSearchAction) UnmarshalJSON(b []byte) error {
	var v struct {
		Type    string   `json:"type"`
		Query   *string  `json:"query"`
		Queries []string `json:"queries"`
		URL     *string  `json:"url"`
		Pattern *string  `json:"pattern"`
	}
	if err := Unmarshal(b, &v); err != nil {
		return fmt.Errorf("web search action: %w", err)
	}
	switch kind := CamelCase(v.Type); kind {
	case WebSearchQuery:
		*a = WebSearchAction{Type: kind, Query: v.Query, Queries: v.Queries}
	case WebSearchOpenPage:
		*a = WebSearchAction{Type: kind, URL: v.URL}
	case WebSearchFindInPage:
		*a = WebSearchAction{Type: kind, URL: v.URL, Pattern: v.Pattern}
	default:
		*a = WebSearchAction{Type: WebSearchOther}
	}
	return nil
}
