package core

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"appserver/core/pure/history"
	"appserver/core/pure/transcript"
	"appserver/protocol"
)

// beginItem shows the beginning of an item of the provider's own.
func (s *step) beginItem(m *modelRequest, item protocol.ResponseItemVariant) {
	call, ok := item.(*protocol.Unknown)
	if !ok || call.Tag != history.WebSearchCall || call.ItemID() == "" {
		return
	}
	s.completeReasoning(m, nil)
	s.beginSearch(m, call.ItemID(), call)
}

func (s *step) beginSearch(m *modelRequest, id string, call *protocol.Unknown) openSearch {
	o := openSearch{id, s.Now}
	m.searches = append(m.searches, o)
	s.notifyStarted(s.newItem(shownSearch(id, call), o.startedAt))
	return o
}

// keepSearch keeps a search of the provider's for its next request, and shows it.
func (s *step) keepSearch(m *modelRequest, call *protocol.Unknown) {
	id := call.ItemID()
	if id == "" {
		id = "ws_" + s.NewID()
		call = withID(call, id)
	}
	s.completeReasoning(m, nil)
	o, begun := m.takeSearch(id)
	if !begun {
		o = s.beginSearch(m, id, call)
		m.takeSearch(id)
	}
	s.item(call)
	s.completeItem(s.newItem(shownSearch(id, call), o.startedAt), nil)
}

// withID returns an item with an id, which every provider takes back.
func withID(call *protocol.Unknown, id string) *protocol.Unknown {
	var members map[string]json.RawMessage
	if protocol.Unmarshal(call.Raw, &members) != nil {
		return call
	}
	members["id"], _ = protocol.Marshal(id) // a string
	raw, err := protocol.Marshal(members)
	if err != nil {
		return call
	}
	return &protocol.Unknown{Tag: call.Tag, Raw: raw}
}

// shownSearch returns a search as clients see it. One without an action is of the type other.
func shownSearch(id string, call *protocol.Unknown) *protocol.WebSearchItem {
	action := transcript.DecodeSearchAction(gjson.GetBytes(call.Raw, "action"))
	if action == nil {
		action = &protocol.WebSearchAction{Type: protocol.WebSearchOther}
	}
	return &protocol.WebSearchItem{ID: id, Query: searchQuery(action), Action: action}
}

// searchQuery returns an action in a few words, as the reference implementation has them.
func searchQuery(a *protocol.WebSearchAction) string {
	switch text := deref(a.Query); {
	case text == "" && len(a.Queries) > 1 && a.Queries[0] != "":
		return a.Queries[0] + " ..."
	case text == "" && len(a.Queries) > 0:
		return a.Queries[0]
	case text != "":
		return text
	}
	switch url, pattern := deref(a.URL), deref(a.Pattern); {
	case pattern == "":
		return url
	case url == "":
		return "'" + pattern + "'"
	default:
		return "'" + pattern + "' in " + url
	}
}

func deref(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
