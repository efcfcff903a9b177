package rollout

import (
	"errors"

	"appserver/rollout/listing"
)

// ErrNoIndex reports that search is not available.
var ErrNoIndex = errors.New("threads cannot be searched: the index is disabled or not available")

// SortRelevance sorts by relevance, the best match first.
const SortRelevance listing.SortKey = "relevance"

// Hit is a thread that matches a search.
type Hit struct {
	listing.Head
	// Snippet is a line with a match.
	Snippet string
}

// Hits is a page of search results.
type Hits struct {
	Hits []Hit
	// NextCursor and BackCursor are used as those of Page.
	NextCursor, BackCursor string
	// Complete is false if some rollouts are not indexed yet.
	Complete bool
}
