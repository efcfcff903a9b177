package toolspec

import "appserver/protocol"

// WebSearchCached is the mode of a search in an index of the provider.
const WebSearchCached = "cached"

// The other modes search the index and the pages that it knows, or the web.
const (
	webSearchIndexed = "indexed"
	webSearchLive    = "live"
)

// WebSearch configures the provider's search of the web. The zero value is off.
type WebSearch struct {
	// Mode is "cached", "indexed" or "live". Any other mode is off.
	Mode string
	// Options has more members of the provider's tool, as a JSON object, or "".
	Options string
}

// WebSearchTool is the search as a request offers it. External is set if it may read pages of the
// web. Indexed is set if it may read only pages of its index.
type WebSearchTool struct {
	External, Indexed bool
	Options           string
}

// Tool returns the search to offer, or nil. A cached search is live if the commands of the thread
// can reach the network anyway.
func (w WebSearch) Tool(sandbox protocol.SandboxPolicy) *WebSearchTool {
	_, network := sandbox.SandboxPolicyVariant.(*protocol.DangerFullAccess)
	switch w.Mode {
	case WebSearchCached:
		return &WebSearchTool{External: network, Options: w.Options}
	case webSearchIndexed:
		return &WebSearchTool{External: true, Indexed: true, Options: w.Options}
	case webSearchLive:
		return &WebSearchTool{External: true, Options: w.Options}
	}
	return nil
}
