package core

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"appserver/core/pure/toolspec"
	"appserver/protocol"
)

// searchedServers are the servers whose tools are found by a search. Their definitions are not in the list of tools of
// a request, which begins it. So a found definition is a message at its end, and changes no cached prefix.
type searchedServers struct {
	names map[string]bool
	// text names the servers with the number of their tools. It is "" if no tool is searched.
	text string
	// window is the context window that decided, or nil.
	window *int64
}

// has reports whether a tool is found by a search.
func (s *searchedServers) has(tool *ServerTool) bool {
	return s.names[tool.Server] && tool.Offer != toolspec.OfferDirect
}

// unknownWindow is the context window that counts if none is known, in tokens.
const unknownWindow = 128_000

// ToolSearch offers tools of servers by a search if their definitions take more than Percent of the context window. The
// zero value offers all tools directly.
type ToolSearch struct {
	On      bool
	Percent int
}

// servers decides which servers are searched: the ones with the largest definitions, until the others take no more than
// the share of the window. The count of tokens is a guess by bytes, so that it depends on no model.
func (r ToolSearch) servers(tools []ServerTool, window *int64) (s searchedServers) {
	s.window = window
	if !r.On {
		return s
	}
	s.names = map[string]bool{}
	sizes, total := map[string]int{}, 0
	for i := range tools {
		switch tool := &tools[i]; tool.Offer {
		case toolspec.OfferByShare:
			sizes[tool.Server] += tool.Size()
			total += tool.Size()
		case toolspec.OfferDirect:
			total += tool.Size()
		case toolspec.OfferBySearch:
			s.names[tool.Server] = true
		}
	}
	tokens := int64(unknownWindow)
	protocol.Override(&tokens, window)
	limit := int(tokens) * bytesPerToken / 100 * r.Percent
	for _, server := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), strings.Compare(a, b))
	}) {
		if total <= limit {
			break
		}
		s.names[server] = true
		total -= sizes[server]
	}
	s.text = s.describe(tools)
	return s
}

// hides reports whether a tool is not offered at all.
func (r ToolSearch) hides(tool *ServerTool) bool {
	return !r.On && tool.Offer == toolspec.OfferBySearch
}

// describe returns the names of the servers and the number of their tools.
func (s *searchedServers) describe(tools []ServerTool) string {
	counts := map[string]int{}
	for i := range tools {
		if s.has(&tools[i]) {
			counts[tools[i].Server]++
		}
	}
	var parts []string
	for _, server := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%s (%d)", server, counts[server]))
	}
	return strings.Join(parts, ", ")
}
