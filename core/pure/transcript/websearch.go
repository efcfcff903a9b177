package transcript

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/protocol"
)

// storedSearch is a search in the rollout's form. Absent members of the action are left out.
type storedSearch struct {
	Type   string        `json:"type"`
	ID     string        `json:"id"`
	Query  string        `json:"query"`
	Action *storedLookup `json:"action,omitempty"`
}

type storedLookup struct {
	Type    string   `json:"type"`
	Query   *string  `json:"query,omitempty"`
	Queries []string `json:"queries,omitempty"`
	URL     *string  `json:"url,omitempty"`
	Pattern *string  `json:"pattern,omitempty"`
}

func encodeSearch(v *protocol.WebSearchItem) storedSearch {
	s := storedSearch{Type: webSearchType, ID: v.ID, Query: v.Query}
	if a := v.Action; a != nil {
		s.Action = &storedLookup{protocol.SnakeCase(a.Type), a.Query, a.Queries, a.URL, a.Pattern}
	}
	return s
}

// decodeSearch returns a search of the provider, or of an extension of the reference implementation.
func decodeSearch(id string, in gjson.Result) protocol.ThreadItemVariant {
	item := &protocol.WebSearchItem{ID: id, Query: in.Get("query").Str, Action: DecodeSearchAction(in.Get("action"))}
	if results := in.Get("results"); results.IsArray() {
		item.Results = []json.RawMessage{}
		for _, r := range results.Array() {
			item.Results = append(item.Results, json.RawMessage(r.Raw))
		}
	}
	return item
}

// DecodeSearchAction returns the action of a search, or nil.
func DecodeSearchAction(in gjson.Result) *protocol.WebSearchAction {
	if !in.IsObject() {
		return nil
	}
	a := &protocol.WebSearchAction{}
	if a.UnmarshalJSON([]byte(in.Raw)) != nil {
		return &protocol.WebSearchAction{Type: protocol.WebSearchOther}
	}
	return a
}
